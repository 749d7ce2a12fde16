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
//! | `Ends` | what is added at one end, and what is cut off | `cut` |
//! | `Each` | the pieces it changes | `each` |
//! | `Numbered` | the pieces that hold the numbers | `numbered` |
//! | `Whole` | everything, up to a limit | `whole` |
//! | `Value`, `Removed` | the array as a value | `assign` |
//!
//! A writer of pages holds the intent on their document, so that there is one at a time.

mod amends;
mod apart;
mod append;
mod assign;
mod change;
mod counters;
mod cut;
mod each;
mod ends;
mod glance;
mod insert;
pub(crate) mod limits;
mod mass;
mod numbered;
mod pack;
pub(crate) mod page;
mod pattern;
mod piece;
mod prepend;
mod push;
mod refill;
mod resettle;
mod restore;
mod ripple;
mod settle;
mod sidecar;
mod total;
mod update;
mod whole;

pub(crate) use amends::Amends;
pub use apart::Apart;
pub use assign::{check_read_to_replace, check_written_back};
pub(crate) use change::Basis;
pub(crate) use counters::int;
pub use counters::{Counters, Seen, has_pages, shows_pages};
pub(crate) use glance::Glance;
pub(crate) use limits::filters_head;
pub use mass::Mass;
pub use pack::{head_len, pages_of};
pub use page::{bytes as page_bytes, filter as page_filter, id as page_id};
pub(crate) use pattern::Outlier;
pub(crate) use restore::Gathered;
pub(crate) use total::has_room;

use crate::adopt::Over;
use crate::patterns::place::{self, id};
use crate::policy::{Keep, Overflow, Policy, Read};
use bson::spec::ElementType;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use error::Result;
use language::Needs;
use language::update::{Part, Scope, Update};
use value::Element;
use write::{StoredRow, Transaction};

/// Work on one array of one document.
pub(crate) struct Work<'a, T: Transaction> {
    pub policy: &'a Policy,
    pub rule: &'a Overflow,
    pub transaction: &'a mut T,
    /// The `_id` of the document.
    pub parent: RawBsonRef<'a>,
}

/// What became of an array.
#[derive(Debug, Default)]
pub(crate) struct Done {
    head: Head,
    counters: Counters,
    /// Whether the update counts as one that changed the array, whatever became of the
    /// document.
    paged: bool,
}

/// What the document is to hold of an array.
#[derive(Debug, Default)]
enum Head {
    /// What the update has written, or left.
    #[default]
    AsWritten,
    /// What it held before the update.
    Stays,
    Becomes(RawArrayBuf),
}

impl Done {
    /// Of an array that its document keeps whole.
    fn whole(len: usize) -> Done {
        Done { counters: Counters::of_whole(len), ..Done::default() }
    }

    /// Of an array that stays as it is, its pages too.
    fn stays(counters: Counters) -> Done {
        Done { head: Head::Stays, counters, paged: false }
    }

    /// The same where the document holds something else now, and is to hold this head
    /// unless it becomes another.
    fn with_head(self, head: &RawArrayBuf) -> Done {
        match self.head {
            Head::Becomes(_) => self,
            _ => Done { head: Head::Becomes(head.clone()), ..self },
        }
    }

    /// The array, if it is over its bounds as a whole. One without pages is not.
    pub fn over_total(&self, rule: &Overflow) -> Option<Over> {
        let mass = Some(self.counters).filter(|it| it.pages > 0)?.mass();
        Over::total(rule, mass)
    }

    /// The edits of the document that come of it.
    pub fn write<'r>(self, rule: &'r Overflow, seen: &Seen<'_>, amends: &mut Amends<'r>) {
        self.counters.write(rule, seen, amends);
        if let Head::Becomes(head) = self.head {
            amends.edits.push((&rule.path, Some(RawBson::Array(head))));
        }
    }
}

/// Deletes the pages of a document that is deleted.
async fn delete<T: Transaction>(policy: &Policy, transaction: &mut T, row: &T::Row) -> Result<()> {
    for rule in policy.overflows() {
        if has_pages(row.version(), rule) {
            Work { policy, rule, transaction, parent: id(row) }.clear().await?;
        }
    }
    Ok(())
}

impl<T: Transaction> Work<'_, T> {
    /// Runs the part of an update that is about an array with pages.
    async fn run(
        &mut self,
        part: &Part,
        update: &Update,
        row: &T::Row,
        loaded: &Needs,
        counters: Counters,
    ) -> Result<Done> {
        if part.scope == Scope::End && self.rule.keep == Keep::Oldest {
            return self.append_end(update, counters).await;
        }
        let shows_newest = self.rule.read == Read::Head && self.rule.keep == Keep::Newest;
        if part.scope == Scope::Numbered && shows_newest {
            return Err(limits::numbers_newest(self.rule));
        }
        let holder = self.head(row, loaded).await?;
        let head = items(holder.as_deref().unwrap_or(row), self.rule);
        match part.scope {
            Scope::End => self.append_head(update, &head, counters).await,
            Scope::Ends(ends) => self.push(update, (ends, &part.added()), &head, counters).await,
            Scope::First => self.pop(update, &head, counters, false).await,
            Scope::Last => self.pop(update, &head, counters, true).await,
            Scope::Each { all } => self.each(update, &head, counters, all).await,
            Scope::Numbered => self.numbered(part, &head, counters).await,
            _ => self.whole(update, &head, counters).await,
        }
    }

    /// The document's counters; counted again if they say nothing, or are not to be
    /// trusted.
    async fn counters(&mut self, row: &T::Row, loaded: &Needs) -> Result<Counters> {
        let counters = Counters::read(row.version(), self.rule);
        if counters.count.is_some() && self.rule.counted {
            return Ok(counters);
        }
        self.recount(row, loaded).await
    }

    /// The same, and what the array takes, where that is to be kept.
    async fn weighed(&mut self, row: &T::Row, loaded: &Needs) -> Result<Counters> {
        let counters = self.counters(row, loaded).await?;
        match self.rule.is_weighed() && counters.bytes.is_none() {
            true => self.recount(row, loaded).await,
            false => Ok(counters),
        }
    }

    /// What the counters of a document with pages ought to be.
    async fn recount(&mut self, row: &T::Row, loaded: &Needs) -> Result<Counters> {
        let holder = self.head(row, loaded).await?;
        let head = Mass::of(&items(holder.as_deref().unwrap_or(row), self.rule));
        let pages = self.page_sizes().await?;
        let paged: Mass = pages.iter().map(|page| page.mass).sum();
        Ok(Counters::of(head + paged, pages.len()))
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
