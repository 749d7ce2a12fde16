//! The pages of an array, read along with the documents that they are of.

use super::snapshot::Snapshot;
use crate::Error;
use bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf, doc};
use guard::patterns::place;
use guard::policy::Overflow;
use mongodb::{ClientSession, SessionCursor};
use std::cmp::Ordering;
use std::sync::Arc;
use value::element::{array_len, get_value};
use value::{Number, Path};

/// Both cursors are in the order of the documents' `_id`s, and then of the pages.
pub struct Pages {
    pub rule: Arc<Overflow>,
    pages: Ordered,
    /// What the index says of the pages: how many elements there are is known before they
    /// are read.
    counts: Ordered,
}

/// What the pages of a document say.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counted {
    pub pages: u64,
    pub elements: u64,
    /// Pages before them that are of no document.
    pub strays: u64,
}

impl Counted {
    /// Whether the document says the same, in the fields that the policy names.
    pub fn agrees(&self, rule: &Overflow, document: &RawDocument) -> bool {
        let said = |path: &Option<Path>| {
            let path = path.as_ref()?;
            place::find(document, path).map(|field| field.value())
        };
        let is = |path: &Option<Path>, expected: u64| {
            let number = said(path).and_then(Number::from_value);
            number.is_none_or(|number| number.to_i64_exact() == i64::try_from(expected).ok())
        };
        let head = match place::find(document, &rule.path).map(|head| head.value()) {
            Some(RawBsonRef::Array(head)) => array_len(head) as u64,
            _ => 0,
        };
        let flagged = said(&rule.flag).and_then(|flag| flag.as_bool());
        is(&rule.count, head + self.elements)
            && is(&rule.pages, self.pages)
            && flagged.is_none_or(|flag| flag == (self.pages > 0))
    }
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

    /// What the pages of a document say.
    pub async fn counted(
        &mut self,
        parent: RawBsonRef<'_>,
        session: &mut ClientSession,
    ) -> Result<Counted, Error> {
        let strays = self.counts.skip_to(Some(parent), session).await?;
        let mut counted = Counted { strays, ..Counted::default() };
        while let Some(row) = self.counts.next_of(parent, session).await? {
            let count = get_value(&row, "count").and_then(Number::from_value);
            let count = count.and_then(|count| count.to_i64_exact()).unwrap_or(0);
            counted.elements += u64::try_from(count).unwrap_or(0);
            counted.pages += 1;
        }
        Ok(counted)
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

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;
    use command::Namespace;

    #[test]
    fn a_page_that_is_missing_is_noticed() {
        let overflow = rawdoc! { "count": "n", "flag": "more", "pages": "s.pages" };
        let rule = rawdoc! { "max": 2, "on_limit": "overflow", "overflow": overflow };
        let policy = rawdoc! { "arrays": { "a": rule } };
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = guard::Policy::parse(&namespace, &policy).unwrap();
        let rule = policy.overflows().next().unwrap();
        let agrees = |pages: u64, elements: u64, document: RawDocumentBuf| {
            Counted { pages, elements, strays: 0 }.agrees(rule, &document)
        };
        let whole = || rawdoc! { "a": [1, 2], "n": 7, "more": true, "s": { "pages": 2 } };
        assert!(agrees(2, 5, whole()));
        // One of the two is missing, or all are, or one says that it has nothing.
        assert!(!agrees(1, 3, whole()) && !agrees(0, 0, whole()) && !agrees(2, 0, whole()));
        assert!(!agrees(0, 0, rawdoc! { "a": [1, 2], "more": true }));
        assert!(agrees(0, 0, rawdoc! { "a": [1, 2], "n": 2.0, "more": false }));
        // What says nothing is not contradicted.
        assert!(agrees(1, 3, rawdoc! { "a": [1, 2] }) && agrees(0, 0, rawdoc! {}));
    }
}
