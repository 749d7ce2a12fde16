//! Which elements operations take from an end of an array.

use bson::{Bson, Document};

/// Which end of an array is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    First,
    Last,
}

/// Operations that take elements from one end of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    pub path: String,
    pub end: End,
    /// How many operations do,
    pub operations: u64,
    /// and the most elements that one takes.
    pub elements: u64,
}

/// What so many operations take that have this projection and this pipeline.
pub fn taken(projection: &Document, pipeline: &[Document], operations: u64) -> Vec<Taken> {
    let mut found = Vec::new();
    cuts(projection, "", &mut found);
    expressions(projection, &mut found);
    pipeline.iter().for_each(|stage| expressions(stage, &mut found));
    let mut taken: Vec<Taken> = Vec::new();
    for (path, (end, elements)) in found {
        match taken.iter_mut().find(|it| it.path == path && it.end == end) {
            Some(known) => known.elements = known.elements.max(elements),
            None => taken.push(Taken { path, end, operations, elements }),
        }
    }
    taken
}

/// Adds what further operations take.
pub fn merge(taken: &mut Vec<Taken>, others: &[Taken]) {
    for other in others {
        match taken.iter_mut().find(|it| it.path == other.path && it.end == other.end) {
            Some(known) => {
                known.operations += other.operations;
                known.elements = known.elements.max(other.elements);
            }
            None => taken.push(other.clone()),
        }
    }
}

/// An end of the array at a path, and how many of its elements.
type Found = (String, (End, u64));

/// The `$slice` of a projection: `{a: {$slice: -20}}`, `{a: {$slice: [0, 20]}}`.
fn cuts(projection: &Document, prefix: &str, found: &mut Vec<Found>) {
    for (key, value) in projection {
        let Bson::Document(inner) = value else { continue };
        let at = format!("{prefix}{key}");
        match inner.get("$slice") {
            Some(cut) => found.extend(cut_of(cut).map(|cut| (at, cut))),
            None => cuts(inner, &format!("{at}."), found),
        }
    }
}

fn cut_of(cut: &Bson) -> Option<(End, u64)> {
    let (skip, count) = match cut {
        Bson::Array(both) => match &both[..] {
            [skip, count] => (whole(skip)?, whole(count)?),
            _ => return None,
        },
        count => match whole(count)? {
            count if count < 0 => (count, 0),
            count => (0, count),
        },
    };
    Some(match skip < 0 {
        true => (End::Last, skip.unsigned_abs()),
        false => (End::First, skip.saturating_add(count).unsigned_abs()),
    })
}

/// Expressions that take elements from an end of an array.
fn expressions(document: &Document, found: &mut Vec<Found>) {
    for (operator, argument) in document {
        found.extend(expression(operator, argument));
        match argument {
            Bson::Document(inner) => expressions(inner, found),
            Bson::Array(items) => {
                let items = items.iter().filter_map(Bson::as_document);
                items.for_each(|item| expressions(item, found));
            }
            _ => {}
        }
    }
}

fn expression(operator: &str, argument: &Bson) -> Option<Found> {
    match (operator, argument) {
        ("$first", array) => Some((field(array)?, (End::First, 1))),
        ("$last", array) => Some((field(array)?, (End::Last, 1))),
        ("$firstN" | "$lastN", Bson::Document(of)) => {
            let count = of.get("n").and_then(whole)?.unsigned_abs();
            let end = if operator == "$firstN" { End::First } else { End::Last };
            Some((field(of.get("input")?)?, (end, count)))
        }
        ("$arrayElemAt", Bson::Array(of)) => {
            let [array, index] = &of[..] else { return None };
            let at = match whole(index)? {
                index if index < 0 => (End::Last, index.unsigned_abs()),
                index => (End::First, index.unsigned_abs() + 1),
            };
            Some((field(array)?, at))
        }
        ("$slice", Bson::Array(of)) => match &of[..] {
            [array, count] => Some((field(array)?, cut_of(count)?)),
            [array, skip, count] => {
                Some((field(array)?, cut_of(&Bson::Array(vec![skip.clone(), count.clone()]))?))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The path of a field; variables are none.
fn field(value: &Bson) -> Option<String> {
    let path = value.as_str()?.strip_prefix('$')?;
    (!path.starts_with('$')).then(|| path.to_owned())
}

/// A whole number; the shapes of query statistics have none.
fn whole(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        Bson::Double(number) if number.fract() == 0.0 => Some(*number as i64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    #[test]
    fn every_way_to_take_from_an_end_is_known() {
        let find = |projection: Document| taken(&projection, &[], 1);
        let project =
            |expression: Document| taken(&doc! {}, &[doc! { "$project": { "x": expression } }], 1);
        let least = i64::MIN;
        for (found, end, elements) in [
            (find(doc! { "s.a": { "$slice": -20 } }), End::Last, 20),
            (find(doc! { "s": { "a": { "$slice": 5 } } }), End::First, 5),
            (find(doc! { "s.a": { "$slice": [10, 5] } }), End::First, 15),
            (find(doc! { "s.a": { "$slice": [-10, 5] } }), End::Last, 10),
            (find(doc! { "s.a": { "$slice": least } }), End::Last, least.unsigned_abs()),
            (project(doc! { "$slice": ["$s.a", -3] }), End::Last, 3),
            (project(doc! { "$last": "$s.a" }), End::Last, 1),
            (project(doc! { "$firstN": { "input": "$s.a", "n": 4 } }), End::First, 4),
            (project(doc! { "$add": [1, { "$arrayElemAt": ["$s.a", -1] }] }), End::Last, 1),
        ] {
            let path = "s.a".to_owned();
            assert_eq!(found, [Taken { path, end, operations: 1, elements }]);
        }
        let nothing = [
            find(doc! { "s.a": { "$slice": "?number" } }),
            project(doc! { "$last": "$$s.a" }),
            project(doc! { "$size": "$s.a" }),
        ];
        assert!(nothing.iter().all(Vec::is_empty));
    }

    #[test]
    fn each_operation_counts_once_for_an_end() {
        let stage = doc! { "$project": { "x": { "$last": "$a" }, "y": { "$slice": ["$a", -9] } } };
        let mut all = taken(&doc! {}, &[stage], 3);
        let expected = |operations, elements| {
            [Taken { path: "a".to_owned(), end: End::Last, operations, elements }]
        };
        assert_eq!(all, expected(3, 9));
        merge(&mut all, &expected(4, 20));
        assert_eq!(all, expected(7, 20));
    }
}
