//! What a transaction notes of the documents it writes, for the figures of growth.

use super::{Row, Transaction};
use crate::Engine;
use crate::catalog::Collection;
use crate::growth::{self, Grown, GrowthEvent, LengthenedArrays, PagedBytes};
use crate::storage::{Mark, RecordId, large};
use bson::RawDocument;
use command::Namespace;
use error::Result;
use guard::Lease;
use guard::patterns::Measured;
use language::update::Update;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use write::{StoredRow, Version};

impl Engine {
    /// Has the figures of a collection written.
    pub(crate) async fn write_figures(self: &Arc<Self>, collection: &Collection) -> Result<()> {
        let mut transaction = Transaction::begin(self.clone());
        match transaction.enter(&collection.namespace).await? {
            Some(now) if now.id == collection.id => {
                transaction.touch(&now);
                self.store.commit(transaction.into_commit(), Mark::Applied).await.map(|_| ())
            }
            _ => Ok(()),
        }
    }
}

impl Transaction {
    /// What guards a collection. Everyone who writes to it shares that, so that each copy
    /// is felt by the others.
    pub(super) fn guarded(&self, namespace: &Namespace) -> Option<Cow<'_, Lease>> {
        match self.entered(namespace) {
            Some(entered) => entered.guarded.as_ref().map(Cow::Borrowed),
            // There is none, or this transaction is making it.
            None => self.engine.policies.get(namespace).map(Cow::Owned),
        }
    }

    /// Which of the arrays that a policy names change their lengths; `None` if nobody
    /// measures them now.
    pub(super) fn lengthened(
        &self,
        guarded: Option<&Lease>,
        before: Option<&Row>,
        after: Option<Version<'_>>,
        update: Option<&Update>,
        measured: Option<&Measured>,
    ) -> Result<Option<LengthenedArrays>> {
        let policy = growth::policy(guarded).filter(|policy| !policy.arrays.is_empty());
        let Some(policy) = policy else { return Ok(Some(LengthenedArrays::new())) };
        if !self.engine.growth.is_on.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let arrays = match measured {
            Some(Measured { arrays, complete: true }) => return Ok(Some(growth::measured(arrays))),
            Some(Measured { arrays, .. }) => &arrays[..],
            None => &[],
        };
        let secret = *self.engine.store.secret();
        let mut load = |document: &RawDocument, needs: &language::Needs| match before {
            Some(row) => large::join(&self.last_view(), &row.record, document, needs),
            None => Ok(None),
        };
        let exchange = growth::Exchange {
            before: before.map(StoredRow::version),
            after,
            update,
            measured: arrays,
        };
        growth::lengthened(policy, exchange, &secret, &mut load).map(Some)
    }

    /// What a document's pages add to it, before a write and after it.
    pub(super) fn paged(
        &self,
        guarded: Option<&Lease>,
        before: Option<&Row>,
        after: Version<'_>,
    ) -> PagedBytes {
        let Some(policy) = growth::policy(guarded) else { return PagedBytes::default() };
        let secret = self.engine.store.secret();
        PagedBytes {
            before: before.map_or(0, |row| growth::paged(policy, row.version(), secret)),
            after: growth::paged(policy, after, secret),
        }
    }

    /// Notes what becomes of a document.
    pub(super) fn grow(
        &mut self,
        collection: &Arc<Collection>,
        record: RecordId,
        before: Option<usize>,
        after: Option<usize>,
        paged: PagedBytes,
        arrays: Option<LengthenedArrays>,
    ) {
        let size = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        let measured = arrays.is_some();
        let arrays = arrays.unwrap_or_default();
        let event =
            GrowthEvent { record, before: before.map(size), after: after.map(size), paged, arrays };
        let grown = self.grown(collection);
        grown.measured &= measured;
        grown.push(event);
    }

    /// Has the figures of a collection written, though nothing becomes of it.
    pub(crate) fn touch(&mut self, collection: &Arc<Collection>) {
        self.grown(collection);
    }

    fn grown(&mut self, collection: &Arc<Collection>) -> &mut Grown {
        let known = self.grown.iter().position(|it| it.collection.id == collection.id);
        let at = known.unwrap_or_else(|| {
            self.grown.push(Grown::new(collection.clone()));
            self.grown.len() - 1
        });
        &mut self.grown[at]
    }

    /// Hands over what guarded each collection, which this transaction needs no more.
    pub(super) fn hand_guards_over(&mut self) {
        for grown in &mut self.grown {
            let id = grown.collection.id;
            let entered = self.entered.iter_mut().find(|entered| entered.collection.id == id);
            grown.guarded = match entered {
                Some(entered) => entered.guarded.take(),
                None => self.engine.policies.get(&grown.collection.namespace),
            };
        }
    }
}
