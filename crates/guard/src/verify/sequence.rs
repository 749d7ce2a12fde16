//! One array of one document: its head, its pages in order, and its counters.

use super::{Drift, DriftKind};
use crate::adopt::PageSize;
use crate::patterns::overflow::{Counters, Mass, Seen, int, page_id};
use crate::policy::Overflow;
use bson::spec::ElementType;
use bson::{RawBson, RawBsonRef, RawDocument};
use value::element::{get, get_value};
use value::{Element, Number, compare};
use write::Version;

pub struct Sequence<'a> {
    rule: &'a Overflow,
    /// The `_id` of the document.
    parent: RawBsonRef<'a>,
    /// The numbers of the first page and of the last one met.
    first: Option<i64>,
    last: Option<i64>,
    /// Elements on pages so far,
    pub elements: u64,
    /// and what their values take.
    bytes: usize,
    pub pages: u64,
    /// Numbers that no page has. They may be left out.
    pub gaps: u64,
    pub drifts: Vec<Drift>,
}

impl<'a> Sequence<'a> {
    pub fn new(rule: &'a Overflow, parent: RawBsonRef<'a>) -> Sequence<'a> {
        Sequence {
            rule,
            parent,
            first: None,
            last: None,
            elements: 0,
            bytes: 0,
            pages: 0,
            gaps: 0,
            drifts: Vec::new(),
        }
    }

    /// Looks at the next page, which weighs so much, and gives back what it holds.
    pub fn page(&mut self, page: &RawDocument, bytes: usize) -> Mass {
        self.pages += 1;
        let number = get_value(page, "page").and_then(Number::from_value);
        let stated = number.and_then(Number::to_i64_exact);
        let number = stated.unwrap_or(0);
        let id = RawBson::Document(page_id(self.rule, self.parent, number));
        let own = get_value(page, "_id").unwrap_or(RawBsonRef::Null);
        if stated.is_none() || compare(own, id.as_raw_bson_ref()).is_ne() {
            self.drift(DriftKind::PageShape, number, Some(own.into()), Some(id));
        }
        match self.last.map_or(number, |last| number.saturating_sub(last)) {
            0 if self.last.is_some() => self.drift(DriftKind::PageOrder, number, None, None),
            ahead => self.gaps += u64::try_from(ahead - 1).unwrap_or(0),
        }
        self.first.get_or_insert(number);
        self.last = Some(number);
        let Some(array) = get(page, self.rule.name()).filter(|it| it.kind == ElementType::Array)
        else {
            self.drift(DriftKind::PageShape, number, None, Some(self.rule.name().into()));
            return Mass::default();
        };
        let items = array.children().items().map(|item| item.bytes.len());
        let mass = Mass { count: array.children().count(), bytes: items.sum() };
        let count = mass.count;
        self.elements += count as u64;
        self.bytes += mass.bytes;
        let said = get_value(page, "count").unwrap_or(RawBsonRef::Null);
        let expected = int(count);
        if compare(said, expected.as_raw_bson_ref()).is_ne() {
            self.drift(DriftKind::PageCount, number, Some(said.into()), Some(expected));
        }
        if count == 0 {
            self.drift(DriftKind::EmptyPage, number, None, None);
        }
        if (PageSize { bytes, mass }).is_over(self.rule) {
            let found = bson::rawdoc! { "elements": int(count), "bytes": int(bytes) };
            self.drift(DriftKind::PageBounds, number, Some(found.into()), None);
        }
        mass
    }

    /// Compares the document's counters with what was found. The document must
    /// have its head loaded.
    pub fn finish(&mut self, version: Version<'_>) {
        let seen = Seen::of(version, self.rule);
        let head = seen.array.filter(|head| head.kind == ElementType::Array);
        let held: Vec<Element<'_>> =
            head.map(|head| head.children().items().collect()).unwrap_or_default();
        let paged = Mass { count: self.elements as usize, bytes: self.bytes };
        let counters = match (head, self.pages) {
            (None, 0) => Counters::default(),
            _ => Counters::of(Mass::of(&held) + paged, self.pages as usize),
        };
        if !counters.are_misstated(self.rule, &seen) && self.pages == 0 {
            return;
        }
        let kinds = [DriftKind::Count, DriftKind::Flag, DriftKind::Pages];
        let (said, expected) = (seen.said(self.rule), counters.expected(self.rule));
        for ((kind, found), expected) in kinds.into_iter().zip(said).zip(expected) {
            let same = match (&found, &expected) {
                (Some(found), Some(expected)) => {
                    compare(found.as_raw_bson_ref(), expected.as_raw_bson_ref()).is_eq()
                }
                (None, None) => true,
                _ => false,
            };
            if !same {
                self.drifts.push(Drift { page: None, ..self.new_drift(kind, found, expected) });
            }
        }
        self.finish_hidden(seen.counters(), counters);
    }

    /// Compares what the sidecar alone knows, as far as it does.
    fn finish_hidden(&mut self, said: Counters, counters: Counters) {
        if self.pages == 0 {
            return;
        }
        if let Some((found, expected)) = said.bytes.zip(counters.bytes)
            && found != expected
        {
            let drift = self.new_drift(DriftKind::Bytes, Some(int(found)), Some(int(expected)));
            self.drifts.push(drift);
        }
        if let Some((found, expected)) = said.first.zip(self.first)
            && found > expected
        {
            let [found, expected] = [found, expected].map(RawBson::Int64);
            self.drifts.push(self.new_drift(DriftKind::FirstPage, Some(found), Some(expected)));
        }
    }

    fn drift(
        &mut self,
        kind: DriftKind,
        page: i64,
        found: Option<RawBson>,
        expected: Option<RawBson>,
    ) {
        let drift = Drift { page: Some(page), ..self.new_drift(kind, found, expected) };
        self.drifts.push(drift);
    }

    fn new_drift(
        &self,
        kind: DriftKind,
        found: Option<RawBson>,
        expected: Option<RawBson>,
    ) -> Drift {
        let path = self.rule.path.as_str().to_owned();
        Drift { kind, id: Some(self.parent.into()), path, page: None, found, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use crate::policy::legacy;
    use bson::{RawDocumentBuf, rawdoc};
    use command::Namespace;

    fn kinds(document: &RawDocument, pages: &[RawDocumentBuf]) -> Vec<&'static str> {
        let policy = rawdoc! { "arrays": { "a": { "max": 2, "on_limit": "overflow" } } };
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = legacy::written_out(&namespace, &policy);
        let policy = Policy::parse(&namespace, &policy).unwrap();
        let rule = policy.overflows().next().unwrap();
        let mut sequence = Sequence::new(rule, RawBsonRef::Int32(1));
        for page in pages {
            sequence.page(page, page.as_bytes().len());
        }
        sequence.finish(document.into());
        sequence.drifts.iter().map(|drift| drift.kind.name()).collect()
    }

    fn page(number: i32, count: i32, items: &[i32]) -> RawDocumentBuf {
        let array: bson::RawArrayBuf = items.iter().copied().collect();
        rawdoc! {
            "_id": { "parent": 1, "path": "a", "page": number },
            "parentId": 1, "page": number, "count": count, "a": array,
        }
    }

    #[test]
    fn what_is_right_is_passed_over() {
        let paged = rawdoc! {
            "_id": 1, "a": [1, 2], "aCount": 5, "aHasOverflow": true, "aOverflowPages": 2,
        };
        assert!(kinds(&paged, &[page(1, 2, &[3, 4]), page(3, 1, &[5])]).is_empty());
        assert!(kinds(&rawdoc! { "_id": 1, "a": [1] }, &[]).is_empty());
        assert!(kinds(&rawdoc! { "_id": 1, "a": [1], "aCount": 1.0 }, &[]).is_empty());
    }

    #[test]
    fn what_is_wrong_has_a_name() {
        let plain = rawdoc! { "_id": 1, "a": [1, 2] };
        assert_eq!(kinds(&plain, &[page(1, 1, &[3])]), ["count", "flag", "pages"]);
        let paged = rawdoc! {
            "_id": 1, "a": [1, 2], "aCount": 3, "aHasOverflow": true, "aOverflowPages": 1,
        };
        assert_eq!(kinds(&paged, &[page(1, 2, &[3])]), ["pageCount"]);
        assert_eq!(kinds(&paged, &[page(1, 3, &[3, 4, 5])]), ["pageBounds", "count"]);
        assert_eq!(kinds(&paged, &[]), ["count", "flag", "pages"]);
        assert_eq!(kinds(&paged, &[page(1, 0, &[])]), ["emptyPage", "count"]);
        let mut other = page(2, 1, &[3]);
        other = rawdoc! { "_id": "x", "parentId": 1, "page": 2, "count": 1, "a": get_value(&other, "a").unwrap() };
        assert_eq!(kinds(&paged, &[other]), ["pageShape"]);
        let two = rawdoc! {
            "_id": 1, "a": [1, 2], "aCount": 4, "aHasOverflow": true, "aOverflowPages": 2,
        };
        assert_eq!(kinds(&two, &[page(1, 1, &[3]), page(1, 1, &[3])]), ["pageOrder"]);
    }
}
