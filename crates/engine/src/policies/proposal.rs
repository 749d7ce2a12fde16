//! A policy as if it were set, for transactions that are never committed.

use super::page_indexes;
use crate::Engine;
use crate::catalog::{Collection, Index, NewCollection, define};
use crate::storage::{CollectionId, IndexId};
use crate::transaction::Proposal;
use bson::RawDocumentBuf;
use command::Namespace;
use error::Result;
use guard::policy::Overflow;
use guard::{Policy, Table};
use std::sync::Arc;

impl Engine {
    /// A policy as if it were set.
    pub async fn proposal(&self, policy: &Policy) -> Result<Proposal> {
        let namespace = policy.namespace.clone();
        let guarded = Table::default().with(policy.clone()).get(&namespace).cloned();
        let table = self.policies.current();
        let mut pages = Vec::new();
        for overflow in policy.overflows() {
            let is_own = table.of_pages(&overflow.into) == Some(&namespace);
            if !is_own || self.registry.get(&overflow.into).is_none() {
                pages.push(self.proposed_pages(&namespace, overflow).await?);
            }
        }
        Ok(Proposal { namespace, guarded, pages })
    }

    /// The pages of an array as the policy would provide them.
    async fn proposed_pages(
        &self,
        namespace: &Namespace,
        overflow: &Overflow,
    ) -> Result<Arc<Collection>> {
        let specs = page_indexes(overflow, self.registry.get(namespace).as_deref());
        let first = {
            let _turn = self.registry.changes.lock().await;
            // The row that records them is left out: nothing is ever stored under them.
            self.registry.take_ids(specs.len() as u32 + 2).0
        };
        let options = RawDocumentBuf::new();
        let new = NewCollection { namespace: &overflow.into, options: &options, view: false };
        let mut pages = define(&new, CollectionId(first), IndexId(first + 1))?;
        for (spec, id) in specs.iter().zip(first + 2..) {
            pages.indexes.push(Arc::new(Index::from_spec(IndexId(id), spec, true)?));
        }
        Ok(Arc::new(pages))
    }
}
