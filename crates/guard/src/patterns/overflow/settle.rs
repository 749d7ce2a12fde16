//! Arrays that have no pages yet: counted, and cut where they pass the bounds.

use super::pack::head_len;
use super::{Counters, Done, Head, Mass, Seen, Work, array, is_missing, items, limits, load};
use crate::patterns::{bounds, place};
use crate::policy::{Keep, Overflow};
use bson::RawDocument;
use bson::spec::ElementType;
use error::{Code, Result};
use language::Needs;
use value::{Element, elements};
use write::Transaction;

/// An array as an update leaves it.
pub struct Settled<'d> {
    /// The document as it was,
    pub row: &'d RawDocument,
    /// what it said then,
    pub was: &'d Seen<'d>,
    /// the same document with more of it loaded,
    pub base: &'d RawDocument,
    /// and as it is now.
    pub after: &'d RawDocument,
    pub now: &'d Seen<'d>,
}

impl<'d> Settled<'d> {
    /// The array as it was, loaded if the update is about it.
    fn old(&self, rule: &Overflow) -> Option<Element<'d>> {
        match std::ptr::eq(self.base, self.row) {
            true => self.was.array,
            false => place::find(self.base, &rule.path),
        }
    }

    /// What becomes of an array that stays as it is or is appended to, and that the document
    /// keeps whole, as most do. What it held has been counted.
    pub fn fast(&self, rule: &Overflow) -> Option<Done> {
        if rule.path.len() > 1 || !rule.counted {
            return None;
        }
        let (old, now) = (self.old(rule)?, self.now.array?);
        let count = match &rule.count {
            Some(_) => self.was.counters().count?,
            None if is_array(&old) => old.children().count(),
            None => return place::identical(&old, &now).then(Done::default),
        };
        if place::identical(&old, &now) {
            return Some(Done::whole(count));
        }
        if !is_array(&old) || !is_array(&now) {
            return None;
        }
        let appended = now.children().after(&old.children())?;
        let len = count + appended.count();
        rule.head.hold(len, now.bytes.len()).then(|| Done::whole(len))
    }
}

impl<T: Transaction> Work<'_, T> {
    /// Settles the array of a document to insert; `None` if it is not to be touched.
    pub async fn settle_new(
        &mut self,
        document: &RawDocument,
        seen: &Seen<'_>,
    ) -> Result<Option<Done>> {
        self.check_path(document)?;
        let Some(found) = seen.array.filter(is_array) else { return Ok(Some(Done::default())) };
        let len = found.children().count();
        if !self.rule.head.hold(len, found.bytes.len()) && self.is_there().await? {
            // It keeps its pages: the insert fails.
            return Ok(None);
        }
        match self.keep(found, len, Mass::default()).await {
            // Someone else has inserted the document meanwhile. Done over, the insert fails by
            // the key that the client knows, not by that of a page.
            Err(error) if error.code() == Code::DuplicateKey && self.is_there().await? => {
                Err(Code::WriteConflict.error(format!(
                    "the document has been inserted meanwhile, with pages of '{}'",
                    self.rule.path
                )))
            }
            kept => kept.map(Some),
        }
    }

    /// Whether there is a document with the same `_id` already.
    async fn is_there(&mut self) -> Result<bool> {
        let namespace = &self.policy.namespace;
        let there = self.transaction.get(namespace, self.parent, &Needs::none()).await?;
        Ok(there.is_some())
    }

    /// Settles the array of a document after an update.
    pub async fn settle(&mut self, row: &T::Row, settled: &Settled<'_>) -> Result<Done> {
        let Settled { base, after, was, now, .. } = *settled;
        let old = settled.old(self.rule);
        if place::are_identical(old, now.array) {
            self.check_way(base, after)?;
            let counters = self.unchanged(row, was.counters(), old).await?;
            return Ok(Done { counters, ..Done::default() });
        }
        self.check_path(after)?;
        match now.array.filter(is_array) {
            Some(found) => {
                let len = found.children().count();
                let now = Mass::of_array(len, found.bytes.len());
                let before = match old {
                    // Only growth is refused.
                    Some(old) if !now.is_within(self.rule.total) => self.held(row, old).await?,
                    _ => Mass::default(),
                };
                self.keep(found, len, before).await
            }
            None => Ok(Done::default()),
        }
    }

    /// How much an array without pages holds. An update that puts another in its place need not
    /// have loaded it.
    async fn held(&mut self, row: &T::Row, array: Element<'_>) -> Result<Mass> {
        if is_array(&array) {
            return Ok(Mass::of_array(array.children().count(), array.bytes.len()));
        }
        let loaded = load(self.transaction, row, &Needs::none(), &[self.rule]).await?;
        Ok(Mass::of(&items(&loaded, self.rule)))
    }

    /// The counters of an array that stays as it is; the first write counts it.
    async fn unchanged(
        &mut self,
        row: &T::Row,
        was: Counters,
        array: Option<Element<'_>>,
    ) -> Result<Counters> {
        let Some(found) = array else { return Ok(Counters::default()) };
        if self.rule.count.is_none() {
            // Nothing is to be said of it.
            return Ok(Counters::default());
        }
        if let Counters { count: Some(count), .. } = was
            && self.rule.counted
        {
            return Ok(Counters::of_whole(count));
        }
        if found.kind == ElementType::Array {
            return Ok(Counters::of_whole(found.children().count()));
        }
        let nothing = Needs::none();
        if !is_missing(self.rule, row, &nothing) {
            return Ok(Counters::default());
        }
        let loaded = load(self.transaction, row, &nothing, &[self.rule]).await?;
        match place::find(&loaded, &self.rule.path).filter(is_array) {
            Some(_) => Ok(Counters::of_whole(items(&loaded, self.rule).len())),
            None => Ok(Counters::default()),
        }
    }

    /// Leaves in the document what it may keep, and moves the rest to pages. `before` is what
    /// the array held.
    async fn keep(&mut self, found: Element<'_>, len: usize, before: Mass) -> Result<Done> {
        if self.rule.head.hold(len, found.bytes.len()) {
            return Ok(Done::whole(len));
        }
        let all: Vec<Element<'_>> = found.children().items().collect();
        let all = self.within_total(&all, before)?;
        let (head, moved) = self.divide(all);
        let pages = self.append(moved, true).await?;
        let head = Head::Becomes(array(head));
        Ok(Done { head, counters: Counters::of(Mass::of(all), pages), paged: true })
    }

    /// Which elements the head keeps, and which go to pages.
    pub fn divide<'s, 'e>(&self, all: &'s [Element<'e>]) -> (&'s [Element<'e>], &'s [Element<'e>]) {
        let kept = head_len(self.rule, all);
        match self.rule.keep {
            Keep::Oldest => all.split_at(kept),
            Keep::Newest => {
                let (moved, head) = all.split_at(all.len() - kept);
                (head, moved)
            }
        }
    }

    /// Refuses a document in which the path goes through an array.
    pub fn check_path(&self, document: &RawDocument) -> Result<()> {
        let path = &self.rule.path;
        let mut fields = elements(document);
        for at in 0..path.len() - 1 {
            match fields.find_key(path.component(at)) {
                Some(inner) if inner.kind == ElementType::Array => {
                    return Err(limits::below_array(self.rule));
                }
                Some(inner) => fields = inner.children(),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// Refuses an update that puts an array on the way, where the path leads to nothing. In
    /// documents that had one there before the policy came, it lets nothing grow.
    fn check_way(&self, before: &RawDocument, after: &RawDocument) -> Result<()> {
        let path = &self.rule.path;
        if path.len() == 1 || place::unchanged(before, after, path) {
            return Ok(());
        }
        let refused = self.check_path(after);
        let was_so = refused.is_err() && self.check_path(before).is_err();
        if was_so && !bounds::grows(path, self.rule.head, before, after) {
            return Ok(());
        }
        refused
    }
}

fn is_array(found: &Element<'_>) -> bool {
    found.kind == ElementType::Array
}
