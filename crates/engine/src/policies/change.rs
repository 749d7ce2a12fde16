//! Policies set and dropped.

use super::adopt::LOOK_MAX;
use super::provide::PolicyChange;
use crate::Engine;
use crate::plan::Interrupt;
use crate::storage::{Document, View};
use crate::transaction::Transaction;
use crate::writes::Writes;
use bson::{DateTime, RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use command::common::WriteConcern;
use error::{Code, Error, Result};
use guard::adopt::Adopted;
use guard::policy::{Overflow, legacy, salvage};
use guard::{Policy, Table, policies_of};
use language::Needs;
use std::sync::Arc;
use value::element::get_value;
use value::{DocumentWriter, Number};
use write::Transaction as _;

impl Engine {
    /// Sets the policy of a collection and looks, for a while, at the documents that are older
    /// than it: which version of the policy this is, and what was found.
    pub async fn introduce(
        self: &Arc<Self>,
        namespace: &Namespace,
        document: &RawDocument,
        writes: &Writes,
        concern: Option<&WriteConcern<'_>>,
        interrupt: &Interrupt,
    ) -> Result<(i32, Adopted)> {
        let version = self.set_policy(namespace, document).await?;
        let adopted = self.adopt(namespace, writes, Some(LOOK_MAX), interrupt).await?;
        writes.acknowledge(concern).await?;
        Ok((version, adopted))
    }

    /// Sets the policy of a collection, and gives back which version of it this
    /// is. Writers see the old policy or the new one, nothing in between.
    pub async fn set_policy(
        self: &Arc<Self>,
        namespace: &Namespace,
        document: &RawDocument,
    ) -> Result<i32> {
        let policy = Policy::parse(namespace, document)?;
        self.check_policy(&policy)?;
        let PolicyChange { mut definition, old } =
            self.hold_provided(namespace, Some(&policy)).await?;
        let home = policies_of(&namespace.database);
        definition.ensure(&home)?;
        let mut transaction = definition.transaction(&home);
        let policy = policy.with_counted(self.is_counted(old.as_ref(), &policy)?);
        let counted = policy.is_counted();
        let version = store(&mut transaction, &home, namespace, document, counted).await?;
        let gone = definition.withdraw(old.as_ref(), Some(&policy))?;
        definition.policies = Some(self.policies.current().with(policy));
        definition.commit_with(transaction).await?;
        gone.iter().for_each(|namespace| self.cursors.kill_namespace(namespace));
        if let Some(collection) = self.registry.get(namespace) {
            self.recount_later(&collection);
        }
        Ok(version)
    }

    /// Refuses a policy that cannot be set as things are now.
    pub fn check_policy(&self, policy: &Policy) -> Result<()> {
        self.check_policy_beside(&self.policies.current(), policy)
    }

    /// Refuses a policy that cannot be set once those of a table are.
    fn check_policy_beside(&self, table: &Table, policy: &Policy) -> Result<()> {
        table.check(policy)?;
        self.check_collection(policy)?;
        self.check_change(self.former_policy(&policy.namespace)?.as_ref(), Some(policy))?;
        policy.overflows().try_for_each(|overflow| self.check_names(policy, overflow))
    }

    /// The policy in force, or what is still known of one that cannot be read.
    pub(super) fn former_policy(&self, namespace: &Namespace) -> Result<Option<Policy>> {
        let roles = self.policies.get(namespace);
        if !roles.as_ref().is_some_and(|roles| roles.is_unreadable()) {
            return Ok(roles.and_then(|roles| roles.policy().cloned()));
        }
        let stored = self.stored_policy(namespace, &self.store.view())?;
        let policy = stored.as_deref().and_then(|stored| legacy::explicit(namespace, stored));
        Ok(policy.map(|policy| salvage(namespace, &policy)))
    }

    /// The document that holds the policy of a collection.
    pub fn stored_policy(&self, namespace: &Namespace, view: &View) -> Result<Option<Document>> {
        let home = self.registry.get(&policies_of(&namespace.database));
        let Some(home) = home else { return Ok(None) };
        let id = RawBsonRef::String(&namespace.collection);
        let Some(record) = home.record_of(id, view)? else { return Ok(None) };
        let Some(record) = view.record(home.id, record)? else { return Ok(None) };
        record.load(view, &Needs::All).map(Some)
    }

    /// Sets several policies, or none where one of them is refused, which is reported with
    /// the name of its collection. Those that are set already stay as they are.
    pub async fn ensure_policies(
        self: &Arc<Self>,
        policies: &[(Namespace, RawDocumentBuf)],
    ) -> Result<()> {
        let said = |namespace: &Namespace, error: Error| {
            error.code().error(format!("the policy of {namespace}: {}", error.message()))
        };
        let mut table = Table::clone(&self.policies.current());
        for (namespace, document) in policies {
            let refused = |error| said(namespace, error);
            let policy = Policy::parse(namespace, document).map_err(refused)?;
            self.check_policy_beside(&table, &policy).map_err(refused)?;
            table = table.with(policy);
        }
        for (namespace, document) in policies {
            let set = self.ensure_policy(namespace, document).await;
            set.map_err(|error| said(namespace, error))?;
        }
        Ok(())
    }

    /// Sets a policy, unless it is set already.
    async fn ensure_policy(
        self: &Arc<Self>,
        namespace: &Namespace,
        document: &RawDocument,
    ) -> Result<()> {
        let policy = Policy::parse(namespace, document)?;
        let holds = |now: &Policy| !now.leaving && now.says_same(&policy);
        if self.policies.current().policy(namespace).is_some_and(holds) {
            return Ok(());
        }
        let writes = Writes::new(self.clone());
        let nothing = Interrupt::default();
        let (_, adopted) = self.introduce(namespace, document, &writes, None, &nothing).await?;
        if adopted.oversize > 0 {
            tracing::warn!(%namespace, documents = adopted.oversize, "documents are over the \
                bounds of the new policy; bring them into bounds with 'freeboard migrate'");
        }
        Ok(())
    }

    /// Drops the policy of a collection; false if it has none.
    pub async fn drop_policy(self: &Arc<Self>, namespace: &Namespace) -> Result<bool> {
        let is_set = || self.policies.get(namespace).is_some_and(|roles| roles.has_policy());
        if !is_set() {
            return Ok(false);
        }
        let PolicyChange { definition, old } = self.hold_for(namespace, None).await?;
        if !is_set() {
            return Ok(false);
        }
        self.check_change(old.as_ref(), None)?;
        self.drop_held(namespace, PolicyChange { definition, old }).await.map(|()| true)
    }

    /// Drops a policy whose collection is held, and what it needed, which is empty.
    pub(super) async fn drop_held(
        self: &Arc<Self>,
        namespace: &Namespace,
        PolicyChange { mut definition, old }: PolicyChange<'_>,
    ) -> Result<()> {
        let home = policies_of(&namespace.database);
        let mut transaction = definition.transaction(&home);
        let id = RawBsonRef::String(&namespace.collection);
        if let Some(row) = transaction.get(&home, id, &Needs::All).await? {
            transaction.delete(&home, &row).await?;
        }
        let gone = definition.withdraw(old.as_ref(), None)?;
        definition.policies = Some(self.policies.current().without(namespace));
        definition.commit_with(transaction).await?;
        gone.iter().for_each(|namespace| self.cursors.kill_namespace(namespace));
        Ok(())
    }

    /// Whether no document can hold other counters than the policy's own: there is
    /// none, or all were written under the same counters already.
    fn is_counted(&self, old: Option<&Policy>, new: &Policy) -> Result<bool> {
        let goes_on = |now: &Arc<Overflow>| {
            let mut own = old.into_iter().flat_map(|policy| policy.overflows());
            own.any(|was| was.counted && was.path == now.path && was.names() == now.names())
        };
        Ok(new.overflows().all(goes_on) || !self.holds_documents(&new.namespace)?)
    }

    /// Refuses a policy that the collection, as it is, cannot have.
    fn check_collection(&self, policy: &Policy) -> Result<()> {
        let Some(collection) = self.registry.get(&policy.namespace) else { return Ok(()) };
        if collection.is_view() {
            return Err(Code::CommandNotSupportedOnView
                .error(format!("Namespace {} is a view, not a collection", policy.namespace)));
        }
        for overflow in policy.overflows() {
            if collection.is_capped() {
                return Err(refused(
                    overflow,
                    "is of a capped collection, which lets documents \
                    go by itself; expected an ordinary collection",
                ));
            }
            let specs = collection.indexes.iter().map(|index| &*index.spec);
            guard::provision::check_sees_all(overflow, specs)?;
        }
        guard::provision::check_validator(policy, &*collection)
    }

    /// Refuses a change that would lose sight of pages that exist, or take what
    /// others keep in a collection for pages.
    fn check_change(&self, old: Option<&Policy>, new: Option<&Policy>) -> Result<()> {
        let new_overflows = || new.into_iter().flat_map(|policy| policy.overflows());
        for was in old.into_iter().flat_map(|policy| policy.pages_lost(new)) {
            if self.holds_documents(&was.into)? {
                return Err(refused(was, &has_pages(was, new.is_some())));
            }
        }
        for now in new_overflows() {
            let own = old.into_iter().flat_map(|policy| policy.overflows());
            let known = own.into_iter().any(|was| was.into == now.into);
            if !known && self.holds_documents(&now.into)? {
                return Err(refused(
                    now,
                    &format!(
                        "overflows into '{}', which holds documents already; expected a collection \
                     that is empty or not there",
                        now.into
                    ),
                ));
            }
        }
        Ok(())
    }

    pub(super) fn holds_documents(&self, namespace: &Namespace) -> Result<bool> {
        let view = self.store.view();
        match self.registry.get(namespace) {
            Some(collection) => Ok(view.counts(collection.id)?.documents > 0),
            None => Ok(false),
        }
    }
}

/// Writes a policy's document, and gives back its version.
pub(super) async fn store(
    transaction: &mut Transaction,
    home: &Namespace,
    namespace: &Namespace,
    policy: &RawDocument,
    counted: bool,
) -> Result<i32> {
    let id = RawBsonRef::String(&namespace.collection);
    let row = transaction.get(home, id, &Needs::All).await?;
    let version = row.as_deref().and_then(|row| get_value(row, "version"));
    let version = version.and_then(Number::from_value).and_then(Number::to_i32_exact).unwrap_or(0);
    let mut document = DocumentWriter::new();
    document.append("_id", id);
    document.append_document("policy", policy);
    document.append_i32("version", version + 1);
    document.append("setAt", RawBsonRef::DateTime(DateTime::now()));
    document.append_i32(legacy::DEFAULTS, legacy::DEFAULTS_NOW);
    if !counted {
        document.append_bool("counted", false);
    }
    let document: RawDocumentBuf = document.finish();
    match row {
        Some(row) => {
            transaction.replace(home, &row, (&document).into(), write::Cause::UNKNOWN).await?
        }
        None => transaction.insert(home, (&document).into(), None).await?,
    }
    Ok(version + 1)
}

/// Why a policy cannot be changed so, or dropped, and what to do.
fn has_pages(overflow: &Overflow, changes: bool) -> String {
    let into = &overflow.into;
    match changes {
        true => format!(
            "has pages in '{into}'; while there are any, only max, max_bytes, page, page_bytes, \
             read, too_large, total_max, total_bytes and on_total may change, and count or flag get \
             a name. 'freeboard migrate' with the new policy restores the arrays and moves them to \
             new pages; over the wire, dropGrowthPolicy with restore: true comes before it"
        ),
        false => format!(
            "has pages in '{into}', which would be lost sight of. dropGrowthPolicy with restore: \
             true, or 'freeboard migrate --undo', puts the elements back into their documents and \
             drops the policy"
        ),
    }
}

fn refused(overflow: &Overflow, why: &str) -> Error {
    Code::BadValue.error(format!("the policy key 'arrays.{}' {why}", overflow.path))
}
