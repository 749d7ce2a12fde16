//! The predicates of a filter, distributed over the fields of an index.
//!
//! Two predicates may narrow the same scan only if a document that satisfies both
//! has one key that satisfies both. Where arrays give a document several keys this
//! holds only if the paths part above the array, or if one `$elemMatch` ties the
//! two predicates to one element.

use super::interval::Intervals;
use super::leaf::{Leaf, is_positional};
use super::translate::{Target, Tightness, Translated, translate};
use crate::catalog::{Index, IndexKind};
use crate::index::{multikey, wildcard};
use bson::RawBson;
use value::Path;

/// The bounds a filter gives an index.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// One list for each field of the key; a wildcard index's key has two, the
    /// path and the value.
    pub bounds: Vec<Intervals>,
    /// The conjuncts that the bounds express completely.
    pub exact: Vec<usize>,
    /// The conjuncts that the key alone can check.
    pub on_key: Vec<usize>,
    /// How many leaves narrow the scan.
    pub used: usize,
    /// For a wildcard index, the path it is used for.
    pub wildcard: Option<Path>,
}

struct Used<'l, 'f> {
    field: usize,
    leaf: &'l Leaf<'f>,
    tightness: Tightness,
}

/// The best bounds the leaves give; `None` if nothing narrows the first field.
pub fn assign(
    index: &Index,
    bits: u64,
    same_collation: bool,
    leaves: &[Leaf<'_>],
) -> Option<Assignment> {
    match index.fields.as_slice() {
        [field] if field.kind == IndexKind::Wildcard => {
            assign_wildcard(index, bits, same_collation, leaves)
        }
        _ => assign_fields(index, bits, same_collation, leaves),
    }
}

fn assign_fields(
    index: &Index,
    bits: u64,
    same_collation: bool,
    leaves: &[Leaf<'_>],
) -> Option<Assignment> {
    let mut used: Vec<Used<'_, '_>> = Vec::new();
    let mut bounds = Vec::with_capacity(index.fields.len());
    for (at, field) in index.fields.iter().enumerate() {
        let target = Target {
            kind: field.kind,
            collator: index.collator.as_ref(),
            same_collation,
            multikey: multikey::field(index, bits, at),
            present: index.sparse && index.fields.len() == 1,
            positional: is_positional(&field.path),
        };
        let mut candidates: Vec<(&Leaf<'_>, Translated)> = leaves
            .iter()
            .filter(|leaf| leaf.path == field.path)
            .filter_map(|leaf| Some((leaf, translate(leaf.predicate, target)?)))
            .collect();
        candidates.sort_by_key(|(_, translated)| rank(&translated.intervals));
        let mut intervals = Intervals::all();
        for (leaf, translated) in candidates {
            let fits = used
                .iter()
                .all(|other| compatible(index, bits, (at, leaf), (other.field, other.leaf)));
            if fits {
                intervals = intervals.intersect(&translated.intervals);
                used.push(Used { field: at, leaf, tightness: translated.tightness });
            }
        }
        if at == 0 && used.is_empty() {
            return None;
        }
        bounds.push(intervals);
    }
    let whole = |used: &&Used<'_, '_>| used.leaf.is_whole_conjunct();
    let of = |tightness: Tightness| {
        let matching = used.iter().filter(whole).filter(|used| used.tightness == tightness);
        matching.map(|used| used.leaf.conjunct).collect()
    };
    Some(Assignment {
        bounds,
        exact: of(Tightness::Exact),
        on_key: of(Tightness::Key),
        used: used.len(),
        wildcard: None,
    })
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

/// Whether one key can stand for both predicates.
fn compatible(index: &Index, bits: u64, a: (usize, &Leaf<'_>), b: (usize, &Leaf<'_>)) -> bool {
    let shared =
        a.1.path.components().zip(b.1.path.components()).take_while(|(a, b)| a == b).count();
    let tied = a.1.shared_depth(b.1);
    (tied..shared).all(|component| {
        !multikey::component(index, bits, a.0, component)
            && !multikey::component(index, bits, b.0, component)
    })
}

/// A wildcard index serves one path of the filter at a time: the narrowest.
fn assign_wildcard(
    index: &Index,
    bits: u64,
    same_collation: bool,
    leaves: &[Leaf<'_>],
) -> Option<Assignment> {
    let field = index.fields.first()?;
    let target = Target {
        kind: IndexKind::Wildcard,
        collator: index.collator.as_ref(),
        same_collation,
        multikey: bits != 0,
        present: true,
        positional: false,
    };
    let reach = wildcard::Reach::of(index, &field.path);
    let usable = |leaf: &&Leaf<'_>| {
        // Which position of an array a value had is not in the index.
        !is_positional(&leaf.path) && wildcard_serves(leaf) && reach.contains(leaf.path.as_str())
    };
    let mut candidates: Vec<(&Leaf<'_>, Translated)> = leaves
        .iter()
        .filter(usable)
        .filter_map(|leaf| Some((leaf, translate(leaf.predicate, target)?)))
        .collect();
    candidates.sort_by_key(|(_, translated)| rank(&translated.intervals));
    let path = candidates.first()?.0.path.clone();
    let mut used: Vec<Used<'_, '_>> = Vec::new();
    let mut intervals = Intervals::all();
    for (leaf, translated) in candidates.iter().filter(|(leaf, _)| leaf.path == path) {
        let fits = used.iter().all(|other| compatible(index, bits, (0, leaf), (0, other.leaf)));
        if fits {
            intervals = intervals.intersect(&translated.intervals);
            used.push(Used { field: 0, leaf, tightness: translated.tightness });
        }
    }
    let exact = used
        .iter()
        .filter(|used| used.leaf.is_whole_conjunct() && used.tightness == Tightness::Exact);
    Some(Assignment {
        bounds: vec![Intervals::point(RawBson::String(path.as_str().to_owned()), None), intervals],
        exact: exact.map(|used| used.leaf.conjunct).collect(),
        on_key: Vec::new(),
        used: used.len(),
        wildcard: Some(path),
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
