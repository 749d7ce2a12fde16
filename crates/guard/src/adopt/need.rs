//! What a document lacks under its policy.

use super::Over;
use crate::patterns::bounds;
use crate::patterns::overflow::{Counters, Seen, head_len};
use crate::policy::{Keep, OnLimit, Overflow, Policy, Undeclared};
use bson::spec::ElementType;
use language::Needs;
use value::Element;
use write::Version;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Need {
    /// Something is over its bounds that can be moved or dropped.
    pub bounds: bool,
    /// Fields by the names of counters say something else than they should.
    pub counters: bool,
    /// What settling it moves, about: how it is packed is not looked at.
    pub bytes: u64,
    /// What will be over its bounds still.
    pub over: Vec<Over>,
}

/// A page as its store knows it, without its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize {
    pub count: usize,
    /// Of the whole page.
    pub bytes: usize,
}

/// What of a document must be loaded for that.
pub fn looked_at(policy: &Policy) -> Needs {
    match policy.undeclared {
        Undeclared::Allow => {
            Needs::Paths(policy.arrays.iter().map(|rule| rule.path.clone()).collect())
        }
        _ => Needs::All,
    }
}

impl Need {
    /// What a document of this size needs. `pages` has those of each array that overflows, in
    /// the order of the policy; they count only where the document says that there are some.
    pub fn of(policy: &Policy, version: Version<'_>, size: usize, pages: &[Vec<PageSize>]) -> Need {
        let document = version.document;
        let mut need = Need::default();
        let mut left = size;
        let mut pages = pages.iter();
        for rule in &policy.arrays {
            match &rule.on_limit {
                OnLimit::Reject => {}
                OnLimit::DropOldest | OnLimit::DropNewest => {
                    let dropped = bounds::dropped(rule, document);
                    need.bounds |= dropped.elements > 0;
                    left = left.saturating_sub(dropped.bytes);
                }
                OnLimit::Overflow(rule) => {
                    let pages = pages.next().map(Vec::as_slice).unwrap_or_default();
                    let moved = need.overflow(rule, version, pages);
                    left = left.saturating_sub(moved);
                }
            }
        }
        need.over = Over::of(policy, document, left);
        need
    }

    /// Whether the document is over some bound.
    pub fn is_over(&self) -> bool {
        self.bounds || !self.over.is_empty()
    }

    /// Whether settling the document changes it.
    pub fn is_work(&self) -> bool {
        self.bounds || self.counters
    }

    /// Adds what an array needs, and gives back the bytes that leave the document.
    fn overflow(&mut self, rule: &Overflow, version: Version<'_>, pages: &[PageSize]) -> usize {
        let seen = Seen::of(version, rule);
        let array = seen.array.filter(|it| it.kind == ElementType::Array);
        let items: Vec<Element<'_>> =
            array.map(|array| array.children().items().collect()).unwrap_or_default();
        let bytes = array.map_or(0, |array| array.bytes.len());
        let paged = match seen.counters().pages {
            0 => &[],
            _ => pages,
        };
        let counters = match (array, paged.len()) {
            (None, 0) => Counters::default(),
            (_, len) => {
                let elements = items.len() + paged.iter().map(|page| page.count).sum::<usize>();
                Counters::of(elements, len)
            }
        };
        self.counters |= counters.are_misstated(rule, &seen);
        let mut moved = 0;
        if !rule.head.hold(items.len(), bytes) {
            self.bounds = true;
            moved = leaving(rule, &items).iter().map(|item| item.bytes.len()).sum();
            self.bytes += moved as u64;
        }
        if paged.iter().any(|page| page.is_over(rule)) {
            self.bounds = true;
            self.bytes += paged.iter().map(|page| page.bytes as u64).sum::<u64>();
        }
        moved
    }
}

/// The elements that a head over its bounds lets go.
fn leaving<'s, 'e>(rule: &Overflow, items: &'s [Element<'e>]) -> &'s [Element<'e>] {
    let kept = head_len(rule, items);
    let leaving = match rule.keep {
        Keep::Oldest => items.get(kept..),
        Keep::Newest => items.get(..items.len() - kept),
    };
    leaving.unwrap_or_default()
}

impl PageSize {
    /// Whether a page holds more than the policy lets it.
    pub fn is_over(&self, rule: &Overflow) -> bool {
        self.count > rule.page || (self.bytes > rule.page_bytes && self.count > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::legacy;
    use bson::{RawDocument, rawdoc};
    use command::Namespace;

    fn need(policy: &RawDocument, document: &RawDocument, pages: &[PageSize]) -> Need {
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = legacy::written_out(&namespace, policy);
        let policy = Policy::parse(&namespace, &policy).unwrap();
        let size = document.as_bytes().len();
        Need::of(&policy, document.into(), size, &[pages.to_vec()])
    }

    #[test]
    fn arrays_over_their_bounds_are_moved_or_dropped() {
        let policy = rawdoc! { "arrays": {
            "a": { "max": 2, "on_limit": "overflow", "overflow": { "page": 2 } },
            "b": { "max": 2, "on_limit": "drop_oldest" },
        } };
        let long = rawdoc! { "_id": 1, "a": [1, 2, 3, 4, 5], "b": [1, 2, 3] };
        let found = need(&policy, &long, &[]);
        assert!(found.bounds && found.bytes > 0 && found.over.is_empty());
        let short = rawdoc! { "_id": 1, "a": [1, 2], "b": [1, 2] };
        assert_eq!(need(&policy, &short, &[]), Need::default());
    }

    #[test]
    fn what_only_its_owner_may_let_go_is_told() {
        let policy = rawdoc! {
            "document": { "max_bytes": 100 }, "undeclared_arrays": { "max": 1 },
            "arrays": { "a": { "max": 2 } },
        };
        let long = rawdoc! { "_id": 1, "a": [1, 2, 3], "x": { "y": [1, 2] }, "z": "z".repeat(80) };
        let found = need(&policy, &long, &[]);
        let paths: Vec<_> = found.over.iter().map(|over| over.path.as_deref()).collect();
        assert_eq!(paths, [Some("a"), Some("x.y"), None]);
        assert!(found.is_over() && !found.is_work());
    }

    #[test]
    fn a_head_with_pages_lets_go_of_what_is_over() {
        let policy = rawdoc! {
            "document": { "max_bytes": 200 },
            "arrays": { "a": { "max": 2, "on_limit": "overflow", "overflow": { "page": 2 } } },
        };
        let paged = rawdoc! {
            "_id": 1, "a": ["x".repeat(90), "x", "x".repeat(90)],
            "aCount": 5, "aHasOverflow": true, "aOverflowPages": 1,
        };
        let page = PageSize { count: 2, bytes: 1_000 };
        let found = need(&policy, &paged, &[page]);
        assert!(found.bounds && found.over.is_empty() && found.bytes < 1_000, "{found:?}");
        let found = need(&policy, &paged, &[PageSize { count: 3, ..page }]);
        assert!(found.bytes > 1_000, "{found:?}");
    }

    #[test]
    fn an_array_on_the_way_of_one_that_overflows_is_told() {
        let policy = rawdoc! { "arrays": { "p.a": { "max": 2, "on_limit": "overflow" } } };
        let found = need(&policy, &rawdoc! { "_id": 1, "p": [{ "a": [1, 2, 3] }, {}] }, &[]);
        let [over] = &found.over[..] else { panic!("{found:?}") };
        assert_eq!((over.path.as_deref(), over.elements), (Some("p.a"), Some(3)));
        assert!(over.reason.is_some() && found.is_over() && !found.is_work());
        for fine in [rawdoc! { "_id": 1, "p": { "a": [1] } }, rawdoc! { "_id": 1, "p": 1 }] {
            assert_eq!(need(&policy, &fine, &[]), Need::default());
        }
    }

    #[test]
    fn counters_are_compared_with_what_is_there() {
        let policy = rawdoc! { "arrays": { "a": { "max": 2, "on_limit": "overflow" } } };
        let counters =
            |document: &RawDocument, pages: &[PageSize]| need(&policy, document, pages).counters;
        assert!(!counters(&rawdoc! { "_id": 1, "a": [1] }, &[]));
        assert!(!counters(&rawdoc! { "_id": 1, "a": [1], "aCount": 1 }, &[]));
        assert!(counters(&rawdoc! { "_id": 1, "a": [1], "aCount": 7 }, &[]));
        assert!(!counters(&rawdoc! { "_id": 1, "aCount": 7 }, &[]));
        assert!(counters(&rawdoc! { "_id": 1, "aCount": 7, "aOverflowPages": 2 }, &[]));
        let paged = rawdoc! {
            "_id": 1, "a": [1], "aCount": 3, "aHasOverflow": true, "aOverflowPages": 1,
        };
        let page = PageSize { count: 2, bytes: 100 };
        assert!(!counters(&paged, &[page]));
        assert!(counters(&paged, &[page, page]));
        // What it says of pages that are not there is no more than a field.
        assert!(counters(&paged, &[]));
        assert!(need(&policy, &paged, &[PageSize { count: 3, bytes: 100 }]).bounds);
    }
}
