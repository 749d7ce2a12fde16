//! `$out` into a collection that has a policy: the documents are written to a
//! temporary collection under the same policy, with temporary pages, and all of
//! them take their places in one commit.

use crate::Engine;
use crate::define::{Definition, Progress};
use bson::{RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Result};
use guard::Policy;
use guard::patterns::overflow::check_written_back;
use language::Needs;
use std::sync::Arc;
use value::element::get_value;

/// The policy of a temporary collection.
pub struct Temporary {
    policy: Policy,
    /// That of the collection whose place it will take.
    target: Policy,
}

impl Engine {
    /// Puts a temporary collection under the policy of the one it will replace;
    /// `None` if that has no policy.
    pub async fn guard_temporary(
        self: &Arc<Self>,
        temporary: &Namespace,
        target: &Namespace,
    ) -> Result<Option<Temporary>> {
        self.policies.check_definition(target)?;
        let guarded = self.policies.get(target);
        let Some(guarded) = guarded else { return Ok(None) };
        let target = guarded.policy()?.clone();
        let pages = |at: usize| Namespace {
            database: temporary.database.clone(),
            collection: format!("{}.{at}", temporary.collection).into(),
        };
        let policy = target.moved(temporary, pages);
        for (overflow, own) in policy.overflows().zip(target.overflows()) {
            let indexes = self.registry.get(&own.into);
            let specs: Vec<RawDocumentBuf> = indexes
                .iter()
                .flat_map(|collection| collection.indexes.iter().skip(1))
                .map(|index| index.spec.clone())
                .collect();
            self.create_indexes(&overflow.into, &specs, &Progress::default()).await?;
        }
        let _turn = self.policies.changes.lock().await;
        self.policies.publish(self.policies.current().with(policy.clone()));
        Ok(Some(Temporary { policy, target }))
    }

    /// Refuses documents of which a read has shown no more than the heads of their
    /// arrays: in the place of the documents they were read from, they would lose pages.
    pub fn check_out(&self, guarded: &Temporary, documents: &[&RawDocument]) -> Result<()> {
        let target = &guarded.target;
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
                check_written_back(rule, &old.load(&view, &needs)?, document)?;
            }
        }
        Ok(())
    }

    /// Gives the temporary collection and its pages their names.
    pub async fn replace_guarded(self: &Arc<Self>, temporary: &Temporary) -> Result<()> {
        let Temporary { policy, target } = temporary;
        let _turn = self.policies.changes.lock().await;
        let mut renamed = vec![(&policy.namespace, &target.namespace)];
        let pages = policy.overflows().zip(target.overflows());
        renamed.extend(pages.map(|(from, to)| (&from.into, &to.into)));
        let gates: Vec<&Namespace> = renamed.iter().flat_map(|(from, to)| [*from, *to]).collect();
        let mut definition = Definition::begin(self, &gates).await;
        let current = self.policies.current();
        if !current.policy(&target.namespace).is_some_and(|now| now.says_same(target)) {
            return Err(Code::ConflictingOperationInProgress.error(format!(
                "the growth policy of '{}' has changed while $out was writing to it",
                target.namespace
            )));
        }
        for (from, to) in &renamed {
            definition.rename(from, to, true)?;
        }
        definition.policies = Some(self.policies.current().without(&policy.namespace));
        definition.commit().await?;
        gates.iter().for_each(|namespace| self.cursors.kill_namespace(namespace));
        Ok(())
    }

    /// Drops a temporary collection and its pages.
    pub async fn drop_temporary(
        self: &Arc<Self>,
        temporary: &Namespace,
        guarded: Option<&Temporary>,
    ) -> Result<()> {
        let _turn = self.policies.changes.lock().await;
        self.policies.publish(self.policies.current().without(temporary));
        for overflow in guarded.iter().flat_map(|guarded| guarded.policy.overflows()) {
            self.drop_collection(&overflow.into).await?;
        }
        self.drop_collection(temporary).await.map(|_| ())
    }
}
