//! The pages of an array, read along with the documents that they are of.

use super::snapshot::Snapshot;
use crate::Error;
use bson::{Document, RawBsonRef, RawDocumentBuf, doc};
use guard::policy::Overflow;
use mongodb::{ClientSession, SessionCursor};
use std::cmp::Ordering;
use std::sync::Arc;
use value::Number;
use value::element::get_value;

/// Both cursors are in the order of the documents' `_id`s, and then of the pages.
pub struct Pages {
    pub rule: Arc<Overflow>,
    pages: Ordered,
    /// What the index says of the pages: how many elements there are is known before they
    /// are read.
    counts: Ordered,
}

impl Pages {
    pub async fn open(snapshot: &mut Snapshot, rule: &Arc<Overflow>) -> Result<Pages, Error> {
        let into = &*rule.into.collection;
        let key = &*rule.parent_key;
        let find = |projection: Document| {
            doc! {
                "find": into, "sort": { key: 1, "page": 1 }, "projection": projection,
                "noCursorTimeout": true,
            }
        };
        let counts = find(doc! { "_id": 0, key: 1, "page": 1, "count": 1 });
        let pages = find(doc! { "_id": 0, key: 1, rule.name(): 1 });
        Ok(Pages {
            pages: Ordered::open(snapshot, pages, key).await?,
            counts: Ordered::open(snapshot, counts, key).await?,
            rule: rule.clone(),
        })
    }

    /// How many elements the pages of a document hold, and how many pages before them are of
    /// none.
    pub async fn counted(
        &mut self,
        parent: RawBsonRef<'_>,
        session: &mut ClientSession,
    ) -> Result<(u64, u64), Error> {
        let strays = self.counts.skip_to(Some(parent), session).await?;
        let mut counted = 0;
        while let Some(row) = self.counts.next_of(parent, session).await? {
            let count = get_value(&row, "count").and_then(Number::from_value);
            let count = count.and_then(|count| count.to_i64_exact()).unwrap_or(0);
            counted += u64::try_from(count).unwrap_or(0);
        }
        Ok((counted, strays))
    }

    /// The next page of a document.
    pub async fn next_of(
        &mut self,
        parent: RawBsonRef<'_>,
        session: &mut ClientSession,
    ) -> Result<Option<RawDocumentBuf>, Error> {
        self.pages.skip_to(Some(parent), session).await?;
        self.pages.next_of(parent, session).await
    }

    /// How many pages are left, which are of no document.
    pub async fn rest(&mut self, session: &mut ClientSession) -> Result<u64, Error> {
        self.counts.skip_to(None, session).await
    }
}

struct Ordered {
    cursor: SessionCursor<Document>,
    key: Arc<str>,
    next: Option<RawDocumentBuf>,
}

impl Ordered {
    async fn open(snapshot: &mut Snapshot, find: Document, key: &str) -> Result<Ordered, Error> {
        let cursor = snapshot.open(find).await?;
        let mut ordered = Ordered { cursor, key: key.into(), next: None };
        ordered.step(&mut snapshot.session).await?;
        Ok(ordered)
    }

    async fn step(&mut self, session: &mut ClientSession) -> Result<Option<RawDocumentBuf>, Error> {
        let next = match self.cursor.advance(session).await? {
            true => Some(self.cursor.current().to_owned()),
            false => None,
        };
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// Passes over what is of documents before this one, or over everything.
    async fn skip_to(
        &mut self,
        parent: Option<RawBsonRef<'_>>,
        session: &mut ClientSession,
    ) -> Result<u64, Error> {
        let mut skipped = 0;
        while self.next.is_some()
            && parent.is_none_or(|parent| self.compare(parent) == Some(Ordering::Less))
        {
            self.step(session).await?;
            skipped += 1;
        }
        Ok(skipped)
    }

    async fn next_of(
        &mut self,
        parent: RawBsonRef<'_>,
        session: &mut ClientSession,
    ) -> Result<Option<RawDocumentBuf>, Error> {
        match self.compare(parent) {
            Some(Ordering::Equal) => self.step(session).await,
            _ => Ok(None),
        }
    }

    fn compare(&self, parent: RawBsonRef<'_>) -> Option<Ordering> {
        let next = get_value(self.next.as_ref()?, &self.key).unwrap_or(RawBsonRef::Null);
        Some(value::compare(next, parent))
    }
}
