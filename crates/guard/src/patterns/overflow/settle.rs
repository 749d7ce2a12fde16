//! Arrays that have no pages yet: counted, and cut where they pass the bounds.

use super::pack::head_len;
use super::{Counters, Work, array, is_missing, items, limits, load};
use crate::patterns::fields::Edit;
use crate::patterns::place;
use crate::policy::Keep;
use bson::RawDocument;
use bson::spec::ElementType;
use error::Result;
use language::Needs;
use value::{Element, elements};
use write::Transaction;

impl<T: Transaction> Work<'_, T> {
    /// Settles the array of a document to insert.
    pub async fn settle_new(
        &mut self,
        document: &RawDocument,
        edits: &mut Vec<Edit>,
    ) -> Result<()> {
        self.check_path(document)?;
        let Some(found) = array_at(document, self.rule) else {
            Counters::default().write(self.rule, document, edits);
            return Ok(());
        };
        let all: Vec<Element<'_>> = found.children().items().collect();
        if !self.rule.head.hold(all.len(), found.bytes.len()) {
            // A document that is there already keeps its pages: the insert fails.
            let namespace = &self.policy.namespace;
            let there = self.transaction.get(namespace, self.parent, &Needs::none()).await?;
            if there.is_some() {
                return Ok(());
            }
        }
        self.keep(document, found, all, edits).await
    }

    /// Settles the array of a document after an update. `row` is the document as
    /// it was, `base` the same with more of it loaded.
    pub async fn settle(
        &mut self,
        row: &T::Row,
        base: &RawDocument,
        after: &RawDocument,
        edits: &mut Vec<Edit>,
    ) -> Result<()> {
        let (old, new) = (place::find(base, &self.rule.path), place::find(after, &self.rule.path));
        let unchanged = match (old, new) {
            (Some(old), Some(new)) => super::identical(&old, &new),
            (None, None) => true,
            _ => false,
        };
        if unchanged {
            let counters = self.unchanged(row, base).await?;
            counters.write(self.rule, after, edits);
            return Ok(());
        }
        self.check_path(after)?;
        match array_at(after, self.rule) {
            Some(found) => {
                let all = found.children().items().collect();
                self.keep(after, found, all, edits).await
            }
            None => {
                Counters::default().write(self.rule, after, edits);
                Ok(())
            }
        }
    }

    /// The counters of an array that stays as it is; the first write counts it.
    async fn unchanged(&mut self, row: &T::Row, base: &RawDocument) -> Result<Counters> {
        let Some(found) = place::find(base, &self.rule.path) else {
            return Ok(Counters::default());
        };
        if let Counters { count: Some(count), .. } = Counters::read(row, self.rule) {
            return Ok(Counters::of(count, 0));
        }
        if found.kind == ElementType::Array {
            return Ok(Counters::of(found.children().items().count(), 0));
        }
        let nothing = Needs::none();
        if !is_missing(self.rule, row, &nothing) {
            return Ok(Counters::default());
        }
        let loaded = load(self.transaction, row, &nothing, &[self.rule]).await?;
        match array_at(&loaded, self.rule) {
            Some(_) => Ok(Counters::of(items(&loaded, self.rule).len(), 0)),
            None => Ok(Counters::default()),
        }
    }

    /// Leaves in the document what it may keep, and moves the rest to pages.
    async fn keep(
        &mut self,
        document: &RawDocument,
        found: Element<'_>,
        all: Vec<Element<'_>>,
        edits: &mut Vec<Edit>,
    ) -> Result<()> {
        if self.rule.head.hold(all.len(), found.bytes.len()) {
            Counters::of(all.len(), 0).write(self.rule, document, edits);
            return Ok(());
        }
        let kept = head_len(self.rule, &all);
        let (head, moved) = match self.rule.keep {
            Keep::Oldest => all.split_at(kept),
            Keep::Newest => {
                let (moved, head) = all.split_at(all.len() - kept);
                (head, moved)
            }
        };
        let pages = self.append(moved, true).await?;
        super::set(edits, self.rule, array(head));
        Counters::of(all.len(), pages).write(self.rule, document, edits);
        Ok(())
    }

    /// Refuses a document in which the path goes through an array.
    fn check_path(&self, document: &RawDocument) -> Result<()> {
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
}

fn array_at<'a>(document: &'a RawDocument, rule: &crate::policy::Overflow) -> Option<Element<'a>> {
    place::find(document, &rule.path).filter(|found| found.kind == ElementType::Array)
}
