//! A transaction under a policy that is not set, for dry runs.

use super::Transaction;
use crate::catalog::Collection;
use command::Namespace;
use error::Result;
use guard::Lease;
use std::sync::Arc;

/// What a transaction sees instead of what is in force.
pub struct Proposal {
    pub namespace: Namespace,
    /// What guards the collection under the policy.
    pub guarded: Option<Lease>,
    /// The collections of pages that are yet to be made, empty. They stand in the place of
    /// whatever has their name.
    pub pages: Vec<Arc<Collection>>,
}

impl Transaction {
    /// Has the transaction see a policy as if it were set. It must never be committed: pages may
    /// be in collections that nobody knows.
    pub async fn propose(&mut self, proposal: &Proposal) -> Result<()> {
        let namespace = &proposal.namespace;
        self.enter(namespace).await?;
        let mut entered = self.entered.iter_mut();
        if let Some(entered) = entered.find(|it| it.collection.namespace == *namespace) {
            entered.guarded.clone_from(&proposal.guarded);
        }
        proposal.pages.iter().for_each(|pages| self.enter_held(pages.clone()));
        Ok(())
    }
}
