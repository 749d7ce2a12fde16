//! What a transaction notes of the documents it writes, for the figures of growth.

use super::{Row, Transaction};
use crate::catalog::Collection;
use crate::growth::{self, Grown, GrowthEvent, LengthenedArrays};
use crate::storage::{RecordId, large};
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

    /// Notes what becomes of a document.
    pub(super) fn grow(
        &mut self,
        collection: &Arc<Collection>,
        record: RecordId,
        before: Option<usize>,
        after: Option<usize>,
        arrays: Option<LengthenedArrays>,
    ) {
        let size = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        let measured = arrays.is_some();
        let arrays = arrays.unwrap_or_default();
        let event =
            GrowthEvent { record, before: before.map(size), after: after.map(size), arrays };
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

    /// Tells for each collection what has guarded it, which nobody here needs any more.
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
