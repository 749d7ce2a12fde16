//! What a pattern is to the writes of a collection.

use super::declaration::Declaration;
use super::measured::Measured;
use super::overflow::{Basis, Glance};
use super::plan::Plan;
use crate::policy::Policy;
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use language::Needs;
use language::update::Update;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::pin::Pin;
use value::Path;
use write::{Applied, Sidecar, Transaction, Wanted};

/// One remedy, such as bounds or overflow. `table` lists all of them; `sequence` has each take
/// part in every write, in that order. What it is apart from that is its `Declaration`.
///
/// A pattern reaches documents only through the transaction, so it works on any backend.
pub trait Pattern<T: Transaction>: Declaration {
    /// Adds the arrays whose part of an update it may carry out by itself: the update need not
    /// see them.
    fn leaves_out<'p>(&self, policy: &'p Policy, update: &Update, plan: &Plan) -> Paths<'p> {
        let _ = (policy, update, plan);
        Paths::new()
    }

    /// Adds what of a document must be loaded for an update, beside what the update looks at.
    fn update_needs(&self, policy: &Policy, update: &Update, plan: &Plan, needs: &mut Needs) {
        let _ = (policy, update, plan, needs);
    }

    /// Adds what of a document must be loaded before it is deleted.
    fn delete_needs(&self, policy: &Policy, needs: &mut Needs) {
        let _ = (policy, needs);
    }

    /// Adds the other documents that new ones need, each once.
    fn insert_needs(&self, policy: &Policy, documents: &[&RawDocument], wanted: &mut Vec<Wanted>) {
        let _ = (policy, documents, wanted);
    }

    /// Whether it has a fast path for new documents whose arrays are within their bounds.
    fn has_fast_insert(&self) -> bool {
        false
    }

    /// The fast path: the arrays of the document have been measured.
    fn fast_insert(&self, insertion: &mut Insertion<'_, '_>) -> Result<()> {
        let _ = insertion;
        Ok(())
    }

    fn insert<'a>(
        &'a self,
        transaction: &'a mut T,
        insertion: &'a mut Insertion<'_, '_>,
    ) -> Step<'a> {
        let _ = (transaction, insertion);
        done()
    }

    /// Whether the stored document alone decides what becomes of it under an update.
    fn has_fast_update<'c>(&self, change: &mut Change<'c, T>) -> bool {
        let _ = change;
        false
    }

    /// The fast path, once the update has been applied. False where it takes more after all.
    fn fast_update(&self, transaction: &T, change: &mut Change<'_, T>) -> Result<bool> {
        let _ = (transaction, change);
        Ok(true)
    }

    /// Before an update is applied: loads what it must see, and takes the parts that this
    /// pattern carries out by itself.
    fn before_update<'a, 'c>(
        &'a self,
        transaction: &'a mut T,
        change: &'a mut Change<'c, T>,
    ) -> Step<'a>
    where
        'c: 'a,
    {
        let _ = (transaction, change);
        done()
    }

    /// After it has been applied.
    fn update<'a, 'c>(&'a self, transaction: &'a mut T, change: &'a mut Change<'c, T>) -> Step<'a>
    where
        'c: 'a,
    {
        let _ = (transaction, change);
        done()
    }

    fn delete<'a>(
        &'a self,
        transaction: &'a mut T,
        policy: &'a Policy,
        row: &'a T::Row,
    ) -> Step<'a> {
        let _ = (transaction, policy, row);
        done()
    }
}

/// A pattern's part of a write.
pub type Step<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// Some paths of a policy.
pub type Paths<'p> = SmallVec<[&'p Path; 4]>;

fn done<'a>() -> Step<'a> {
    Box::pin(std::future::ready(Ok(())))
}

/// A new document on its way into a collection.
pub struct Insertion<'p, 'd> {
    pub policy: &'p Policy,
    /// `None` once a pattern has put it elsewhere.
    pub document: Option<Cow<'d, RawDocument>>,
    /// What is kept beside it.
    pub sidecar: Option<RawDocumentBuf>,
    pub measured: Measured,
}

/// A document on its way from one version to the next.
pub struct Change<'c, T: Transaction> {
    pub policy: &'c Policy,
    pub applied: &'c Applied<'c, Plan>,
    /// As it is stored.
    pub row: &'c T::Row,
    /// What the row shows of arrays that overflow.
    pub glance: Glance<'c>,
    /// What the update is applied to, where that is not the row.
    pub basis: Basis<T>,
    /// What the update has made of it.
    pub after: RawDocumentBuf,
    pub sidecar: Sidecar,
    /// Whether a pattern has altered that since: then it may be what it was before.
    pub altered: bool,
    /// Whether something else has changed that belongs to the document.
    pub elsewhere: bool,
    pub measured: Measured,
}

impl<'c, T: Transaction> Change<'c, T> {
    pub fn new(policy: &'c Policy, row: &'c T::Row, applied: &'c Applied<'c, Plan>) -> Self {
        Change {
            policy,
            applied,
            row,
            glance: Glance::default(),
            basis: Basis::default(),
            after: RawDocumentBuf::new(),
            sidecar: Sidecar::Stays,
            altered: false,
            elsewhere: false,
            measured: Measured::default(),
        }
    }

    /// The document that the update is applied to.
    pub fn base(&self) -> &RawDocument {
        self.basis.whole().unwrap_or_else(|| self.held())
    }

    /// The stored document, as far as it has been loaded.
    pub fn held(&self) -> &RawDocument {
        self.basis.loaded.as_deref().unwrap_or(self.row)
    }
}
