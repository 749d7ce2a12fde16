//! A collection that gets another name takes its policy and its pages along, in one commit.

use super::change::store;
use super::mirror;
use crate::Engine;
use crate::catalog::Collection;
use crate::define::Definition;
use bson::{RawBsonRef, RawDocumentBuf};
use command::Namespace;
use error::{Code, Error, Result};
use guard::policy::legacy;
use guard::provision;
use guard::{Lease, Policy, policies_of};
use language::Needs;
use std::sync::Arc;
use write::Transaction as _;

/// A policy and what it becomes under another name.
struct Renamed {
    old: Policy,
    new: Policy,
    /// What the new one is written as.
    document: RawDocumentBuf,
}

impl Engine {
    /// Renames a collection that has a policy.
    pub async fn rename_guarded(
        self: &Arc<Self>,
        from: &Namespace,
        to: &Namespace,
        drop_target: bool,
    ) -> Result<()> {
        let (mut definition, renamed) = self.hold_renamed(from, to).await?;
        let Renamed { old, new, document } = &renamed;
        [from, to].into_iter().try_for_each(|it| self.policies.check_definition(it))?;
        self.policies.check_rename(to)?;
        // Its pages and its view get names that another policy may go by.
        self.policies.current().without(from).check(new)?;
        let home = policies_of(&from.database);
        let mut transaction = definition.transaction(&home);
        if let Some(row) =
            transaction.get(&home, RawBsonRef::String(&from.collection), &Needs::All).await?
        {
            transaction.delete(&home, &row).await?;
        }
        store(&mut transaction, &home, to, document, old.is_counted()).await?;
        definition.rename(from, to, drop_target)?;
        let pages = pages(old, new);
        for (from, to) in &pages {
            if definition.catalog.get(to).is_some() {
                return Err(Code::NamespaceExists.error(format!(
                    "the pages of {} would be renamed to {to}, which exists",
                    old.namespace
                )));
            }
            if definition.catalog.get(from).is_some() {
                definition.rename(from, to, false)?;
            }
        }
        definition.withdraw(Some(old), Some(new))?;
        definition.provide(new)?;
        let table = self.policies.current().without(from);
        definition.policies = Some(table.with(new.with_counted(old.is_counted())));
        definition.commit_with(transaction).await?;
        let moved = pages.iter().flat_map(|(from, to)| [*from, *to]);
        [from, to].into_iter().chain(moved).for_each(|it| self.cursors.kill_namespace(it));
        if let Some(collection) = self.registry.get(to) {
            self.growth.report_held(collection.id, to);
        }
        Ok(())
    }

    /// Puts an empty collection in the place of one that has a policy. The policy stays, as it
    /// does when the collection is dropped; its pages are emptied, and mirror the indexes that
    /// have come.
    pub async fn rename_over_guarded(
        self: &Arc<Self>,
        from: &Namespace,
        to: &Namespace,
    ) -> Result<()> {
        let (mut definition, policy) = self.hold_over(from, to).await?;
        self.policies.check_rename(from)?;
        self.policies.check_definition(to)?;
        if let Some(source) = definition.catalog.get(from).cloned() {
            self.check_takes_place(&definition, &source, to)?;
        }
        if let Some(target) = definition.catalog.get(to).cloned() {
            mirror::drop_mirrors(&mut definition, &self.policies.current(), &target);
        }
        let pages: Vec<Namespace> = policy.overflows().map(|rule| rule.into.clone()).collect();
        for pages in &pages {
            if let Some(pages) = definition.catalog.get(pages).cloned() {
                definition.empty(&pages)?;
            }
        }
        definition.rename(from, to, true)?;
        definition.provide(&policy)?;
        definition.commit().await?;
        [from, to].into_iter().chain(&pages).for_each(|it| self.cursors.kill_namespace(it));
        Ok(())
    }

    /// Holds both names and what the policy of the second needs.
    async fn hold_over(
        self: &Arc<Self>,
        from: &Namespace,
        to: &Namespace,
    ) -> Result<(Definition<'_>, Policy)> {
        loop {
            let guarded = self.policies.get(to);
            let Some(lease) = &guarded else { return Err(changed(to)) };
            let policy = lease.rules()?.clone();
            if policy.leaving {
                return Err(being_left(to));
            }
            let needed = provision::needed(&policy, &[]);
            let gates = needed.iter().map(|needed| &needed.namespace).chain([from, to]);
            let definition = Definition::begin(self, &gates.collect::<Vec<_>>()).await?;
            if Lease::is_same(self.policies.get(to).as_ref(), guarded.as_ref()) {
                return Ok((definition, policy));
            }
        }
    }

    /// Refuses what the policy of a name is not for, and documents that it has not seen.
    fn check_takes_place(
        &self,
        definition: &Definition<'_>,
        source: &Collection,
        to: &Namespace,
    ) -> Result<()> {
        if !definition.is_empty(source)? {
            return Err(Code::OperationFailed.error(format!(
                "{to} has a growth policy, under which the documents of {} were not written; \
                 insert them into {to}, or drop the policy first",
                source.namespace
            )));
        }
        self.policies.check_kind(&Collection { namespace: to.clone(), ..source.clone() })?;
        self.policies.check_indexes(to, source.indexes.iter().map(|index| &*index.spec))
    }

    /// Holds all that the change is about: both names, what the policy needs under each, and
    /// where policies are kept.
    async fn hold_renamed(
        self: &Arc<Self>,
        from: &Namespace,
        to: &Namespace,
    ) -> Result<(Definition<'_>, Renamed)> {
        let home = policies_of(&from.database);
        loop {
            let guarded = self.policies.get(from);
            let renamed = self.renamed(from, to)?;
            let needed = [&renamed.old, &renamed.new].map(|it| provision::needed(it, &[]));
            let needed: Vec<Namespace> =
                needed.into_iter().flatten().map(|needed| needed.namespace).collect();
            let gates: Vec<&Namespace> = needed.iter().chain([from, to, &home]).collect();
            let definition = Definition::begin(self, &gates).await?;
            // Another may have come before: then these are not its gates.
            if Lease::is_same(self.policies.get(from).as_ref(), guarded.as_ref()) {
                return Ok((definition, renamed));
            }
        }
    }

    fn renamed(&self, from: &Namespace, to: &Namespace) -> Result<Renamed> {
        if from.database != to.database {
            return Err(Code::OperationFailed.error(format!(
                "{from} has a growth policy, which belongs to its database; drop the policy first"
            )));
        }
        let old = self.former_policy(from)?.ok_or_else(|| changed(from))?;
        if old.leaving {
            return Err(being_left(from));
        }
        let stored = self.stored_policy(from, &self.store.view())?;
        let document = stored.and_then(|stored| legacy::explicit(from, &stored));
        let document = document.ok_or_else(|| changed(from))?;
        let new = Policy::parse(to, &document)?;
        Ok(Renamed { old, new, document })
    }
}

fn changed(namespace: &Namespace) -> Error {
    Code::ConflictingOperationInProgress
        .error(format!("the policy of {namespace} has changed meanwhile; try again"))
}

fn being_left(namespace: &Namespace) -> Error {
    Code::OperationFailed.error(format!(
        "the policy of {namespace} is being left; go on with that first (dropGrowthPolicy with \
         restore: true, or 'freeboard migrate --undo')"
    ))
}

/// The pages that get another name with their collection.
fn pages<'p>(old: &'p Policy, new: &'p Policy) -> Vec<(&'p Namespace, &'p Namespace)> {
    let both = old.overflows().zip(new.overflows());
    both.map(|(old, new)| (&old.into, &new.into)).filter(|(from, to)| from != to).collect()
}
