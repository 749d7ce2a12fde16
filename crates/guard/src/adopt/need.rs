//! What a document lacks under its policy.

use super::Over;
use crate::patterns::bounds;
use crate::patterns::overflow::{Counters, Mass, Seen, head_len, limits, page_bytes};
use crate::policy::{Keep, OnLimit, OnTotal, Overflow, Policy, Undeclared};
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use language::Needs;
use value::element::get_value;
use value::{Element, Number};
use write::Version;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Need {
    /// Something is over its bounds that can be moved or dropped.
    pub bounds: bool,
    /// Pages hold far less than they may, since `page` or `page_bytes` has been raised or much has
    /// been pulled. That is no drift, and no bound is passed.
    pub sparse: bool,
    /// Fields by the names of counters say something else than they should.
    pub counters: bool,
    /// What settling it moves, about: how it is packed is not looked at.
    pub bytes: u64,
    /// What will be over its bounds still.
    pub over: Vec<Over>,
    /// Arrays that are to lose their oldest elements.
    pub shortened: Vec<Over>,
}

/// Pages are repacked where there are so many times as many as could hold it all.
const SPARSE_TIMES: usize = 4;

/// A page as its store knows it, without its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize {
    /// Of the whole page.
    pub bytes: usize,
    /// What it holds.
    pub mass: Mass,
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
        let mut totals = Vec::new();
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
                    totals.extend(need.total(rule, version, pages));
                }
            }
        }
        need.over = Over::of(policy, document, left);
        need.over.extend(totals);
        need
    }

    /// What is over its bounds as a whole and stays so.
    fn total(&mut self, rule: &Overflow, version: Version<'_>, pages: &[PageSize]) -> Option<Over> {
        let seen = Seen::of(version, rule);
        let array = seen.array.filter(|it| it.kind == ElementType::Array);
        let said = seen.counters();
        let mass = match array {
            Some(array) => {
                let head = Mass::of_array(array.children().count(), array.bytes.len());
                let paged = pages.iter().filter(|_| said.pages > 0);
                head + paged.map(|page| page.mass).sum()
            }
            // The head has not been loaded: it is within its bounds, and has been counted.
            None if said.pages > 0 => said.mass(),
            // A count that speaks of no pages may be the client's own field.
            None => Mass::default(),
        };
        let over = Over::total(rule, mass)?;
        match rule.on_total {
            OnTotal::Reject => Some(over),
            OnTotal::DropOldest => {
                self.bounds = true;
                self.shortened.push(over);
                None
            }
        }
    }

    /// Whether the document is over some bound.
    pub fn is_over(&self) -> bool {
        self.bounds || !self.over.is_empty()
    }

    /// Whether settling the document changes it.
    pub fn is_work(&self) -> bool {
        self.bounds || self.counters || self.sparse
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
                let paged: Mass = paged.iter().map(|page| page.mass).sum();
                Counters::of(Mass::of(&items) + paged, len)
            }
        };
        self.counters |= counters.are_misstated(rule, &seen);
        let mut moved = 0;
        if !rule.head.hold(items.len(), bytes) {
            self.bounds = true;
            moved = leaving(rule, &items).iter().map(|item| item.bytes.len()).sum();
            self.bytes += moved as u64;
        }
        let is_over = paged.iter().any(|page| page.is_over(rule));
        let is_sparse = PageSize::are_sparse(paged, rule);
        self.bounds |= is_over;
        self.sparse |= is_sparse;
        if is_over || is_sparse {
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
    /// Of a page of so many bytes, which need not have its array loaded.
    pub fn of(
        rule: &Overflow,
        parent: RawBsonRef<'_>,
        page: &RawDocument,
        bytes: usize,
    ) -> PageSize {
        let stated = |key: &str| get_value(page, key).and_then(Number::from_value);
        let count = stated("count").map_or(0, |it| it.to_i64_saturated().max(0) as usize);
        let number = stated("page").map_or(0, Number::to_i64_saturated);
        let array_bytes = bytes.saturating_sub(page_bytes(rule, parent, number));
        PageSize { bytes, mass: Mass::of_array(count, array_bytes) }
    }

    /// Whether a page holds more than the policy lets it.
    pub fn is_over(&self, rule: &Overflow) -> bool {
        self.mass.count > rule.page || (self.bytes > rule.page_bytes && self.mass.count > 1)
    }

    /// Whether there are more pages than repacking could leave, and that can be done.
    /// Packed pages are full by number, or two of them hold more than one may weigh: at most three
    /// times as many as could hold it all, and one.
    pub fn are_sparse(pages: &[PageSize], rule: &Overflow) -> bool {
        let count = pages.iter().map(|page| page.mass.count).sum::<usize>();
        let bytes = pages.iter().map(|page| page.bytes).sum::<usize>();
        let least = count.div_ceil(rule.page).max(bytes.div_ceil(rule.page_bytes)).max(1);
        pages.len() > SPARSE_TIMES * least
            && count + rule.head.max.unwrap_or(0) <= limits::LOOK_ELEMENTS_MAX
            && bytes + rule.head.max_bytes.unwrap_or(0) <= limits::LOOK_BYTES_MAX
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

    fn page(count: usize, bytes: usize) -> PageSize {
        PageSize { bytes, mass: Mass { count, bytes: 0 } }
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
        let page = page(2, 1_000);
        let found = need(&policy, &paged, &[page]);
        assert!(found.bounds && found.over.is_empty() && found.bytes < 1_000, "{found:?}");
        let found = need(&policy, &paged, &[self::page(3, 1_000)]);
        assert!(found.bytes > 1_000, "{found:?}");
    }

    #[test]
    fn a_field_by_the_name_of_a_count_is_no_array() {
        for on_total in ["reject", "drop_oldest"] {
            let total = rawdoc! { "count": "n", "total_max": 10, "on_total": on_total };
            let policy = rawdoc! { "arrays": {
                "a": { "max": 2, "on_limit": "overflow", "overflow": total },
            } };
            assert_eq!(need(&policy, &rawdoc! { "_id": 1, "n": 5_000 }, &[]), Need::default());
            let long = rawdoc! { "_id": 1, "n": 11, "a": (0..11).collect::<bson::RawArrayBuf>() };
            assert!(need(&policy, &long, &[]).is_over());
        }
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
    fn sparse_pages_are_repacked() {
        let policy = rawdoc! { "arrays": {
            "a": { "max": 2, "on_limit": "overflow", "overflow": { "page": 100 } },
        } };
        let paged = |pages: i32| {
            let counters = rawdoc! {
                "_id": 1, "a": [1, 2], "aCount": 2 + 10 * pages, "aHasOverflow": true,
                "aOverflowPages": pages,
            };
            let size = page(10, 200);
            need(&policy, &counters, &vec![size; pages as usize])
        };
        assert!(!paged(4).is_work());
        let sparse = paged(5);
        assert!(sparse.sparse && sparse.is_work() && !sparse.is_over() && sparse.bytes == 1_000);
        // More than can be repacked stays as it is.
        assert!(!paged(20_000).is_work());
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
        let page = page(2, 100);
        assert!(!counters(&paged, &[page]));
        assert!(counters(&paged, &[page, page]));
        // What it says of pages that are not there is no more than a field.
        assert!(counters(&paged, &[]));
        assert!(need(&policy, &paged, &[self::page(3, 100)]).bounds);
    }
}
