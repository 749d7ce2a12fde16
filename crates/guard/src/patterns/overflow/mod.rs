//! Overflow, the outlier pattern: an array of any length, of which the document
//! keeps a head and pages keep the rest.
//!
//! The array is one sequence: head and then pages where the oldest elements are
//! kept, pages and then head where the newest are. While it fits the head, it is
//! an array like any other, and updates are applied to it as they are; what is
//! over the bound afterwards is moved to pages (`settle`). Once there are pages,
//! the part of an update that is about the array is taken apart from the rest
//! (`language::update::Part`) and goes, by its scope, to the pieces it is about:
//!
//! | scope | what it touches | |
//! |---|---|---|
//! | `End` | the last page, or the head | `append` |
//! | `First`, `Last` | the piece at that end | `ends` |
//! | `Each` | the pieces it changes | `each` |
//! | `Numbered` | the pieces that hold the numbers | `numbered` |
//! | `Whole` | everything, up to a limit | `whole` |
//! | `Value`, `Removed` | the array as a value | `assign` |
//!
//! Whoever writes to pages holds the intent on their document, so nobody else
//! does at the same time.

mod append;
mod assign;
mod change;
mod counters;
mod each;
mod ends;
mod limits;
mod numbered;
mod pack;
pub(crate) mod page;
mod piece;
mod refill;
mod resettle;
mod settle;
mod whole;

pub use assign::check_written_back;
pub(crate) use counters::int;
pub use counters::{Counters, Seen, has_pages};
pub use pack::{head_len, pages_of};
pub use page::{filter as page_filter, id as page_id};

use crate::guarded;
use crate::patterns::fields::{self, Edit};
use crate::patterns::sight::Sight;
use crate::patterns::{bounds, place};
use crate::policy::{Keep, OnLimit, Overflow, Policy};
use bson::spec::ElementType;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use change::Change;
use error::Result;
use language::Needs;
use language::update::{Part, Scope, Update};
use page::Page;
use settle::Settled;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use value::element::get_value;
use value::{Element, Path};
use write::{Applied, Counted, CountedArrays, Inserted, Length, Outcome, Transaction};

/// What an update does to the arrays that overflow.
#[derive(Debug)]
pub struct Plan {
    /// Whether it may change the arrays,
    arrays: bool,
    /// or what counts them.
    counters: bool,
    /// The update taken apart, once a document with pages is met.
    taken_apart: OnceLock<TakenApart>,
}

#[derive(Debug)]
struct TakenApart {
    /// A part for each array of the policy that overflows.
    parts: Vec<Option<Part>>,
    /// The update without those parts that can be taken apart from it.
    rest: Option<Update>,
}

impl Plan {
    pub fn new(policy: &Policy, update: &Update) -> Plan {
        let mut counters = policy.overflows().flat_map(|rule| rule.counters());
        Plan {
            arrays: policy.overflows().any(|rule| update.touches(&rule.path)),
            counters: counters.any(|path| update.touches(path)),
            taken_apart: OnceLock::new(),
        }
    }

    /// Whether the update is about neither the arrays nor what counts them.
    fn is_elsewhere(&self) -> bool {
        !self.arrays && !self.counters
    }

    fn taken_apart(&self, policy: &Policy, update: &Update) -> &TakenApart {
        self.taken_apart.get_or_init(|| {
            let mut taken = TakenApart { parts: Vec::new(), rest: None };
            for rule in policy.overflows() {
                let part = update.part(&rule.path);
                if part.as_ref().is_some_and(|part| part.update.is_some()) {
                    taken.rest = taken.rest.as_ref().unwrap_or(update).without(&rule.path);
                }
                taken.parts.push(part);
            }
            taken
        })
    }
}

/// What of a document must be loaded. Arrays that keep their oldest elements are left
/// out: a document with pages seldom needs its head.
pub fn needs(policy: &Policy, update: &Update, needs: &mut Needs) {
    let apart = |rule: &&Arc<Overflow>| rule.keep == Keep::Oldest && update.has_part(&rule.path);
    let paths: SmallVec<[&Path; 4]> =
        policy.overflows().filter(apart).map(|rule| &rule.path).collect();
    match paths.is_empty() {
        true => update.needs(needs),
        false => update.needs_without(&paths, needs),
    }
}

/// Work on one array of one document.
pub(crate) struct Work<'a, T: Transaction> {
    pub policy: &'a Policy,
    pub rule: &'a Overflow,
    pub transaction: &'a mut T,
    /// The `_id` of the document.
    pub parent: RawBsonRef<'a>,
}

/// What became of an array that has pages.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// The head, if it changes.
    head: Option<RawArrayBuf>,
    counters: Counters,
    /// Whether the update counts as one that changed the array.
    paged: bool,
}

impl Done {
    /// The edits of the document that come of it.
    pub fn write<'r>(self, rule: &'r Overflow, seen: &Seen<'_>, edits: &mut Vec<Edit<'r>>) {
        self.counters.write(rule, seen, edits);
        if let Some(head) = self.head {
            edits.push((&rule.path, Some(RawBson::Array(head))));
        }
    }
}

/// Puts what a new document holds over the bounds in pages; what is to change in the
/// document itself.
pub async fn insert<'p, T: Transaction>(
    policy: &'p Policy,
    transaction: &mut T,
    sight: &Sight<'_>,
) -> Result<Edits<'p>> {
    let document = sight.document();
    let parent = get_value(document, "_id").unwrap_or(RawBsonRef::Null);
    let mut edits = Edits { all: Vec::new(), add: true, counted: CountedArrays::new() };
    for (at, (rule, shown)) in sight.rules(&policy.arrays).enumerate() {
        let OnLimit::Overflow(rule) = &rule.on_limit else {
            edits.count(at, shown.length());
            continue;
        };
        let mut work = Work { policy, rule, transaction, parent };
        if let Some(done) = work.settle_new(document, shown).await? {
            edits.count(at, done.counters.length());
            edits.add &= done.head.is_none() && shown.seen.fields().iter().all(Option::is_none);
            done.write(rule, &shown.seen, &mut edits.all);
        }
    }
    Ok(edits)
}

/// What is to change in a new document.
pub struct Edits<'p> {
    all: Vec<Edit<'p>>,
    /// Whether they do nothing but add fields.
    add: bool,
    /// Its arrays, as they will be.
    counted: CountedArrays,
}

impl Edits<'_> {
    fn count(&mut self, rule: usize, length: Option<Length>) {
        if let Some(after) = length {
            self.counted.push(Counted { rule, before: None, after });
        }
    }

    pub fn apply<'d>(self, document: Cow<'d, RawDocument>) -> Result<Inserted<'d>> {
        let counted = self.counted;
        let shallow = |edit: &Edit<'_>| edit.0.len() == 1;
        let edited = match document {
            document if self.all.is_empty() => return Ok(Inserted { document, counted }),
            document if self.add && self.all.iter().all(shallow) => {
                fields::add(&document, &self.all)
            }
            Cow::Borrowed(document) => fields::edit(document, &self.all),
            Cow::Owned(document) => fields::edit_own(document, &self.all),
        };
        Ok(Inserted { document: Cow::Owned(edited?), counted })
    }
}

/// Deletes the pages of a document that is deleted.
pub async fn delete<T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    row: &T::Row,
) -> Result<()> {
    for rule in policy.overflows() {
        if has_pages(row, rule) {
            let parent = get_value(row, "_id").unwrap_or(RawBsonRef::Null);
            Work { policy, rule, transaction, parent }.clear().await?;
        }
    }
    Ok(())
}

/// Applies an update to a document, its pages included.
pub async fn update<T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    row: &T::Row,
    applied: &Applied<'_, guarded::Plan>,
) -> Result<Outcome> {
    let mut rules: Vec<Met<'_>> = Met::all(policy, row).collect();
    if applied.plan.overflow.is_elsewhere() && rules.iter().all(Met::is_settled) {
        let Some(after) = applied.update.apply(row, applied.matched)? else {
            return Ok(Outcome::default());
        };
        let after = within_bounds(policy, applied, row, after)?;
        let mut counted = CountedArrays::new();
        rules.iter().for_each(|met| met.count(met.was.counters(), &mut counted));
        return Ok(Outcome { after: Some(after), elsewhere: false, counted });
    }
    let parent = get_value(row, "_id").unwrap_or(RawBsonRef::Null);
    for met in rules.iter_mut().filter(|met| met.paged && !met.rule.counted) {
        // What says that there are pages may be older than the policy.
        let mut work = Work { policy, rule: met.rule, transaction, parent };
        met.paged = work.end_page(true).await?.is_some();
    }
    if rules.iter().any(|met| met.paged) {
        let taken = applied.plan.overflow.taken_apart(policy, applied.update);
        let change = Change { policy, rules: &rules, taken, row, applied };
        return change.with_pages(transaction).await;
    }
    // Arrays like any other, so far.
    let missing = missing(&rules, applied.update, applied.loaded);
    let loaded = match missing.is_empty() {
        true => None,
        false => Some(load(transaction, row, applied.loaded, &missing).await?),
    };
    let base: &RawDocument = loaded.as_deref().unwrap_or(row);
    let Some(after) = applied.update.apply(base, applied.matched)? else {
        return Ok(Outcome::default());
    };
    let after = within_bounds(policy, applied, base, after)?;
    let mut edits = Vec::new();
    let mut counted = CountedArrays::new();
    for met in &rules {
        let Met { rule, was, .. } = *met;
        let now = match applied.plan.overflow.counters {
            true => Seen::of(&after, rule),
            false => was.in_next(&after, rule),
        };
        let mut work = Work { policy, rule, transaction, parent };
        let done = work.settle(&Settled { row, was, base, after: &after, now }).await?;
        met.count(done.counters, &mut counted);
        done.write(rule, &now, &mut edits);
    }
    if edits.is_empty() {
        return Ok(Outcome { after: Some(after), elsewhere: false, counted });
    }
    // What the update wrote may be no more than counters that the server knows better.
    let after = fields::edit_own(after, &edits)?;
    let changed = after.as_bytes() != base.as_bytes();
    Ok(Outcome { after: changed.then_some(after), elsewhere: false, counted })
}

/// An array that an update meets.
#[derive(Clone, Copy)]
struct Met<'a> {
    /// Which array of the policy it is.
    at: usize,
    rule: &'a Arc<Overflow>,
    /// What the row says of it.
    was: Seen<'a>,
    /// Whether it has pages.
    paged: bool,
}

impl<'a> Met<'a> {
    /// The arrays of a document that overflow.
    fn all(policy: &'a Policy, row: &'a RawDocument) -> impl Iterator<Item = Met<'a>> {
        policy.arrays.iter().enumerate().filter_map(move |(at, rule)| {
            let OnLimit::Overflow(rule) = &rule.on_limit else { return None };
            let was = Seen::of(row, rule);
            Some(Met { at, rule, was, paged: was.counters().pages > 0 })
        })
    }

    /// Whether there is nothing to do while the array stays as it is: it has been
    /// counted, and the document says so in the right words.
    fn is_settled(&self) -> bool {
        let counters = self.was.counters();
        let is_counted = counters.count.is_some() == self.was.array.is_some();
        self.rule.counted && is_counted && counters.are_said(&self.was)
    }

    /// Adds how long the array was and is, if the document tells.
    fn count(&self, after: Counters, counted: &mut CountedArrays) {
        if let (Some(before), Some(after)) = (self.was.counters().length(), after.length()) {
            counted.push(Counted { rule: self.at, before: Some(before), after });
        }
    }
}

impl<T: Transaction> Work<'_, T> {
    /// Runs the part of an update that is about an array with pages.
    async fn run(&mut self, part: &Part, row: &T::Row, loaded: &Needs) -> Result<Done> {
        let Some(update) = &part.update else { return Ok(Done::default()) };
        let counters = self.counters(row, loaded).await?;
        if part.scope == Scope::End && self.rule.keep == Keep::Oldest {
            return self.append_end(update, counters).await;
        }
        if part.scope == Scope::Matched {
            return Err(limits::positional(self.rule));
        }
        let holder = self.head(row, loaded).await?;
        let head = items(holder.as_deref().unwrap_or(row), self.rule);
        match part.scope {
            Scope::End => self.append_head(update, &head, counters).await,
            Scope::First => self.pop(update, &head, counters, false).await,
            Scope::Last => self.pop(update, &head, counters, true).await,
            Scope::Each { all } => self.each(update, &head, counters, all).await,
            Scope::Numbered => self.numbered(part, &head, counters).await,
            _ => self.whole(update, &head, counters).await,
        }
    }

    /// The document's counters; taken anew if they say nothing, or are not to be
    /// trusted.
    async fn counters(&mut self, row: &T::Row, loaded: &Needs) -> Result<Counters> {
        let counters = Counters::read(row, self.rule);
        if counters.count.is_some() && self.rule.counted {
            return Ok(counters);
        }
        self.recount(row, loaded).await
    }

    /// What the counters of a document with pages ought to be.
    async fn recount(&mut self, row: &T::Row, loaded: &Needs) -> Result<Counters> {
        let holder = self.head(row, loaded).await?;
        let mut count = items(holder.as_deref().unwrap_or(row), self.rule).len();
        let (mut last, mut pages) = (0, 0);
        loop {
            let next = self.pages_after(last, page::Look::Count).await?;
            let Some(end) = next.last() else { break };
            last = end.number;
            pages += next.len();
            count += next.iter().map(Page::count).sum::<usize>();
        }
        Ok(Counters::of(count, pages))
    }

    /// The document with its head loaded, if the row has not got it.
    async fn head(&mut self, row: &T::Row, loaded: &Needs) -> Result<Option<T::Row>> {
        if !is_missing(self.rule, row, loaded) {
            return Ok(None);
        }
        load(self.transaction, row, loaded, &[self.rule]).await.map(Some)
    }
}

/// The elements of the array, as far as the document holds them.
fn items<'a>(document: &'a RawDocument, rule: &Overflow) -> Vec<Element<'a>> {
    match place::find(document, &rule.path) {
        Some(array) if array.kind == ElementType::Array => array.children().items().collect(),
        _ => Vec::new(),
    }
}

fn array(items: &[Element<'_>]) -> RawArrayBuf {
    let mut array = value::ArrayWriter::new();
    items.iter().for_each(|item| array.copy(*item));
    array.finish()
}

/// Whether the array may be there and not loaded.
fn is_missing(rule: &Overflow, row: &RawDocument, loaded: &Needs) -> bool {
    let found = place::find(row, &rule.path);
    found.is_some_and(|found| found.kind != ElementType::Array) && !loaded.contains(&rule.path)
}

/// The arrays that parts of an update are about and that are not loaded.
fn missing<'r>(rules: &[Met<'r>], update: &Update, loaded: &Needs) -> Vec<&'r Overflow> {
    let is_missing = |met: &&Met<'_>| {
        let path = &met.rule.path;
        met.was.array.is_some_and(|found| found.kind != ElementType::Array)
            && !loaded.contains(path)
            && update.has_part(path)
    };
    rules.iter().filter(is_missing).map(|met| &**met.rule).collect()
}

/// The row with some arrays loaded as well.
async fn load<T: Transaction>(
    transaction: &mut T,
    row: &T::Row,
    loaded: &Needs,
    rules: &[&Overflow],
) -> Result<T::Row> {
    let mut needs = loaded.clone();
    rules.iter().for_each(|rule| needs.add(&rule.path));
    transaction.load(row, &needs).await
}

/// The other bounds of the policy, kept before elements leave the document.
fn within_bounds(
    policy: &Policy,
    applied: &Applied<'_, guarded::Plan>,
    before: &RawDocument,
    after: RawDocumentBuf,
) -> Result<RawDocumentBuf> {
    match applied.plan.bounds {
        true => Ok(bounds::enforce(policy, Some(before), Cow::Owned(after))?.into_owned()),
        false => Ok(after),
    }
}
