//! A transaction under a policy that is not set, for dry runs.

use super::Transaction;
use crate::policies::Proposal;
use error::Result;

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
