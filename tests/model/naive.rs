//! The naive store: a list of documents, every operation a pass over it.

#![expect(
    clippy::panic,
    reason = "a step that the naive store does not know is a mistake in the test"
)]

use std::cmp::Ordering;

use bson::{Bson, Document, doc};

use crate::history::Step;
use crate::order::{compare, kind};

#[derive(Default)]
pub struct Naive {
    documents: Vec<Document>,
}

impl Naive {
    /// What the step returns, in the form [`crate::place::Place::apply`] gives it as well.
    pub fn apply(&mut self, step: &Step) -> Vec<Document> {
        match step {
            Step::Insert(document) => {
                let taken =
                    self.documents.iter().any(|other| other.get("_id") == document.get("_id"));
                if taken {
                    return vec![doc! { "code": 11000 }];
                }
                self.documents.push(document.clone());
                vec![doc! { "n": 1 }]
            }
            Step::Update(filter, update) => {
                let (mut matched, mut modified) = (0, 0);
                for document in &mut self.documents {
                    if matches(document, filter) {
                        matched += 1;
                        let before = document.clone();
                        change(document, update);
                        modified += i32::from(*document != before);
                    }
                }
                vec![doc! { "n": matched, "nModified": modified }]
            }
            Step::Replace(id, fields) => {
                let found =
                    self.documents.iter_mut().find(|other| other.get_i32("_id").ok() == Some(*id));
                let Some(document) = found else { return vec![doc! { "n": 0, "nModified": 0 }] };
                let mut replacement = doc! { "_id": *id };
                replacement.extend(fields.clone());
                let modified = i32::from(*document != replacement);
                *document = replacement;
                vec![doc! { "n": 1, "nModified": modified }]
            }
            Step::Delete(filter) => {
                let before = self.documents.len();
                self.documents.retain(|document| !matches(document, filter));
                vec![doc! { "n": (before - self.documents.len()) as i32 }]
            }
            Step::Find(filter, sort, skip, limit) => {
                let mut found: Vec<Document> = self
                    .documents
                    .iter()
                    .filter(|document| matches(document, filter))
                    .cloned()
                    .collect();
                found.sort_by(|left, right| by(sort, left, right));
                let limit = if *limit == 0 { usize::MAX } else { *limit };
                found.into_iter().skip(*skip).take(limit).collect()
            }
            Step::Count(filter) => {
                let count =
                    self.documents.iter().filter(|document| matches(document, filter)).count();
                vec![doc! { "n": count as i32 }]
            }
            Step::Distinct(field, filter) => {
                let mut values: Vec<Bson> = Vec::new();
                for document in self.documents.iter().filter(|document| matches(document, filter)) {
                    for value in elements(get(document, field)) {
                        if !values.iter().any(|other| compare(other, &value).is_eq()) {
                            values.push(value);
                        }
                    }
                }
                vec![doc! { "values": values.len() as i32 }]
            }
        }
    }
}

fn get<'a>(document: &'a Document, path: &str) -> Option<&'a Bson> {
    let mut names = path.split('.');
    let mut value = document.get(names.next()?)?;
    for name in names {
        value = value.as_document()?.get(name)?;
    }
    Some(value)
}

/// An array stands for its elements; anything else for itself.
fn elements(value: Option<&Bson>) -> Vec<Bson> {
    match value {
        None => vec![],
        Some(Bson::Array(elements)) => elements.clone(),
        Some(value) => vec![value.clone()],
    }
}

fn matches(document: &Document, filter: &Document) -> bool {
    filter.iter().all(|(name, condition)| match (name.as_str(), condition) {
        ("$or", Bson::Array(branches)) => {
            branches.iter().filter_map(Bson::as_document).any(|branch| matches(document, branch))
        }
        (path, Bson::Document(operators)) => operators
            .iter()
            .all(|(operator, argument)| holds(get(document, path), operator, argument)),
        (path, value) => holds(get(document, path), "$eq", value),
    })
}

fn holds(value: Option<&Bson>, operator: &str, argument: &Bson) -> bool {
    let list = || argument.as_array().into_iter().flatten();
    match operator {
        "$eq" => equal(value, argument),
        "$ne" => !equal(value, argument),
        "$in" => list().any(|one| equal(value, one)),
        "$nin" => !list().any(|one| equal(value, one)),
        "$exists" => value.is_some() == (*argument == Bson::Boolean(true)),
        "$gt" => ordered(value, argument, Ordering::is_gt),
        "$gte" => ordered(value, argument, Ordering::is_ge),
        "$lt" => ordered(value, argument, Ordering::is_lt),
        "$lte" => ordered(value, argument, Ordering::is_le),
        other => panic!("the naive store has no {other}"),
    }
}

fn equal(value: Option<&Bson>, argument: &Bson) -> bool {
    match value {
        None => *argument == Bson::Null,
        Some(value) => {
            elements(Some(value)).iter().any(|element| compare(element, argument).is_eq())
        }
    }
}

/// Only values of the argument's own kind compare with it.
fn ordered(value: Option<&Bson>, argument: &Bson, holds: impl Fn(Ordering) -> bool) -> bool {
    // A missing field is null to $gte and $lte.
    let value = value.cloned().unwrap_or(Bson::Null);
    elements(Some(&value))
        .iter()
        .any(|element| kind(element) == kind(argument) && holds(compare(element, argument)))
}

fn by(sort: &Document, left: &Document, right: &Document) -> Ordering {
    for (path, direction) in sort {
        let downwards = *direction == Bson::Int32(-1);
        let (left, right) = (key(left, path, downwards), key(right, path, downwards));
        let order = compare(&left, &right);
        let order = if downwards { order.reverse() } else { order };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// What a document sorts by: of an array the smallest element, downwards the largest; an empty
/// one comes before null.
fn key(document: &Document, path: &str, downwards: bool) -> Bson {
    match get(document, path) {
        None => Bson::Null,
        Some(Bson::Array(elements)) => {
            let end = if downwards {
                elements.iter().max_by(|left, right| compare(left, right))
            } else {
                elements.iter().min_by(|left, right| compare(left, right))
            };
            end.cloned().unwrap_or(Bson::Undefined)
        }
        Some(value) => value.clone(),
    }
}

fn change(document: &mut Document, update: &Document) {
    for (operator, fields) in update {
        for (path, argument) in fields.as_document().into_iter().flatten() {
            let (parent, name) = match path.split_once('.') {
                None => (&mut *document, path.as_str()),
                Some((parent, name)) => {
                    if operator == "$set" && !document.contains_key(parent) {
                        document.insert(parent, Document::new());
                    }
                    match document.get_document_mut(parent) {
                        Ok(parent) => (parent, name),
                        Err(_) => continue,
                    }
                }
            };
            match operator.as_str() {
                "$set" => {
                    parent.insert(name, argument.clone());
                }
                "$unset" => {
                    parent.remove(name);
                }
                "$inc" => {
                    let sum = parent.get_i32(name).unwrap_or(0) + argument.as_i32().unwrap_or(0);
                    parent.insert(name, sum);
                }
                other => panic!("the naive store has no {other}"),
            }
        }
    }
}
