//! One predicate on one index field, as intervals.

use super::bracket::{self, bracket};
use super::interval::{End, Interval, Intervals};
use crate::catalog::IndexKind;
use crate::index::hashed;
use bson::spec::ElementType;
use bson::{RawBson, RawBsonRef};
use language::query::Predicate;
use language::query::operators::{Beyond, In, Regex, Side, Types};
use value::Collator;

/// What the bounds of a field depend on beside the predicate.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub kind: IndexKind,
    /// The index's collation.
    pub collator: Option<&'a Collator>,
    /// Whether the query compares strings as the index does.
    pub same_collation: bool,
    /// Whether a document may have several keys for this field.
    pub multikey: bool,
    /// Whether every document in the index has this field: it is the only field
    /// of a sparse index.
    pub present: bool,
    /// Whether a component of the path may be a position in an array.
    pub positional: bool,
}

/// How much of the predicate the intervals express.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tightness {
    /// A document matches if and only if one of its keys lies in the intervals.
    Exact,
    /// Every match has a key there; the key alone tells whether it matches.
    Key,
    /// Every match has a key there; only the document tells whether it matches.
    Document,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translated {
    pub intervals: Intervals,
    pub tightness: Tightness,
}

impl Translated {
    fn exact(intervals: Intervals) -> Option<Translated> {
        Some(Translated { intervals, tightness: Tightness::Exact })
    }

    fn document(intervals: Intervals) -> Option<Translated> {
        Some(Translated { intervals, tightness: Tightness::Document })
    }
}

/// The intervals for a predicate, or `None` if the index cannot help with it.
pub fn translate(predicate: &Predicate, target: Target<'_>) -> Option<Translated> {
    if target.positional {
        return positional(predicate, target);
    }
    if target.kind == IndexKind::Hashed {
        return translate_hashed(predicate, target);
    }
    match predicate {
        Predicate::Eq(value) => equal(value.as_raw_bson_ref(), target),
        Predicate::Gt(value) => compare(value.as_raw_bson_ref(), target, Side::Above, false),
        Predicate::Gte(value) => compare(value.as_raw_bson_ref(), target, Side::Above, true),
        Predicate::Lt(value) => compare(value.as_raw_bson_ref(), target, Side::Below, false),
        Predicate::Lte(value) => compare(value.as_raw_bson_ref(), target, Side::Below, true),
        Predicate::In(list) => any_of(list, target),
        Predicate::Regex(pattern) => Some(regex(pattern, target)),
        Predicate::Exists(true) if target.present => Translated::exact(Intervals::all()),
        Predicate::Exists(true) => Translated::document(Intervals::all()),
        Predicate::Exists(false) => Translated::document(null()),
        Predicate::Not(inner) => not(inner, target),
        Predicate::Type(types) => of_types(types),
        Predicate::Beyond(beyond) => computed(beyond, target),
        _ => None,
    }
}

/// All values of the classes that the types belong to. An array is indexed by its
/// elements, so that asking for arrays finds nothing in an index.
fn of_types(types: &Types) -> Option<Translated> {
    let mut intervals = Vec::new();
    if types.all_numbers {
        intervals.push(bracket::class(ElementType::Double)?);
    }
    for kind in &types.kinds {
        intervals.push(bracket::class(*kind)?);
    }
    Translated::document(Intervals::of(intervals))
}

/// Whether the predicate can only match documents that have the field. `single`
/// says that the path has one component.
pub fn implies_exists(predicate: &Predicate, single: bool) -> bool {
    let present = |value: &RawBson| !matches!(value, RawBson::Null | RawBson::Undefined);
    match predicate {
        Predicate::Eq(value)
        | Predicate::Gt(value)
        | Predicate::Gte(value)
        | Predicate::Lt(value)
        | Predicate::Lte(value) => {
            present(value) && !matches!(value, RawBson::MinKey | RawBson::MaxKey)
        }
        Predicate::In(list) => list.values.iter().all(present),
        Predicate::Regex(_)
        | Predicate::Exists(true)
        | Predicate::ElemMatchObject(_)
        | Predicate::ElemMatchValue(_)
        | Predicate::Type(_)
        | Predicate::Size(_)
        | Predicate::Mod(_)
        | Predicate::Bits(_) => true,
        // Below an empty array a path is missing and yet not null.
        Predicate::Not(inner) => {
            single && matches!(&**inner, Predicate::Eq(RawBson::Null) | Predicate::Exists(false))
        }
        _ => false,
    }
}

/// `a.0` may be a position or the field `0` of elements: a document can match by
/// the one, missing it by the other. The index holds the position alone.
fn positional(predicate: &Predicate, target: Target<'_>) -> Option<Translated> {
    let finds_missing = !implies_exists(predicate, false);
    if finds_missing || matches!(predicate, Predicate::Not(_)) {
        return None;
    }
    let translated = translate(predicate, Target { positional: false, ..target })?;
    Some(Translated { tightness: Tightness::Document, ..translated })
}

fn equal(value: RawBsonRef<'_>, target: Target<'_>) -> Option<Translated> {
    match value {
        RawBsonRef::Null => Some(null_equality(target)),
        RawBsonRef::Array(array) => {
            // Either the whole array is an element of an array, or the document's
            // array equals it and its first element is a key.
            if !target.same_collation {
                return None;
            }
            let first = value::element::array_elements(array).next();
            let first = first.map_or(RawBson::Undefined, |element| element.value().into());
            let whole = Intervals::point(value.into(), target.collator);
            Translated::document(whole.union(Intervals::point(first, target.collator)))
        }
        RawBsonRef::Undefined => Translated::document(null()),
        value if holds_strings(value) && !target.same_collation => None,
        value => Translated::exact(Intervals::point(value.into(), target.collator)),
    }
}

/// Null, and missing, which is indexed as null. Below an array, a key of null may
/// come from one element while the document does not match.
fn null_equality(target: Target<'_>) -> Translated {
    let tightness = if target.multikey { Tightness::Document } else { Tightness::Exact };
    Translated { intervals: null(), tightness }
}

fn null() -> Intervals {
    Intervals::point(RawBson::Null, None)
}

/// Null and undefined, which are of one class when it comes to order.
fn nothing() -> Intervals {
    null().union(Intervals::point(RawBson::Undefined, None))
}

fn compare(
    value: RawBsonRef<'_>,
    target: Target<'_>,
    side: Side,
    inclusive: bool,
) -> Option<Translated> {
    match value {
        RawBsonRef::Array(_) => return None,
        RawBsonRef::Null | RawBsonRef::Undefined => return Translated::document(nothing()),
        RawBsonRef::MinKey | RawBsonRef::MaxKey => {
            return Translated::document(cut(everything(), value, None, side, inclusive));
        }
        value if is_nan(value) => {
            return Translated::document(Intervals::point(value.into(), None));
        }
        value if holds_strings(value) && !target.same_collation => return None,
        _ => {}
    }
    let bracket = bracket(value)?;
    Translated::exact(cut(bracket, value, target.collator, side, inclusive))
}

/// A comparison of an expression is not confined to a type. To it an array is one value,
/// of which the index holds the elements.
fn computed(beyond: &Beyond, target: Target<'_>) -> Option<Translated> {
    let value = beyond.value.as_raw_bson_ref();
    if target.multikey || holds_strings(value) && !target.same_collation {
        return None;
    }
    let cut = cut(everything(), value, target.collator, beyond.side, beyond.inclusive);
    Translated::document(cut)
}

fn everything() -> Interval {
    Interval {
        start: End::new(RawBson::MinKey, None),
        start_inclusive: true,
        end: End::new(RawBson::MaxKey, None),
        end_inclusive: true,
    }
}

/// The part of an interval on one side of a value.
fn cut(
    mut interval: Interval,
    at: RawBsonRef<'_>,
    collator: Option<&Collator>,
    side: Side,
    inclusive: bool,
) -> Intervals {
    let end = End::new(at.into(), collator);
    match side {
        Side::Above => {
            interval.start = end;
            interval.start_inclusive = inclusive;
        }
        Side::Below => {
            interval.end = end;
            interval.end_inclusive = inclusive;
        }
    }
    Intervals::one(interval)
}

fn any_of(list: &In, target: Target<'_>) -> Option<Translated> {
    let mut union = Translated { intervals: Intervals::none(), tightness: Tightness::Exact };
    let mut intervals = Vec::new();
    for value in &list.values {
        let one = equal(value.as_raw_bson_ref(), target)?;
        union.tightness = union.tightness.max(one.tightness);
        intervals.extend_from_slice(one.intervals.as_slice());
    }
    for pattern in &list.patterns {
        let one = regex(pattern, target);
        union.tightness = union.tightness.max(one.tightness);
        intervals.extend_from_slice(one.intervals.as_slice());
    }
    union.intervals = Intervals::of(intervals);
    Some(union)
}

/// Strings that may match, and regular expressions equal to the pattern.
fn regex(pattern: &Regex, target: Target<'_>) -> Translated {
    // The keys of an index with a collation do not hold the text.
    let (strings, mut tightness) = match (&pattern.prefix, target.collator) {
        (_, Some(_)) => (bracket::strings(), Tightness::Document),
        (Some(prefix), None) => {
            let whole = pattern.options.is_empty()
                && pattern.pattern.strip_prefix('^') == Some(prefix.as_str());
            let tightness = if whole { Tightness::Exact } else { Tightness::Key };
            (starting_with(prefix), tightness)
        }
        (None, None) => (bracket::strings(), Tightness::Key),
    };
    let intervals = match itself(pattern) {
        Some(regex) => strings.union(Intervals::point(regex, target.collator)),
        None => {
            tightness = Tightness::Document;
            Intervals::all()
        }
    };
    Translated { intervals, tightness }
}

/// The pattern as a value.
fn itself(pattern: &Regex) -> Option<RawBson> {
    Some(RawBson::RegularExpression(bson::Regex {
        pattern: pattern.pattern.as_str().try_into().ok()?,
        options: pattern.options.as_str().try_into().ok()?,
    }))
}

/// All strings that begin with a prefix.
fn starting_with(prefix: &str) -> Intervals {
    let end = match after_all(prefix) {
        Some(text) => RawBson::String(text),
        None => bracket::empty_document(),
    };
    Intervals::one(Interval {
        start: End::new(RawBson::String(prefix.to_owned()), None),
        start_inclusive: true,
        end: End::new(end, None),
        end_inclusive: false,
    })
}

/// The least string above all that begin with `prefix`.
fn after_all(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        let next = match last {
            '\u{d7ff}' => Some('\u{e000}'),
            last => char::from_u32(u32::from(last) + 1),
        };
        if let Some(next) = next {
            text.push(next);
            return Some(text);
        }
    }
    None
}

/// The complement, which only holds for exact bounds. Where a document has
/// several keys, one of them outside proves nothing.
fn not(inner: &Predicate, target: Target<'_>) -> Option<Translated> {
    if let Predicate::Exists(exists) = inner {
        return translate(&Predicate::Exists(!exists), target);
    }
    let inner = translate(inner, target)?;
    if inner.tightness != Tightness::Exact {
        return None;
    }
    let tightness = if target.multikey { Tightness::Document } else { Tightness::Exact };
    Some(Translated { intervals: inner.intervals.complement(), tightness })
}

/// A hash only finds equal values, and others by accident.
fn translate_hashed(predicate: &Predicate, target: Target<'_>) -> Option<Translated> {
    let hash = |value: &RawBson| -> Option<Intervals> {
        let value = value.as_raw_bson_ref();
        let comparable = target.same_collation || !holds_strings(value);
        let array = matches!(value, RawBsonRef::Array(_) | RawBsonRef::Undefined);
        (comparable && !array)
            .then(|| Intervals::point(hashed::value(value, target.collator), None))
    };
    match predicate {
        Predicate::Eq(value) => Translated::document(hash(value)?),
        Predicate::Exists(false) => Translated::document(hash(&RawBson::Null)?),
        Predicate::In(In { values, patterns }) if patterns.is_empty() => {
            let mut intervals = Vec::with_capacity(values.len());
            for value in values {
                intervals.extend_from_slice(hash(value)?.as_slice());
            }
            Translated::document(Intervals::of(intervals))
        }
        _ => None,
    }
}

/// Whether comparing with this value depends on the collation.
fn holds_strings(value: RawBsonRef<'_>) -> bool {
    matches!(
        value,
        RawBsonRef::String(_)
            | RawBsonRef::Symbol(_)
            | RawBsonRef::Document(_)
            | RawBsonRef::Array(_)
    )
}

fn is_nan(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Double(number) => number.is_nan(),
        RawBsonRef::Decimal128(number) => number.to_string().contains("NaN"),
        _ => false,
    }
}
