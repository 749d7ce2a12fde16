//! What a filter means, on parsed documents: every value a path reaches is collected first, then
//! asked.

use std::cmp::Ordering;

use bson::{Bson, Document};

use crate::order::{compare, kind};

pub fn matches(document: &Document, filter: &Document) -> bool {
    let branches = |condition: &Bson| -> Vec<bool> {
        let branches = condition.as_array().into_iter().flatten().filter_map(Bson::as_document);
        branches.map(|branch| matches(document, branch)).collect()
    };
    filter.iter().all(|(name, condition)| match name.as_str() {
        "$and" => branches(condition).into_iter().all(|matched| matched),
        "$or" => branches(condition).into_iter().any(|matched| matched),
        "$nor" => !branches(condition).into_iter().any(|matched| matched),
        path => match operators(condition) {
            Some(operators) => all(Subject::Path(document, path), operators),
            None => holds(Subject::Path(document, path), "$eq", condition),
        },
    })
}

fn operators(condition: &Bson) -> Option<&Document> {
    let document = condition.as_document()?;
    document.keys().next().is_some_and(|name| name.starts_with('$')).then_some(document)
}

/// What a condition is about: a path of a document, or one element of an array.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Path(&'a Document, &'a str),
    Element(&'a Bson),
}

impl Subject<'_> {
    /// The values to ask, `None` for a field that is not there. `each` also gives the elements of
    /// an array at the end of the path.
    fn values(&self, each: bool) -> Vec<Option<Bson>> {
        match self {
            Subject::Element(value) => vec![Some((*value).clone())],
            Subject::Path(document, path) => {
                let mut values = Vec::new();
                let parts: Vec<&str> = path.split('.').collect();
                reach(document, &parts, each, &mut values);
                values
            }
        }
    }
}

fn reach(document: &Document, parts: &[&str], each: bool, values: &mut Vec<Option<Bson>>) {
    let value = document.get(parts[0]);
    match (value, &parts[1..]) {
        (None, _) => values.push(None),
        (Some(Bson::Array(items)), []) => {
            if each {
                values.extend(items.iter().cloned().map(Some));
            }
            values.push(value.cloned());
        }
        (Some(_), []) => values.push(value.cloned()),
        (Some(Bson::Document(inner)), rest) => reach(inner, rest, each, values),
        (Some(Bson::Array(items)), rest) => through(items, rest, each, values),
        (Some(_), _) => values.push(None),
    }
}

/// Goes on through the elements of an array: documents by name, and one element by number.
fn through(items: &[Bson], parts: &[&str], each: bool, values: &mut Vec<Option<Bson>>) {
    for (index, item) in items.iter().enumerate() {
        if let Bson::Document(inner) = item {
            reach(inner, parts, each, values);
        }
        if parts[0] == index.to_string() {
            match (item, &parts[1..]) {
                (item, []) => values.push(Some(item.clone())),
                (Bson::Document(inner), rest) => reach(inner, rest, each, values),
                (Bson::Array(inner), rest) => through(inner, rest, each, values),
                _ => {}
            }
        }
    }
}

fn all(subject: Subject<'_>, operators: &Document) -> bool {
    operators.iter().all(|(operator, argument)| holds(subject, operator, argument))
}

fn holds(subject: Subject<'_>, operator: &str, argument: &Bson) -> bool {
    let list = || argument.as_array().into_iter().flatten();
    let any = |holds: &dyn Fn(Option<&Bson>) -> bool| {
        subject.values(true).iter().any(|value| holds(value.as_ref()))
    };
    let any_array = |holds: &dyn Fn(&[Bson]) -> bool| {
        let arrays = subject.values(false);
        arrays.iter().flatten().filter_map(Bson::as_array).any(|array| holds(array))
    };
    match operator {
        "$eq" => any(&|value| compares(value, argument, Ordering::is_eq)),
        "$gt" => any(&|value| compares(value, argument, Ordering::is_gt)),
        "$gte" => any(&|value| compares(value, argument, Ordering::is_ge)),
        "$lt" => any(&|value| compares(value, argument, Ordering::is_lt)),
        "$lte" => any(&|value| compares(value, argument, Ordering::is_le)),
        "$ne" => !holds(subject, "$eq", argument),
        "$in" => list().any(|one| holds(subject, "$eq", one)),
        "$nin" => !holds(subject, "$in", argument),
        "$all" => list().count() > 0 && list().all(|one| holds(subject, "$eq", one)),
        "$exists" => any(&|value| value.is_some()) == (*argument == Bson::Boolean(true)),
        "$not" => !argument.as_document().is_some_and(|inner| all(subject, inner)),
        "$type" => any(&|value| value.is_some_and(|value| is_type(value, argument))),
        "$mod" => any(&|value| value.is_some_and(|value| has_remainder(value, argument))),
        "$size" => any_array(&|array| Some(array.len() as i32) == argument.as_i32()),
        "$elemMatch" => {
            let Some(condition) = argument.as_document() else { return false };
            any_array(&|array| array.iter().any(|item| element_matches(item, condition)))
        }
        other => unreachable!("the model has no {other}"),
    }
}

fn element_matches(item: &Bson, condition: &Document) -> bool {
    let first = condition.keys().next().map(String::as_str).unwrap_or_default();
    if first.starts_with('$') && !matches!(first, "$and" | "$or" | "$nor") {
        return all(Subject::Element(item), condition);
    }
    match item {
        Bson::Document(inner) => matches(inner, condition),
        // An array is a document whose names are its indexes.
        Bson::Array(items) => {
            let fields = items.iter().enumerate();
            let document = fields.map(|(index, item)| (index.to_string(), item.clone())).collect();
            matches(&document, condition)
        }
        _ => false,
    }
}

/// Values of one kind compare; what is missing is null; everything is between MinKey and MaxKey.
fn compares(value: Option<&Bson>, argument: &Bson, holds: fn(Ordering) -> bool) -> bool {
    let null = Bson::Null;
    let value = match value {
        None if *argument == Bson::Null => &null,
        None => &Bson::Undefined,
        Some(value) => value,
    };
    if kind(value) != kind(argument) {
        return match argument {
            Bson::MinKey => holds(Ordering::Greater) && !holds(Ordering::Less),
            Bson::MaxKey => holds(Ordering::Less) && !holds(Ordering::Greater),
            _ => false,
        };
    }
    let is_nan = |value: &Bson| matches!(value, Bson::Double(number) if number.is_nan());
    is_nan(value) == is_nan(argument) && holds(compare(value, argument))
}

fn is_type(value: &Bson, name: &Bson) -> bool {
    match name.as_str().unwrap_or_default() {
        "number" => matches!(value, Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_)),
        "string" => matches!(value, Bson::String(_)),
        "object" => matches!(value, Bson::Document(_)),
        "array" => matches!(value, Bson::Array(_)),
        "null" => matches!(value, Bson::Null),
        "bool" => matches!(value, Bson::Boolean(_)),
        "int" => matches!(value, Bson::Int32(_)),
        "double" => matches!(value, Bson::Double(_)),
        other => unreachable!("the model has no type {other}"),
    }
}

fn has_remainder(value: &Bson, argument: &Bson) -> bool {
    let number = match value {
        Bson::Int32(number) => i64::from(*number),
        Bson::Int64(number) => *number,
        Bson::Double(number) if number.is_finite() => *number as i64,
        _ => return false,
    };
    let Some([divisor, remainder]) = argument.as_array().map(Vec::as_slice) else { return false };
    let part = |bson: &Bson| i64::from(bson.as_i32().unwrap_or_default());
    number % part(divisor) == part(remainder)
}
