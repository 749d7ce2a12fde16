//! What a policy needs beside its collection comes and goes with the commit that sets or drops
//! it: a failure on the way rolls everything back.

use super::pages::{missing, needed, page_indexes, unanswered};
use crate::Engine;
use crate::catalog::NewCollection;
use crate::define::Definition;
use bson::RawDocumentBuf;
use command::Namespace;
use error::{Code, Result};
use guard::provision::{self, Needed, What};
use guard::{Lease, Policy, policies_of};
use std::sync::Arc;

/// How often a policy's indexes are made before others who make and drop some are given way.
const ATTEMPTS: usize = 3;

/// A change of a policy under way.
pub struct PolicyChange<'e> {
    pub definition: Definition<'e>,
    /// The policy in force, or what is known of it.
    pub old: Option<Policy>,
}

impl Engine {
    /// Holds all that a change of a collection's policy is about: the collection, what the
    /// policy in force needs and what a new one will, and where policies are kept.
    pub(super) async fn hold_for(
        self: &Arc<Self>,
        namespace: &Namespace,
        new: Option<&Policy>,
    ) -> Result<PolicyChange<'_>> {
        let home = policies_of(&namespace.database);
        loop {
            let guarded = self.policies.get(namespace);
            let old = self.former_policy(namespace)?;
            let needed = old.iter().chain(new).flat_map(|policy| provision::needed(policy, &[]));
            let needed: Vec<Needed> = needed.collect();
            let mut gates: Vec<&Namespace> = needed.iter().map(|it| &it.namespace).collect();
            gates.extend([namespace, &home]);
            let definition = Definition::begin(self, &gates).await?;
            // Another may have come before: then these are not its gates.
            if Lease::is_same(self.policies.get(namespace).as_ref(), guarded.as_ref()) {
                return Ok(PolicyChange { definition, old });
            }
        }
    }

    /// The same, with all in place that the new policy needs, or the one in force where there
    /// is no new one. Indexes of pages that hold documents are built first.
    pub(super) async fn hold_provided(
        self: &Arc<Self>,
        namespace: &Namespace,
        new: Option<&Policy>,
    ) -> Result<PolicyChange<'_>> {
        self.store.space().check()?;
        for _ in 0..ATTEMPTS {
            let mut held = self.hold_for(namespace, new).await?;
            // Someone may have written to what are pages from now on, or made an index.
            new.map_or(Ok(()), |policy| self.check_policy(policy))?;
            let Some(policy) = new.or(held.old.as_ref()) else { return Ok(held) };
            held.definition.provide(policy)?;
            if missing(policy, &held.definition.catalog).is_empty() {
                return Ok(held);
            }
            let PolicyChange { definition, old } = held;
            drop(definition);
            for overflow in new.or(old.as_ref()).into_iter().flat_map(Policy::overflows) {
                let wanted = page_indexes(overflow, self.registry.get(namespace).as_deref());
                self.index_pages(overflow, &wanted).await?;
            }
        }
        Err(Code::ConflictingOperationInProgress.error(format!(
            "the indexes of {namespace} have changed while its policy was being set; try again"
        )))
    }

    /// Makes what is missing of a policy's indexes and views.
    pub async fn remake_pages(self: &Arc<Self>, namespace: &Namespace) -> Result<()> {
        self.hold_provided(namespace, None).await?.definition.commit().await
    }
}

impl Definition<'_> {
    /// Makes what a policy needs, as far as it is not there, but for the indexes of
    /// collections that hold documents: to build them takes time.
    pub(super) fn provide(&mut self, policy: &Policy) -> Result<()> {
        for Needed { namespace, what, .. } in needed(policy, &self.catalog) {
            match what {
                What::Collection { indexes } => self.provide_collection(&namespace, &indexes)?,
                What::View { options, .. } => self.provide_view(&namespace, &options)?,
            }
        }
        Ok(())
    }

    fn provide_collection(
        &mut self,
        namespace: &Namespace,
        wanted: &[RawDocumentBuf],
    ) -> Result<()> {
        let collection = self.ensure(namespace)?;
        let missing = unanswered(&collection, wanted);
        if !missing.is_empty() && self.is_empty(&collection)? {
            self.add_indexes(namespace, &missing, true)?;
        }
        self.hide_pages_indexes(namespace, wanted)
    }

    /// Another view under that name is the policy's own, as it was: else it was refused.
    fn provide_view(&mut self, namespace: &Namespace, options: &RawDocumentBuf) -> Result<()> {
        match self.catalog.get(namespace) {
            Some(existing) if existing.options == *options => return Ok(()),
            Some(_) => self.drop(namespace).map(|_| ())?,
            None => {}
        }
        self.create(NewCollection { namespace, options, view: true }).map(|_| ())
    }

    /// Drops what an earlier policy needed and the new one does not, which is empty, and gives
    /// back what is gone.
    pub(super) fn withdraw(
        &mut self,
        old: Option<&Policy>,
        new: Option<&Policy>,
    ) -> Result<Vec<Namespace>> {
        let needed = |policy: Option<&Policy>| -> Vec<Namespace> {
            let needed = policy.into_iter().flat_map(|policy| provision::needed(policy, &[]));
            needed.map(|it| it.namespace).collect()
        };
        let (mut gone, stays) = (needed(old), needed(new));
        gone.retain(|namespace| !stays.contains(namespace));
        // A view goes before the collection that it shows.
        gone.reverse();
        for namespace in &gone {
            self.drop(namespace)?;
        }
        Ok(gone)
    }
}
