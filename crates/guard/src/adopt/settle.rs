//! One document settled under its policy, in a transaction of its own.

use super::{Over, looked_at};
use crate::Roles;
use crate::patterns::overflow::{self, Seen};
use crate::patterns::{bounds, fields, place};
use crate::policy::Policy;
use crate::read::Moved;
use bson::{RawBsonRef, RawDocument};
use command::Namespace;
use error::{Code, Error, Result};
use language::Needs;
use std::borrow::Cow;
use std::ops::Deref;
use value::Path;
use write::{
    Backend, Cause, StoredRow, Transaction, TransactionBody, Transactions, Version, attempt,
    in_transaction,
};

/// How far a document is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Its counters are made right; what it holds stays where it is.
    Counters,
    /// It is brought into bounds as well.
    Bounds,
}

#[derive(Debug, Default)]
pub struct SettledDocument {
    /// Whether the document became another, or its pages others.
    pub changed: bool,
    pub cost: Cost,
    /// What is over its bounds still.
    pub over: Vec<Over>,
}

/// What settling moves and drops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Elements that move.
    pub elements: u64,
    /// Pages that are written, and their bytes.
    pub pages: u64,
    pub bytes: u64,
    /// Elements that are dropped.
    pub dropped: u64,
}

impl Cost {
    pub fn add(&mut self, other: Cost) {
        self.elements += other.elements;
        self.pages += other.pages;
        self.bytes += other.bytes;
        self.dropped += other.dropped;
    }
}

/// Settles the document with this `_id`; `None` if there is none.
pub async fn settle<B>(
    backend: &B,
    namespace: &Namespace,
    id: RawBsonRef<'_>,
    aim: Aim,
) -> Result<Option<SettledDocument>>
where
    B: Backend,
    B::Transaction: Transaction<Guard: Deref<Target = Roles>>,
{
    in_transaction(backend, &mut Settle { namespace, id, aim }).await
}

/// What work on a document would do.
#[derive(Debug)]
pub struct Rehearsed<O> {
    pub outcome: Result<O>,
    /// Index entries that would be added and removed, where that is known.
    pub entries: Option<u64>,
}

/// The same in a transaction that is rolled back: what settling would do.
pub async fn rehearse_settle<S>(
    source: &S,
    namespace: &Namespace,
    id: RawBsonRef<'_>,
    aim: Aim,
) -> Result<Rehearsed<Option<SettledDocument>>>
where
    S: Transactions,
    S::Transaction: Transaction<Guard: Deref<Target = Roles>>,
{
    rehearse(source, &mut Settle { namespace, id, aim }).await
}

/// Does work in a transaction that is rolled back. A document at a time, so that no writer
/// waits for long.
pub(crate) async fn rehearse<S: Transactions, W: TransactionBody<S::Transaction>>(
    source: &S,
    work: &mut W,
) -> Result<Rehearsed<W::Outcome>> {
    let mut transaction = source.begin().await?;
    let outcome = attempt(&mut transaction, work).await;
    Ok(Rehearsed { outcome, entries: transaction.index_entries() })
}

/// Gives pages the count of the elements they hold, deletes empty ones, and makes
/// the document's counters right.
pub async fn mend_pages<B>(
    backend: &B,
    namespace: &Namespace,
    id: RawBsonRef<'_>,
) -> Result<Option<SettledDocument>>
where
    B: Backend,
    B::Transaction: Transaction<Guard: Deref<Target = Roles>>,
{
    in_transaction(backend, &mut Mend { namespace, id }).await
}

/// Deletes the pages of a document that is no more, those of one array. False if it is there
/// after all, or the array overflows no longer.
pub async fn remove_orphans<B>(
    backend: &B,
    namespace: &Namespace,
    path: &Path,
    parent: RawBsonRef<'_>,
) -> Result<bool>
where
    B: Backend,
    B::Transaction: Transaction<Guard: Deref<Target = Roles>>,
{
    in_transaction(backend, &mut Remove { namespace, path, parent }).await
}

struct Settle<'a> {
    namespace: &'a Namespace,
    id: RawBsonRef<'a>,
    aim: Aim,
}

struct Mend<'a> {
    namespace: &'a Namespace,
    id: RawBsonRef<'a>,
}

struct Remove<'a> {
    namespace: &'a Namespace,
    path: &'a Path,
    parent: RawBsonRef<'a>,
}

impl<T: Transaction<Guard: Deref<Target = Roles>>> TransactionBody<T> for Settle<'_> {
    type Outcome = Option<SettledDocument>;

    async fn attempt(&mut self, transaction: &mut T) -> Result<Option<SettledDocument>> {
        let Some(first) = self.pass(transaction).await? else { return Ok(None) };
        if !first.shortened {
            return Ok(Some(first.document));
        }
        // What is left is packed as it was.
        let Some(second) = self.pass(transaction).await? else { return Ok(None) };
        let mut settled = second.document;
        settled.cost.add(first.document.cost);
        settled.changed |= first.document.changed;
        Ok(Some(settled))
    }
}

/// What one look at a document has made of it.
struct Pass {
    document: SettledDocument,
    /// Whether arrays with pages have lost elements.
    shortened: bool,
}

impl Settle<'_> {
    async fn pass<T>(&self, transaction: &mut T) -> Result<Option<Pass>>
    where
        T: Transaction<Guard: Deref<Target = Roles>>,
    {
        let Settle { namespace, id, aim } = *self;
        let Some(guard) = transaction.guard(namespace).await? else {
            return Err(no_policy(namespace));
        };
        let policy = guard.rules()?;
        let mut needs = looked_at(policy);
        transaction.check_needs(namespace, &mut needs);
        Moved::<T::Row>::needs(transaction, namespace, &mut needs);
        let Some(row) = transaction.get(namespace, id, &needs).await? else { return Ok(None) };
        let moved = Moved::new(policy, transaction, &row).await?;
        let mut settled = SettledDocument::default();
        let mut after: Cow<'_, RawDocument> = Cow::Borrowed(&row);
        if aim == Aim::Bounds {
            for rule in &policy.arrays {
                settled.cost.dropped += bounds::dropped(rule, &after).elements as u64;
                if let Some(trimmed) = bounds::trimmed(rule, &after) {
                    after = Cow::Owned(trimmed);
                }
            }
        }
        let mut amends = overflow::Amends::default();
        let (mut totals, mut shorter) = (Vec::new(), Vec::new());
        let parent = place::id(&row);
        for rule in policy.overflows() {
            let mut work = overflow::Work { policy, rule, transaction, parent };
            let (done, cost) = work.resettle(&row, &needs, aim).await?;
            totals.extend(done.over_total(rule));
            shorter.extend((cost.dropped > 0).then_some(&rule.path));
            done.write(rule, &Seen::of(row.version(), rule), &mut amends);
            settled.cost.add(cost);
        }
        if !amends.edits.is_empty() {
            after = Cow::Owned(fields::edit(&after, &amends.edits)?);
        }
        settled.over = Over::of(policy, &after, transaction.size(&row, &after));
        settled.over.extend(totals);
        // Pages may be repacked beside a document that says what it said before.
        settled.changed = settled.cost != Cost::default();
        let sidecar = amends.sidecar(row.sidecar());
        let is_other = after.as_bytes() != row.as_bytes();
        if is_other {
            transaction.check(namespace, Some(&row), &after)?;
        }
        let version = Version { document: &after, sidecar: sidecar.after(row.sidecar()) };
        let is_seen = moved.announce(transaction, version, &shorter).await?;
        if is_other || sidecar.changes() || is_seen {
            transaction.replace(namespace, &row, version, Cause::UNKNOWN).await?;
            settled.changed = true;
        }
        Ok(Some(Pass { document: settled, shortened: !shorter.is_empty() }))
    }
}

impl<T: Transaction<Guard: Deref<Target = Roles>>> TransactionBody<T> for Mend<'_> {
    type Outcome = Option<SettledDocument>;

    async fn attempt(&mut self, transaction: &mut T) -> Result<Option<SettledDocument>> {
        let Mend { namespace, id } = *self;
        let Some(guard) = transaction.guard(namespace).await? else {
            return Err(no_policy(namespace));
        };
        let policy = guard.rules()?;
        // The document first: its intent covers its pages.
        let there = transaction.get(namespace, id, &Needs::none()).await?;
        if there.is_none() {
            return Ok(None);
        }
        for rule in policy.overflows() {
            overflow::Work { policy, rule, transaction, parent: id }.mend().await?;
        }
        Settle { namespace, id, aim: Aim::Counters }.attempt(transaction).await
    }
}

impl<T: Transaction<Guard: Deref<Target = Roles>>> TransactionBody<T> for Remove<'_> {
    type Outcome = bool;

    async fn attempt(&mut self, transaction: &mut T) -> Result<bool> {
        let Remove { namespace, path, parent } = *self;
        let Some(guard) = transaction.guard(namespace).await? else {
            return Err(no_policy(namespace));
        };
        let policy: &Policy = guard.rules()?;
        let Some(rule) = policy.overflows().find(|rule| rule.path == *path) else {
            return Ok(false);
        };
        if transaction.get(namespace, parent, &Needs::none()).await?.is_some() {
            return Ok(false);
        }
        overflow::Work { policy, rule, transaction, parent }.clear().await?;
        // Nothing held it back: it may have come meanwhile, with pages of its own.
        match transaction.get(namespace, parent, &Needs::none()).await? {
            Some(_) => Err(Code::WriteConflict.error("the document has been inserted again")),
            None => Ok(true),
        }
    }
}

/// The refusal of what needs a policy.
pub fn no_policy(namespace: &Namespace) -> Error {
    Code::BadValue.error(format!(
        "'{namespace}' has no growth policy; set one with setGrowthPolicy or 'freeboard apply'"
    ))
}
