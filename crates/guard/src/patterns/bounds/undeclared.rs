//! Arrays that the policy does not name.

use super::violation::Violation;
use crate::patterns::place;
use crate::policy::{Policy, Undeclared};
use bson::RawDocument;
use bson::spec::ElementType;
use error::Result;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::VecDeque;
use value::{Element, Elements, Path, elements};

/// Refuses undeclared arrays over their cap that have grown.
pub fn check(policy: &Policy, before: Option<&RawDocument>, after: &RawDocument) -> Result<()> {
    let Some(finder) = Finder::of(policy) else { return Ok(()) };
    let mut was = None;
    for field in finder.large(after) {
        let was = was.get_or_insert_with(|| finder.former(before));
        // Of fields with the same name, the next one.
        let old = was.get_mut(field.key).and_then(VecDeque::pop_front);
        if let Some(found) = finder.grown(old, field) {
            let path = Path::new(&found.path);
            let violation = Violation { document: after, path: &path, array: found.array };
            let can_be_declared = found.reached && policy.could_declare(&path);
            return Err(match policy.undeclared {
                Undeclared::Reject => violation.undeclared(can_be_declared),
                _ => violation.over_cap(finder.max, found.len, can_be_declared),
            });
        }
    }
    Ok(())
}

/// An array that is longer than before: of those at one path the longest is compared with
/// the longest, the next with the next.
fn grown<'a>(mut now: Vec<Found<'a>>, mut was: Vec<Found<'_>>) -> Option<Found<'a>> {
    now.sort_by(Found::longest_first);
    was.sort_by(Found::longest_first);
    let mut was = was.into_iter().peekable();
    now.into_iter().find(|found| {
        while was.next_if(|old| old.path < found.path).is_some() {}
        let old = was.next_if(|old| old.path == found.path);
        old.is_none_or(|old| found.len > old.len)
    })
}

/// The undeclared arrays over their cap: path, elements and bytes of each.
pub fn over(policy: &Policy, document: &RawDocument) -> Vec<(String, usize, usize)> {
    let Some(finder) = Finder::of(policy) else { return Vec::new() };
    let found = elements(document).flat_map(|field| finder.over(field));
    found.map(|found| (found.path, found.len, found.array.bytes.len())).collect()
}

struct Finder<'p> {
    policy: &'p Policy,
    max: usize,
}

type Former<'a> = FxHashMap<&'a str, VecDeque<Element<'a>>>;

struct Found<'a> {
    /// Field names. The numbers of elements are left out; `[]` is an array that
    /// stands directly in another.
    path: String,
    /// Whether the path of a rule can lead to it.
    reached: bool,
    array: Element<'a>,
    len: usize,
}

impl Found<'_> {
    /// The order of paths, and at each of them from the longest array on.
    fn longest_first(a: &Found<'_>, b: &Found<'_>) -> Ordering {
        a.path.cmp(&b.path).then(b.len.cmp(&a.len))
    }
}

impl<'p> Finder<'p> {
    /// `None` where everything is allowed.
    fn of(policy: &'p Policy) -> Option<Finder<'p>> {
        match policy.undeclared {
            Undeclared::Allow => None,
            Undeclared::Max(max) => Some(Finder { policy, max }),
            Undeclared::Reject => Some(Finder { policy, max: 0 }),
        }
    }

    /// Whether a value is large enough to be an array over the cap, or to hold one.
    fn may_hold(&self, value: &Element<'_>) -> bool {
        let nests = matches!(value.kind, ElementType::Array | ElementType::EmbeddedDocument);
        nests && value.bytes.len() >= self.policy.digest.undeclared_bytes
    }

    /// The fields of a document that are so large. Most are too small.
    fn large<'a>(&self, document: &'a RawDocument) -> impl Iterator<Item = Element<'a>> {
        let large = elements(document).keyed().filter(|(_, field)| self.may_hold(field));
        large.filter_map(|(key, field)| {
            let key = std::str::from_utf8(key).ok()?;
            Some(Element { key, ..field })
        })
    }

    /// The same of the document as it was, by their names.
    fn former<'a>(&self, before: Option<&'a RawDocument>) -> Former<'a> {
        let mut former = Former::default();
        for field in before.into_iter().flat_map(|before| self.large(before)) {
            former.entry(field.key).or_default().push_back(field);
        }
        former
    }

    /// An array over the cap that a field has not held before, or not at that length.
    fn grown<'a>(&self, old: Option<Element<'_>>, field: Element<'a>) -> Option<Found<'a>> {
        let Some(old) = old else { return grown(self.over(field), Vec::new()) };
        if place::identical(&old, &field) {
            return None;
        }
        if let Some(appended) = self.appended(old, field) {
            let mut over = Vec::new();
            let mut path = field.key.to_owned();
            appended.items().for_each(|item| self.look_in(item, &mut path, true, &mut over));
            return grown(over, Vec::new());
        }
        let over = self.over(field);
        if over.is_empty() { None } else { grown(over, self.over(old)) }
    }

    /// What a declared array has behind what it held before.
    fn appended<'a>(&self, old: Element<'_>, field: Element<'a>) -> Option<Elements<'a>> {
        let are_arrays = old.kind == ElementType::Array && field.kind == ElementType::Array;
        let is_declared = are_arrays && self.declares(field.key);
        if is_declared { field.children().after(&old.children()) } else { None }
    }

    /// Whether the policy names the arrays at a path. Where it must name all of them, it
    /// names those on the way to an array along with it.
    fn declares(&self, path: &str) -> bool {
        let is_closed = self.policy.undeclared == Undeclared::Reject;
        self.policy.arrays.iter().any(|rule| match rule.path.as_str().strip_prefix(path) {
            Some("") => true,
            Some(below) => is_closed && below.starts_with('.'),
            None => false,
        })
    }

    /// The undeclared arrays over the cap, in and below a field.
    fn over<'a>(&self, field: Element<'a>) -> Vec<Found<'a>> {
        let mut found = Vec::new();
        self.look(field, &mut field.key.to_owned(), !field.key.contains('.'), &mut found);
        found
    }

    /// `reached` says whether the path of a rule can lead here: it does not go
    /// through arrays directly in arrays, nor through names with dots in them.
    fn look<'a>(
        &self,
        value: Element<'a>,
        path: &mut String,
        reached: bool,
        found: &mut Vec<Found<'a>>,
    ) {
        if !self.may_hold(&value) {
            return;
        }
        let parent = path.len();
        match value.kind {
            ElementType::EmbeddedDocument => {
                for child in value.children() {
                    path.push('.');
                    path.push_str(child.key);
                    self.look(child, path, reached && !child.key.contains('.'), found);
                    path.truncate(parent);
                }
            }
            ElementType::Array => {
                let mut len = 0;
                for item in value.children().items() {
                    self.look_in(item, path, reached, found);
                    len += 1;
                }
                let over = len > self.max || self.policy.undeclared == Undeclared::Reject;
                if over && !(reached && self.declares(path)) {
                    found.push(Found { path: path.clone(), reached, array: value, len });
                }
            }
            _ => {}
        }
    }

    /// The same in an element of the array at a path.
    fn look_in<'a>(
        &self,
        item: Element<'a>,
        path: &mut String,
        reached: bool,
        found: &mut Vec<Found<'a>>,
    ) {
        let parent = path.len();
        let direct = item.kind == ElementType::Array;
        if direct {
            path.push_str(".[]");
        }
        self.look(item, path, reached && !direct, found);
        path.truncate(parent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{RawBsonRef, rawdoc};
    use command::Namespace;
    use value::DocumentWriter;

    fn accepts(policy: &RawDocument, before: Option<&RawDocument>, after: &RawDocument) -> bool {
        let namespace = Namespace::new("d", "c").unwrap();
        check(&Policy::parse(&namespace, policy).unwrap(), before, after).is_ok()
    }

    #[test]
    fn only_what_is_declared_may_grow() {
        let policy = rawdoc! { "undeclared_arrays": { "max": 2 }, "arrays": { "a": { "max": 9 } } };
        assert!(accepts(&policy, None, &rawdoc! { "a": [1, 2, 3], "b": [1, 2] }));
        assert!(!accepts(&policy, None, &rawdoc! { "b": [1, 2, 3] }));
        assert!(!accepts(&policy, None, &rawdoc! { "a": [{ "b": [1, 2, 3] }] }));
        assert!(!accepts(&policy, None, &rawdoc! { "a": [[1, 2, 3]] }));
        let policy = rawdoc! {
            "undeclared_arrays": { "max": 2 }, "arrays": { "a": { "max": 9 }, "m.t": { "max": 9 } },
        };
        assert!(accepts(&policy, None, &rawdoc! { "m": [{ "t": [1, 2, 3] }] }));
        assert!(!accepts(&policy, None, &rawdoc! { "m.t": [1, 2, 3] }));
        assert!(!accepts(&policy, None, &rawdoc! { "m": [[{ "t": [1, 2, 3] }]] }));
        let old = rawdoc! { "b": [1, 2, 3], "c": 1 };
        assert!(accepts(&policy, Some(&old), &rawdoc! { "b": [1, 2, 3], "c": 2 }));
        assert!(accepts(&policy, Some(&old), &rawdoc! { "b": [1, 2, 4] }));
        assert!(!accepts(&policy, Some(&old), &rawdoc! { "b": [1, 2, 3, 4] }));
        let old = rawdoc! { "m": [{ "b": [1, 2, 3, 4] }, { "b": [1] }] };
        let grown = rawdoc! { "m": [{ "b": [1, 2, 3, 4] }, { "b": [1, 2, 3] }] };
        assert!(!accepts(&policy, Some(&old), &grown));
        let moved = rawdoc! { "m": [{ "b": [1] }, { "b": [4, 3, 2, 1] }] };
        assert!(accepts(&policy, Some(&old), &moved));
        let twice = |second: &[i32]| {
            let mut twice = DocumentWriter::new();
            for items in [&[1, 2, 3, 4], second] {
                twice.begin_array("z");
                items.iter().for_each(|item| twice.push(RawBsonRef::Int32(*item)));
                twice.end();
            }
            twice.finish()
        };
        let old = twice(&[1, 2, 3]);
        assert!(accepts(&policy, Some(&old), &twice(&[3, 2, 1])));
        assert!(!accepts(&policy, Some(&old), &twice(&[1, 2, 3, 4])));
    }

    /// Were each compared with each, it would not end.
    #[test]
    fn many_arrays_over_the_cap_are_compared_pairwise() {
        let arrays = |first: i32| {
            let mut out = DocumentWriter::new();
            out.begin_array("m");
            for at in 0..100_000 {
                let item = if at == 0 { first } else { at };
                let document = rawdoc! { "t": [item, item] };
                out.push(RawBsonRef::Document(&document));
            }
            out.end();
            out.finish()
        };
        let old = arrays(0);
        let capped = rawdoc! {
            "undeclared_arrays": { "max": 1 }, "arrays": { "m": { "max": 1_000_000 } },
        };
        assert!(accepts(&capped, Some(&old), &arrays(9)));
        assert!(!accepts(&capped, Some(&rawdoc! { "m": 1 }), &arrays(9)));
    }

    #[test]
    fn the_world_can_be_closed() {
        let policy = rawdoc! { "undeclared_arrays": "reject", "arrays": { "a": { "max": 9 } } };
        assert!(accepts(&policy, None, &rawdoc! { "a": [1], "b": { "c": 1 } }));
        assert!(!accepts(&policy, None, &rawdoc! { "b": { "c": [] } }));
        assert!(!accepts(&policy, None, &rawdoc! { "b": [1] }));
    }

    #[test]
    fn an_array_on_the_way_of_a_declared_one_is_declared_in_a_closed_world() {
        let policy =
            rawdoc! { "undeclared_arrays": "reject", "arrays": { "posts.tags": { "max": 3 } } };
        let one = rawdoc! { "posts": [{ "tags": [1] }] };
        assert!(accepts(&policy, None, &one));
        assert!(accepts(&policy, Some(&one), &rawdoc! { "posts": [{ "tags": [1] }, {}] }));
        let deeper = rawdoc! { "posts": [{ "tags": [1] }, { "likes": [] }] };
        assert!(!accepts(&policy, Some(&one), &deeper));
        assert!(!accepts(&policy, None, &rawdoc! { "post": [1] }));
        assert!(!accepts(&policy, None, &rawdoc! { "posts": [[{ "tags": [1] }]] }));
        let capped = rawdoc! {
            "undeclared_arrays": { "max": 1 }, "arrays": { "posts.tags": { "max": 3 } },
        };
        assert!(accepts(&capped, None, &one));
        assert!(!accepts(&capped, None, &rawdoc! { "posts": [{}, {}] }));
    }
}
