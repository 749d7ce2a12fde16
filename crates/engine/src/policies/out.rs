//! `$out`: the documents are written to a temporary collection, under the policy of the
//! target if it has one, with temporary pages, and all of them take their places in one
//! commit.

use crate::Engine;
use crate::define::Definition;
use crate::operation::WorkProgress;
use bson::{RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Result};
use guard::patterns::overflow::check_written_back;
use guard::{Policy, Table};
use language::Needs;
use std::sync::Arc;
use value::element::get_value;
use write::Version;

/// A collection that is to take the place of another.
pub struct Temporary {
    pub namespace: Namespace,
    target: Namespace,
    guarded: Option<Moved>,
}

/// The policy of a target.
struct Moved {
    /// As it is for the temporary collection,
    policy: Policy,
    /// and for the target.
    target: Policy,
}

impl Temporary {
    /// What is to be renamed to what.
    fn names(&self) -> Vec<(&Namespace, &Namespace)> {
        let mut names = vec![(&self.namespace, &self.target)];
        if let Some(Moved { policy, target }) = &self.guarded {
            let pages = policy.overflows().zip(target.overflows());
            names.extend(pages.map(|(from, to)| (&from.into, &to.into)));
        }
        names
    }
}

impl Engine {
    /// Puts a temporary collection under the policy of the one it will replace, if that
    /// has one.
    pub async fn guard_temporary(
        self: &Arc<Self>,
        namespace: Namespace,
        target: &Namespace,
    ) -> Result<Temporary> {
        self.policies.check_definition(target)?;
        let mut temporary = Temporary { namespace, target: target.clone(), guarded: None };
        let guarded = self.policies.get(target);
        let Some(guarded) = guarded else { return Ok(temporary) };
        let target = guarded.rules()?.clone();
        let pages = |at: usize| Namespace {
            database: temporary.namespace.database.clone(),
            collection: format!("{}.{at}", temporary.namespace.collection).into(),
        };
        let policy = target.moved(&temporary.namespace, pages);
        for (overflow, own) in policy.overflows().zip(target.overflows()) {
            let indexes = self.registry.get(&own.into);
            let specs: Vec<RawDocumentBuf> = indexes
                .iter()
                .flat_map(|collection| collection.indexes.iter().skip(1))
                .map(|index| index.spec.clone())
                .collect();
            self.create_indexes(&overflow.into, &specs, &WorkProgress::default()).await?;
        }
        self.change_policies(|table| table.with(policy.clone())).await;
        temporary.guarded = Some(Moved { policy, target });
        Ok(temporary)
    }

    /// Refuses documents of which a read has shown no more than the heads of their
    /// arrays: in the place of the documents they were read from, they would lose pages.
    pub fn check_out(&self, temporary: &Temporary, documents: &[&RawDocument]) -> Result<()> {
        let Some(Moved { target, .. }) = &temporary.guarded else { return Ok(()) };
        let Some(collection) = self.registry.get(&target.namespace) else { return Ok(()) };
        let view = self.store.view();
        for rule in target.overflows() {
            if !self.holds_documents(&rule.into)? {
                continue;
            }
            let needs = Needs::Paths(vec![rule.path.clone()]);
            for document in documents {
                let Some(id) = get_value(document, "_id") else { continue };
                let Some(record) = collection.record_of(id, &view)? else { continue };
                let Some(old) = view.record(collection.id, record)? else { continue };
                let loaded = old.load(&view, &needs)?;
                let old = Version { document: &loaded, sidecar: old.sidecar() };
                check_written_back(rule, old, document)?;
            }
        }
        Ok(())
    }

    /// Gives the temporary collection and its pages their names.
    pub async fn take_place(self: &Arc<Self>, temporary: &Temporary) -> Result<()> {
        let names = temporary.names();
        let gates: Vec<&Namespace> = names.iter().flat_map(|(from, to)| [*from, *to]).collect();
        let mut definition = Definition::begin(self, &gates).await?;
        self.check_target(temporary)?;
        for (from, to) in &names {
            definition.rename(from, to, true)?;
        }
        if temporary.guarded.is_some() {
            definition.policies = Some(self.policies.current().without(&temporary.namespace));
        }
        definition.commit().await?;
        gates.iter().for_each(|namespace| self.cursors.kill_namespace(namespace));
        if let Some(collection) = self.registry.get(&temporary.target) {
            self.growth.report_held(collection.id, &temporary.target);
        }
        Ok(())
    }

    /// Refuses a target that is under another policy than the documents were written under.
    fn check_target(&self, temporary: &Temporary) -> Result<()> {
        let target = &temporary.target;
        self.policies.check_definition(target)?;
        let same = match (&temporary.guarded, self.policies.get(target)) {
            (None, None) => true,
            (Some(was), Some(now)) => now.policy().is_some_and(|now| now.says_same(&was.target)),
            _ => false,
        };
        match same {
            true => Ok(()),
            false => Err(Code::ConflictingOperationInProgress.error(format!(
                "the growth policy of '{target}' has changed while $out was writing to it"
            ))),
        }
    }

    /// Drops a temporary collection and its pages.
    pub async fn drop_temporary(self: &Arc<Self>, temporary: &Temporary) -> Result<()> {
        let Temporary { namespace, guarded, .. } = temporary;
        if let Some(Moved { policy, .. }) = guarded {
            self.change_policies(|table| table.without(namespace)).await;
            for overflow in policy.overflows() {
                self.drop_collection(&overflow.into).await?;
            }
        }
        self.drop_collection(namespace).await
    }

    /// Changes policies of collections that nobody else knows of, in the catalog's turn.
    async fn change_policies(&self, change: impl FnOnce(&Table) -> Table) {
        let _turn = self.registry.changes.lock().await;
        let table = self.policies.taking(change(&self.policies.current()));
        self.registry.publish(self.registry.current().with_beside(table));
    }
}
