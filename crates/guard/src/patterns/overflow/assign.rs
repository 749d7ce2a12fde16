//! An array with pages written as one value: `$set`, `$unset`, replacements,
//! pipelines. What a client has read as the array may be only its head, so
//! writing it back must not lose the pages.

use super::whole::Loaded;
use super::{Counters, Done, Head, Work, array, items, limits, shows_pages};
use crate::patterns::place::identical;
use crate::patterns::{fields, place};
use crate::policy::{Overflow, Read};
use bson::spec::ElementType;
use bson::{RawArrayBuf, RawBson, RawDocument};
use error::Result;
use language::Needs;
use language::query::Matched;
use language::update::{Scope, Update};
use value::Element;
use write::limits::DOCUMENT_BYTES_MAX;
use write::{Transaction, Version};

/// How the array is written.
pub struct Assigned<'a, R> {
    pub scope: Scope,
    pub update: &'a Update,
    /// The pages, if they have been loaded.
    pub loaded: Option<&'a Loaded<R>>,
    /// As they were.
    pub counters: Counters,
}

impl<T: Transaction> Work<'_, T> {
    /// `row` is the document as it was, `after` as the update has left it.
    pub async fn assign(
        &mut self,
        assigned: Assigned<'_, T::Row>,
        row: &T::Row,
        after: &RawDocument,
        loaded: &Needs,
    ) -> Result<Done> {
        let counters = assigned.counters;
        let old = place::find(row, &self.rule.path);
        let new = place::find(after, &self.rule.path);
        match assigned.scope {
            Scope::Renamed if self.rule.read == Read::Head => {
                return Err(limits::renamed(self.rule));
            }
            Scope::Removed => return self.emptied(None).await,
            Scope::Compared if self.rule.read == Read::Head => {
                return Err(limits::compares_head(self.rule, counters.pages));
            }
            _ => self.check_path(after)?,
        }
        if self.rule.read == Read::Head && assigned.update.goes_below(&self.rule.path) {
            // What becomes of the head says nothing of what would become of the pages.
            return Err(limits::replaces_head(self.rule, counters.pages));
        }
        if self.is_untouched(&assigned, row, old, new)? {
            return Ok(Done::stays(counters));
        }
        if self.rule.read == Read::Merged {
            return self.write_whole(assigned, row, new, loaded).await;
        }
        let update = assigned.update;
        match new {
            // What is left of a head, or was copied from it, says nothing of the pages.
            _ if update.computes_from(&self.rule.path) && new.is_none_or(is_empty) => {
                Err(limits::replaces_head(self.rule, counters.pages))
            }
            Some(new) if is_empty(new) && old.is_some_and(is_empty) && !update.is_replacement() => {
                Err(limits::empty_head(self.rule, counters.pages))
            }
            None if update.is_pipeline() => self.emptied(None).await,
            Some(new) if new.kind == ElementType::Array => {
                let holder = self.head(row, loaded).await?;
                let head = items(holder.as_deref().unwrap_or(row), self.rule);
                let new: Vec<Element<'_>> = new.children().items().collect();
                let equal = head.len() == new.len()
                    && head
                        .iter()
                        .zip(&new)
                        .all(|(a, b)| value::compare(a.value(), b.value()).is_eq());
                if equal {
                    return Ok(Done { counters, ..Done::default() });
                }
                let longer = counters.count.is_some_and(|count| new.len() > count);
                match longer && !update.computes_from(&self.rule.path) {
                    true => self.extended(row, loaded, counters, &new).await,
                    false => Err(limits::replaces_head(self.rule, counters.pages)),
                }
            }
            _ => Err(limits::replaces_head(self.rule, counters.pages)),
        }
    }

    /// Whether the update leaves the array alone. What it writes may happen to be
    /// the same as the head, which says little of an empty head, and nothing where
    /// the whole array is written; an update that does not look at the array would
    /// write the same in the place of any other.
    fn is_untouched(
        &self,
        assigned: &Assigned<'_, T::Row>,
        row: &T::Row,
        old: Option<Element<'_>>,
        new: Option<Element<'_>>,
    ) -> Result<bool> {
        let (Some(old), Some(new)) = (old, new) else { return Ok(false) };
        if let Some(loaded) = assigned.loaded {
            let whole = array(&loaded.items(self.rule));
            return Ok(new.kind == ElementType::Array && new.bytes == whole.as_bytes());
        }
        if !identical(&old, &new) {
            return Ok(false);
        }
        let head_only = self.rule.read == Read::Head && !is_empty(new);
        if head_only || (assigned.update.is_replacement() && self.rule.read == Read::Head) {
            return Ok(true);
        }
        let mut other = RawArrayBuf::new();
        other.push(RawBson::MinKey);
        let edit = (&self.rule.path, Some(RawBson::Array(other.clone())));
        let marked = fields::edit(row, &[edit])?;
        let Some(after) = assigned.update.apply(&marked, Matched::default())? else {
            return Ok(true);
        };
        let left = place::find(&after, &self.rule.path);
        Ok(left.is_some_and(|left| left.bytes == other.as_bytes()))
    }

    /// All pages go. `count` is what is left: an empty array, or none.
    async fn emptied(&mut self, count: Option<usize>) -> Result<Done> {
        self.clear().await?;
        let counters = Counters { count, ..Counters::default() };
        Ok(Done { head: Head::AsWritten, counters, paged: true })
    }

    /// The array written begins with all that there is: elements are appended.
    async fn extended(
        &mut self,
        row: &T::Row,
        loaded: &Needs,
        counters: Counters,
        new: &[Element<'_>],
    ) -> Result<Done> {
        let sequence = self.load_all(row, loaded, counters).await?;
        let old = sequence.items(self.rule);
        if !old.iter().zip(new).all(|(a, b)| identical(a, b)) {
            return Err(limits::replaces_head(self.rule, counters.pages));
        }
        let done = self.rewrite(&sequence.head(), &sequence.pages, new).await?;
        Ok(done.with_head(&sequence.head))
    }

    /// Refuses to replace an array that no client can have read whole: it would be too large
    /// for a reply.
    async fn check_seen_whole(&mut self, row: &T::Row) -> Result<()> {
        let pages: usize = self.page_sizes().await?.iter().map(|page| page.bytes).sum();
        match self.transaction.size(row, row) + pages > DOCUMENT_BYTES_MAX {
            true => Err(limits::replaces_unseen(self.rule)),
            false => Ok(()),
        }
    }

    /// The array written is the whole sequence.
    async fn write_whole(
        &mut self,
        assigned: Assigned<'_, T::Row>,
        row: &T::Row,
        new: Option<Element<'_>>,
        loaded: &Needs,
    ) -> Result<Done> {
        if assigned.loaded.is_none() && !matches!(assigned.scope, Scope::Removed) {
            self.check_seen_whole(row).await?;
        }
        let Some(new) = new.filter(|new| new.kind == ElementType::Array) else {
            return self.emptied(None).await;
        };
        if is_empty(new) {
            return self.emptied(Some(0)).await;
        }
        let counters = assigned.counters;
        let own;
        let sequence = match assigned.loaded {
            Some(sequence) => sequence,
            None => {
                own = self.load_all(row, loaded, counters).await?;
                &own
            }
        };
        let new: Vec<Element<'_>> = new.children().items().collect();
        let old = sequence.items(self.rule);
        if old.len() == new.len() && old.iter().zip(&new).all(|(a, b)| identical(a, b)) {
            return Ok(Done::stays(counters).with_head(&sequence.head));
        }
        let done = self.rewrite(&sequence.head(), &sequence.pages, &new).await?;
        Ok(done.with_head(&sequence.head))
    }
}

/// Refuses what a read has shown of an array with pages where it is to stand for the
/// whole array, in a document that takes the place of `old`.
pub fn check_written_back(rule: &Overflow, old: Version<'_>, new: &RawDocument) -> Result<()> {
    let pages = Counters::read(old, rule).pages;
    let array = place::find(new, &rule.path);
    let Some(array) = array.filter(|_| pages > 0 && rule.read == Read::Head) else { return Ok(()) };
    let is_head = shows_pages(new, rule)
        || place::find(old.document, &rule.path).is_some_and(|head| identical(&head, &array));
    if is_head { Err(limits::replaces_head(rule, pages)) } else { Ok(()) }
}

/// Refuses a document with pages whose head alone has been read, by what is to take the place
/// of its collection.
pub fn check_read_to_replace(rule: &Overflow, document: &RawDocument) -> Result<()> {
    match shows_pages(document, rule) {
        false => Ok(()),
        true => Err(limits::reads_head(rule)),
    }
}

fn is_empty(value: Element<'_>) -> bool {
    value.kind == ElementType::Array && value.children().items().next().is_none()
}
