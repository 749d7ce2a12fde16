//! The predicates of a filter, distributed over the fields of an index.
//!
//! Two predicates may narrow the same scan only if a document that satisfies both
//! has one key that satisfies both. Where arrays give a document several keys this
//! holds only if the paths part above the array, or if one `$elemMatch` ties the
//! two predicates to one element.

use super::interval::Intervals;
use super::leaf::{Element, Leaf, is_positional, shared_depth};
use super::translate::{Target, Tightness, Translated, translate};
use crate::catalog::{Index, IndexField, IndexKind};
use crate::index::{multikey, wildcard};
use bson::RawBson;
use rustc_hash::FxHashMap;
use value::Path;

/// The bounds a filter gives an index.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// One list for each field of the key; a wildcard has two, the path and the
    /// value.
    pub bounds: Vec<Intervals>,
    /// What is left to check of the conjuncts that are used whole, by their numbers.
    pub tightness: FxHashMap<usize, Tightness>,
    /// The path that a wildcard is used for.
    pub wildcard: Option<Path>,
}

/// What the leaves used for one field have in common. All of them speak of one path, and
/// whether another leaf may be combined with them only depends on the innermost
/// `$elemMatch` that they share.
struct Used<'l> {
    field: usize,
    path: &'l Path,
    within: Vec<Element>,
}

/// The best bounds the leaves give; `None` if nothing narrows the first field.
pub fn assign(
    index: &Index,
    bits: u64,
    same_collation: bool,
    leaves: &[Leaf<'_>],
) -> Option<Assignment> {
    let mut assigner = Assigner {
        index,
        bits,
        same_collation,
        leaves,
        used: Vec::new(),
        tightness: FxHashMap::default(),
        bounds: Vec::with_capacity(index.fields.len() + 1),
        wildcard: None,
    };
    for (at, field) in index.fields.iter().enumerate() {
        match field.kind {
            IndexKind::Wildcard => assigner.wildcard(at, field),
            _ => assigner.field(at, field),
        }
        if assigner.used.is_empty() {
            return None;
        }
    }
    Some(Assignment {
        bounds: assigner.bounds,
        tightness: assigner.tightness,
        wildcard: assigner.wildcard,
    })
}

struct Assigner<'l, 'f> {
    index: &'l Index,
    bits: u64,
    same_collation: bool,
    leaves: &'l [Leaf<'f>],
    used: Vec<Used<'l>>,
    tightness: FxHashMap<usize, Tightness>,
    bounds: Vec<Intervals>,
    wildcard: Option<Path>,
}

impl<'l, 'f> Assigner<'l, 'f> {
    fn field(&mut self, at: usize, field: &IndexField) {
        let target = Target {
            kind: field.kind,
            collator: self.index.collator.as_ref(),
            same_collation: self.same_collation,
            multikey: multikey::field(self.index, self.bits, at),
            present: self.index.sparse && self.index.fields.len() == 1,
            positional: is_positional(&field.path),
        };
        let leaves = self.leaves.iter().filter(|leaf| leaf.path == field.path);
        let intervals = self.narrow(at, candidates(leaves, |_| target));
        self.bounds.push(intervals);
    }

    /// A wildcard serves one path of the filter: the one with the narrowest bounds.
    fn wildcard(&mut self, at: usize, field: &IndexField) {
        let (index, bits, same_collation) = (self.index, self.bits, self.same_collation);
        let target = |path: &Path| Target {
            kind: IndexKind::Wildcard,
            collator: index.collator.as_ref(),
            same_collation,
            multikey: (0..path.len()).any(|part| multikey::at(index, bits, at, path, part)),
            present: true,
            positional: false,
        };
        let reach = wildcard::WildcardReach::of(self.index, &field.path);
        // Which position of an array a value had is not in the index.
        let usable = |leaf: &&Leaf<'_>| {
            !is_positional(&leaf.path)
                && wildcard_serves(leaf)
                && reach.contains(leaf.path.as_str())
        };
        let mut candidates = candidates(self.leaves.iter().filter(usable), target);
        let Some(path) = candidates.first().map(|(leaf, _)| leaf.path.clone()) else {
            self.bounds.extend([Intervals::all(), Intervals::all()]);
            return;
        };
        candidates.retain(|(leaf, _)| leaf.path == path);
        let name = RawBson::String(path.as_str().to_owned());
        self.bounds.push(Intervals::point(name, None));
        let intervals = self.narrow(at, candidates);
        self.bounds.push(intervals);
        self.wildcard = Some(path);
    }

    /// All candidates that may be combined with what is used already.
    fn narrow(&mut self, at: usize, candidates: Vec<(&'l Leaf<'f>, Translated)>) -> Intervals {
        let mut narrowing = Vec::with_capacity(candidates.len());
        for (leaf, translated) in candidates {
            let fits = self.used.iter().all(|other| {
                let of = (at, &leaf.path, leaf.within.as_slice());
                compatible(self.index, self.bits, of, (other.field, other.path, &other.within))
            });
            if fits {
                self.keep(at, leaf, translated.tightness);
                narrowing.push(translated.intervals);
            }
        }
        Intervals::intersection(narrowing)
    }

    fn keep(&mut self, at: usize, leaf: &'l Leaf<'f>, tightness: Tightness) {
        match self.used.iter_mut().find(|used| used.field == at) {
            Some(used) => {
                let shared = used.within.iter().zip(&leaf.within).take_while(|(a, b)| a == b);
                let shared = shared.count();
                used.within.truncate(shared);
            }
            None => {
                let within = leaf.within.clone();
                self.used.push(Used { field: at, path: &leaf.path, within });
            }
        }
        if leaf.is_whole_conjunct() {
            // What one use of a conjunct expresses need not be checked for another.
            let known = self.tightness.entry(leaf.conjunct).or_insert(tightness);
            *known = tightness.min(*known);
        }
    }
}

/// The leaves that can be translated, the narrowest first.
fn candidates<'l, 'f>(
    leaves: impl Iterator<Item = &'l Leaf<'f>>,
    target: impl Fn(&Path) -> Target<'l>,
) -> Vec<(&'l Leaf<'f>, Translated)> {
    let mut candidates: Vec<_> = leaves
        .filter_map(|leaf| Some((leaf, translate(leaf.predicate, target(&leaf.path))?)))
        .collect();
    candidates.sort_by_key(|(_, translated)| rank(&translated.intervals));
    candidates
}

/// The narrower, the earlier: where only one predicate of a field may be used, it
/// is the first.
fn rank(intervals: &Intervals) -> u8 {
    let open = |end: &RawBson| {
        matches!(end, RawBson::MinKey | RawBson::MaxKey)
            || matches!(end, RawBson::Double(number) if number.is_infinite())
    };
    if intervals.is_none() || intervals.is_point() {
        0
    } else if intervals.are_points() {
        1
    } else if intervals
        .as_slice()
        .iter()
        .all(|one| !open(&one.start.value) && !open(&one.end.value))
    {
        2
    } else if intervals.is_all() {
        4
    } else {
        3
    }
}

/// The field of the index, the path and the `$elemMatch`es of a predicate.
type Of<'a> = (usize, &'a Path, &'a [Element]);

/// Whether one key can stand for both predicates.
fn compatible(index: &Index, bits: u64, a: Of<'_>, b: Of<'_>) -> bool {
    // The values below a wildcard are combined with those of every other field.
    if a.0 != b.0 && [a.0, b.0].iter().any(|at| index.fields[*at].kind == IndexKind::Wildcard) {
        return true;
    }
    let shared = a.1.components().zip(b.1.components()).take_while(|(a, b)| a == b).count();
    let tied = shared_depth(a.2, b.2);
    (tied..shared).all(|component| {
        !multikey::at(index, bits, a.0, a.1, component)
            && !multikey::at(index, bits, b.0, b.1, component)
    })
}

/// A wildcard index has no entry for a missing field and none for a document
/// that has fields of its own.
fn wildcard_serves(leaf: &Leaf<'_>) -> bool {
    use language::query::Predicate;
    let whole = |value: &RawBson| {
        matches!(value, RawBson::Document(inner) if value::elements(inner).next().is_some())
            || matches!(value, RawBson::Array(_))
    };
    let null = |value: &RawBson| matches!(value, RawBson::Null | RawBson::Undefined);
    match leaf.predicate {
        Predicate::Eq(value) => !whole(value) && !null(value),
        Predicate::Gt(value)
        | Predicate::Gte(value)
        | Predicate::Lt(value)
        | Predicate::Lte(value) => {
            !null(value)
                && !matches!(value, RawBson::Document(_) | RawBson::MinKey | RawBson::MaxKey)
        }
        Predicate::In(list) => !list.values.iter().any(|value| whole(value) || null(value)),
        Predicate::Regex(_) => true,
        _ => false,
    }
}
