//! One document restored, in a transaction of its own.

use super::counters;
use crate::Roles;
use crate::patterns::fields;
use crate::patterns::overflow::page::Page;
use crate::patterns::overflow::{Amends, Counters, Gathered, Seen, Work};
use crate::policy::{Overflow, Policy};
use crate::read::Moved;
use bson::{RawArrayBuf, RawBson, RawBsonRef};
use command::Namespace;
use error::{Code, Result};
use language::Needs;
use std::ops::Deref;
use write::limits::DOCUMENT_BYTES_MAX;
use write::{Cause, StoredRow, Transaction, TransactionBody, Version};

/// What has become of a document.
#[derive(Debug)]
pub enum RestoredDocument {
    /// It holds its arrays whole, and nothing of the policy is left in it.
    Whole {
        /// Elements that its arrays with pages hold, the pages that are gone, and the bytes.
        elements: u64,
        pages: u64,
        bytes: u64,
    },
    /// It stays as it is: whole it would be larger than a document may be.
    TooLarge(TooLargeArray),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLargeArray {
    pub path: String,
    pub elements: usize,
    /// What head and pages weigh.
    pub bytes: usize,
}

pub struct Restore<'a> {
    pub namespace: &'a Namespace,
    pub id: RawBsonRef<'a>,
}

/// An array with all that its pages hold.
struct WholeArray<'p, R> {
    rule: &'p Overflow,
    array: RawArrayBuf,
    elements: usize,
    pages: Vec<Page<R>>,
}

impl<R> WholeArray<'_, R> {
    fn bytes(&self) -> usize {
        self.array.as_bytes().len()
    }

    fn too_large(&self) -> TooLargeArray {
        let path = self.rule.path.as_str().to_owned();
        TooLargeArray { path, elements: self.elements, bytes: self.bytes() }
    }
}

impl<T: Transaction<Guard: Deref<Target = Roles>>> TransactionBody<T> for Restore<'_> {
    /// `None` if there is no such document any more.
    type Outcome = Option<RestoredDocument>;

    async fn attempt(&mut self, transaction: &mut T) -> Result<Option<RestoredDocument>> {
        let Restore { namespace, id } = *self;
        // Dropped meanwhile: then nothing was left to restore.
        let Some(guard) = transaction.guard(namespace).await? else { return Ok(None) };
        let policy = guard.rules()?;
        if !policy.leaving {
            return Err(Code::ConflictingOperationInProgress.error(format!(
                "the policy of '{namespace}' has been set again while it was being left"
            )));
        }
        let mut needs = counters(policy);
        transaction.check_needs(namespace, &mut needs);
        Moved::<T::Row>::needs(transaction, namespace, &mut needs);
        let Some(row) = transaction.get(namespace, id, &needs).await? else { return Ok(None) };
        // Everything is read before anything is written: what is too large stays as it is.
        match self.gather(policy, transaction, &row, &needs).await? {
            Ok(arrays) => self.put_back(policy, transaction, &row, &arrays).await.map(Some),
            Err(too_large) => Ok(Some(RestoredDocument::TooLarge(too_large))),
        }
    }
}

impl Restore<'_> {
    /// The arrays that have pages, or the one that no document could hold, by itself or with the
    /// others: no more of them are in memory than one document holds, and one array.
    async fn gather<'p, T: Transaction>(
        &self,
        policy: &'p Policy,
        transaction: &mut T,
        row: &T::Row,
        loaded: &Needs,
    ) -> Result<Result<Vec<WholeArray<'p, T::Row>>, TooLargeArray>> {
        let mut arrays: Vec<WholeArray<'p, T::Row>> = Vec::new();
        for rule in policy.overflows() {
            let mut work = Work { policy, rule, transaction, parent: self.id };
            match work.gather(row, loaded).await? {
                Gathered::Whole => {}
                Gathered::Paged { array, elements, pages } => {
                    arrays.push(WholeArray { rule, array, elements, pages });
                    if let Some(largest) = too_large_together(&arrays) {
                        return Ok(Err(largest));
                    }
                }
                Gathered::TooLarge { elements, bytes } => {
                    let path = rule.path.as_str().to_owned();
                    return Ok(Err(TooLargeArray { path, elements, bytes }));
                }
            }
        }
        Ok(Ok(arrays))
    }

    /// Writes the document with its arrays whole and without counters, deletes the pages, and
    /// reads the arrays back.
    async fn put_back<T: Transaction>(
        &self,
        policy: &Policy,
        transaction: &mut T,
        row: &T::Row,
        arrays: &[WholeArray<'_, T::Row>],
    ) -> Result<RestoredDocument> {
        let Restore { namespace, id: parent } = *self;
        let moved = Moved::new(policy, transaction, row).await?;
        let mut amends = Amends::default();
        for rule in policy.overflows() {
            Counters::default().write(rule, &Seen::of(row.version(), rule), &mut amends);
        }
        for whole in arrays {
            amends.edits.push((&whole.rule.path, Some(RawBson::Array(whole.array.clone()))));
        }
        let after = fields::edit(row, &amends.edits)?;
        if transaction.size(row, &after) > DOCUMENT_BYTES_MAX
            && let Some(largest) = largest(arrays)
        {
            return Ok(RestoredDocument::TooLarge(largest));
        }
        transaction.check(namespace, Some(row), &after)?;
        for WholeArray { rule, pages, .. } in arrays {
            let mut work = Work { policy, rule, transaction, parent };
            for page in pages {
                work.delete_page(page).await?;
            }
        }
        let sidecar = amends.sidecar(row.sidecar());
        let version = Version { document: &after, sidecar: sidecar.after(row.sidecar()) };
        moved.announce(transaction, version, &[]).await?;
        transaction.replace(namespace, row, version, Cause::UNKNOWN).await?;
        for WholeArray { rule, array, .. } in arrays {
            Work { policy, rule, transaction, parent }.prove_whole(array).await?;
        }
        let sum = |of: fn(&WholeArray<'_, T::Row>) -> usize| {
            arrays.iter().map(|whole| of(whole) as u64).sum::<u64>()
        };
        Ok(RestoredDocument::Whole {
            elements: sum(|whole| whole.elements),
            pages: sum(|whole| whole.pages.len()),
            bytes: sum(|whole| whole.bytes()),
        })
    }
}

/// The largest of some arrays, if no document could hold all of them.
fn too_large_together<R>(arrays: &[WholeArray<'_, R>]) -> Option<TooLargeArray> {
    let bytes: usize = arrays.iter().map(WholeArray::bytes).sum();
    largest(arrays).filter(|_| bytes > DOCUMENT_BYTES_MAX)
}

fn largest<R>(arrays: &[WholeArray<'_, R>]) -> Option<TooLargeArray> {
    arrays.iter().max_by_key(|whole| whole.bytes()).map(WholeArray::too_large)
}
