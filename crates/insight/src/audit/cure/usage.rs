//! How an array is used, as far as the profile and the dates of its elements show.

use crate::audit::census::ArrayCensus;
use crate::audit::detectors::Subject;
use crate::audit::facts::{Operation, Part, Used};
use bson::{Bson, Document};

/// Which end of an array is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    First,
    Last,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Profiled reads that see the array, or elements of it.
    pub reads: u64,
    /// Those that send it whole,
    pub whole: u64,
    /// and those that take some of its first or last elements,
    pub first: u64,
    pub last: u64,
    /// so many of them at most.
    pub taken: u64,
    /// Profiled reads and writes that filter by its elements, and reads that sort by them.
    pub filtered: u64,
    pub sorted: u64,
    /// Where the latest elements are, by their dates.
    pub latest: Option<End>,
}

impl Usage {
    pub fn of(subject: &Subject<'_>, path: &str, array: &ArrayCensus) -> Usage {
        let mut usage = Usage { latest: latest(array), ..Usage::default() };
        let own = subject.collection.operations.iter();
        own.chain(&subject.collection.joined).for_each(|it| usage.add(it, path));
        usage
    }

    /// The end that reads take elements from, or else the one with the latest.
    pub fn end(&self) -> Option<End> {
        match self.last.cmp(&self.first) {
            std::cmp::Ordering::Greater => Some(End::Last),
            std::cmp::Ordering::Less => Some(End::First),
            std::cmp::Ordering::Equal => self.latest,
        }
    }

    fn add(&mut self, operation: &Operation, path: &str) {
        if operation.filters().iter().any(|filter| names(filter, path)) {
            self.filtered += operation.count;
        }
        if operation.sorted().is_some_and(|sort| sort.keys().any(|key| is_at(key, path))) {
            self.sorted += operation.count;
        }
        let used = Used::by(operation);
        if !operation.is_read() || used.part_of(path) == Part::None {
            return;
        }
        self.reads += operation.count;
        let taken = taken(operation, path);
        for (end, elements) in &taken {
            match end {
                End::First => self.first += operation.count,
                End::Last => self.last += operation.count,
            }
            self.taken = self.taken.max(*elements);
        }
        let sent = Used { paths: Vec::new(), ..used };
        if taken.is_empty() && sent.part_of(path) == Part::Whole {
            self.whole += operation.count;
        }
    }
}

/// Where the latest elements of the longest array are.
fn latest(array: &ArrayCensus) -> Option<End> {
    let (_, longest) = array.longest.first()?;
    longest.span.days()?;
    Some(if longest.newest_first { End::First } else { End::Last })
}

/// Whether a filter looks at the array or its elements.
fn names(filter: &Document, path: &str) -> bool {
    let (command, filter) = ("count".to_owned(), filter.clone());
    let used = Used::by(&Operation { command, filter, ..Operation::default() });
    used.paths.iter().any(|used| is_at(used, path))
}

fn is_at(used: &str, path: &str) -> bool {
    used.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The elements that an operation takes from an end of an array.
fn taken(operation: &Operation, path: &str) -> Vec<(End, u64)> {
    let mut found = Vec::new();
    cuts(&operation.projection, "", path, &mut found);
    let field = format!("${path}");
    expressions(&operation.projection, &field, &mut found);
    operation.pipeline.iter().for_each(|stage| expressions(stage, &field, &mut found));
    found
}

/// The `$slice` of a projection: `{a: {$slice: -20}}`, `{a: {$slice: [0, 20]}}`.
fn cuts(projection: &Document, prefix: &str, path: &str, found: &mut Vec<(End, u64)>) {
    for (key, value) in projection {
        let Bson::Document(inner) = value else { continue };
        let at = format!("{prefix}{key}");
        match inner.get("$slice") {
            Some(cut) if at == path => found.extend(cut_of(cut)),
            Some(_) => {}
            None => cuts(inner, &format!("{at}."), path, found),
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
            count if count < 0 => (count, -count),
            count => (0, count),
        },
    };
    Some(match skip < 0 {
        true => (End::Last, skip.unsigned_abs()),
        false => (End::First, skip.saturating_add(count).unsigned_abs()),
    })
}

/// Expressions that take elements from an end of an array.
fn expressions(document: &Document, field: &str, found: &mut Vec<(End, u64)>) {
    for (operator, argument) in document {
        found.extend(expression(operator, argument, field));
        match argument {
            Bson::Document(inner) => expressions(inner, field, found),
            Bson::Array(items) => {
                let items = items.iter().filter_map(Bson::as_document);
                items.for_each(|item| expressions(item, field, found));
            }
            _ => {}
        }
    }
}

fn expression(operator: &str, argument: &Bson, field: &str) -> Option<(End, u64)> {
    let is_field = |value: &Bson| value.as_str() == Some(field);
    match (operator, argument) {
        ("$first", array) if is_field(array) => Some((End::First, 1)),
        ("$last", array) if is_field(array) => Some((End::Last, 1)),
        ("$firstN" | "$lastN", Bson::Document(of)) if of.get("input").is_some_and(is_field) => {
            let count = of.get("n").and_then(whole)?.unsigned_abs();
            Some((if operator == "$firstN" { End::First } else { End::Last }, count))
        }
        ("$arrayElemAt", Bson::Array(of)) => match &of[..] {
            [array, index] if is_field(array) => match whole(index)? {
                index if index < 0 => Some((End::Last, index.unsigned_abs())),
                index => Some((End::First, index.unsigned_abs() + 1)),
            },
            _ => None,
        },
        ("$slice", Bson::Array(of)) => match &of[..] {
            [array, count] if is_field(array) => cut_of(count),
            [array, skip, count] if is_field(array) => {
                cut_of(&Bson::Array(vec![skip.clone(), count.clone()]))
            }
            _ => None,
        },
        _ => None,
    }
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

    fn find(filter: Document, projection: Document) -> Operation {
        let command = "find".to_owned();
        Operation { command, filter, projection, count: 1, ..Operation::default() }
    }

    fn aggregate(pipeline: Vec<Document>) -> Operation {
        let command = "aggregate".to_owned();
        Operation { command, pipeline, count: 1, ..Operation::default() }
    }

    #[test]
    fn every_way_to_take_from_an_end_is_known() {
        let project =
            |expression: Document| aggregate(vec![doc! { "$project": { "x": expression } }]);
        for (operation, expected) in [
            (find(doc! {}, doc! { "s.a": { "$slice": -20 } }), (End::Last, 20)),
            (find(doc! {}, doc! { "s": { "a": { "$slice": 5 } } }), (End::First, 5)),
            (find(doc! {}, doc! { "s.a": { "$slice": [10, 5] } }), (End::First, 15)),
            (find(doc! {}, doc! { "s.a": { "$slice": [-10, 5] } }), (End::Last, 10)),
            (project(doc! { "$slice": ["$s.a", -3] }), (End::Last, 3)),
            (project(doc! { "$last": "$s.a" }), (End::Last, 1)),
            (project(doc! { "$firstN": { "input": "$s.a", "n": 4 } }), (End::First, 4)),
            (project(doc! { "$add": [1, { "$arrayElemAt": ["$s.a", -1] }] }), (End::Last, 1)),
        ] {
            assert_eq!(taken(&operation, "s.a"), [expected], "{operation:?}");
        }
        let other = [
            find(doc! {}, doc! { "s.b": { "$slice": -20 } }),
            find(doc! {}, doc! { "s.a": { "$slice": "?number" } }),
            project(doc! { "$last": "$s" }),
        ];
        assert!(other.iter().all(|operation| taken(operation, "s.a").is_empty()));
    }

    #[test]
    fn what_sees_the_array_is_counted() {
        let mut usage = Usage::default();
        for operation in [
            find(doc! { "a.kind": 1 }, doc! {}),
            find(doc! {}, doc! { "a": { "$slice": -2 } }),
            find(doc! { "_id": 1 }, doc! { "name": 1 }),
            find(doc! { "a": { "$elemMatch": { "n": 1 } } }, doc! { "name": 1 }),
            Operation { sort: doc! { "a.n": 1 }, ..find(doc! {}, doc! { "name": 1 }) },
            Operation { command: "update".to_owned(), ..find(doc! { "a.n": 5 }, doc! {}) },
        ] {
            usage.add(&operation, "a");
        }
        let expected = Usage {
            reads: 4,
            whole: 1,
            last: 1,
            taken: 2,
            filtered: 3,
            sorted: 1,
            ..Usage::default()
        };
        assert_eq!(usage, expected);
        assert_eq!(usage.end(), Some(End::Last));
    }
}
