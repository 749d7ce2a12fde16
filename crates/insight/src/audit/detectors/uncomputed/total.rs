//! What a query counts or adds up.

use crate::audit::facts::{Operation, Predicates, literal};
use crate::report::shell;
use bson::{Bson, Document};

/// The accumulators that a kept field can replace.
const ACCUMULATORS: &[&str] = &["$avg", "$count", "$max", "$min", "$sum"];

#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    /// The fields that say what is counted: of a product, of a day.
    pub by: Vec<String>,
    /// The date that lies in a span of time.
    pub date: Option<String>,
    /// The other conditions, as they were.
    pub rest: Document,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// Figures over many documents.
    Figures(Vec<Figure>),
    /// The length of an array; where the array is found by a `$lookup`, that stage.
    Length(String, Option<Document>),
}

/// `average: {$avg: "$rating"}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub name: String,
    pub operator: String,
    pub operand: Bson,
}

impl Total {
    pub fn of(operation: &Operation) -> Option<Total> {
        let (what, keys) = match &*operation.command {
            "count" if !operation.filter.is_empty() => (What::count(), Vec::new()),
            "aggregate" => What::of_pipeline(&operation.pipeline)?,
            _ => return None,
        };
        let filters = operation.filters();
        let predicates = Predicates::of(filters.iter().copied());
        if predicates.special || !predicates.branches.is_empty() {
            return None;
        }
        let date = predicates.range.iter().find(|path| is_date(&filters, path)).cloned();
        let mut by = predicates.equal;
        for key in keys {
            if !by.contains(&key) && date.as_ref() != Some(&key) {
                by.push(key);
            }
        }
        by.sort();
        let conditions = filters.into_iter().flatten();
        let rest = conditions.filter(|(path, _)| !by.contains(path) && date.as_ref() != Some(path));
        let rest = rest.map(|(path, value)| (path.clone(), value.clone())).collect();
        Some(Total { by, date, rest, what })
    }

    /// Whether two are kept by the same fields.
    pub fn is_of_same(&self, other: &Total) -> bool {
        let kind = |it: &Total| match &it.what {
            What::Figures(_) => None,
            What::Length(path, _) => Some(path.clone()),
        };
        (&self.by, &self.date, kind(self)) == (&other.by, &other.date, kind(other))
    }
}

impl What {
    fn count() -> What {
        let operand = Bson::Int32(1);
        let (name, operator) = ("count".to_owned(), "$sum".to_owned());
        What::Figures(vec![Figure { name, operator, operand }])
    }

    /// What a pipeline adds up, and the fields that it groups by.
    fn of_pipeline(stages: &[Document]) -> Option<(What, Vec<String>)> {
        for stage in stages {
            let (name, inner) = stage.iter().next()?;
            match (&**name, inner) {
                ("$count", _) => return Some((What::count(), Vec::new())),
                ("$sortByCount", Bson::String(path)) => {
                    return Some((What::count(), vec![path.strip_prefix('$')?.to_owned()]));
                }
                // A page of results, and how many there are in all.
                ("$facet", Bson::Document(facets)) => {
                    let facets = facets.values().filter_map(Bson::as_array);
                    return facets
                        .map(|it| documents(it))
                        .find_map(|stages| What::of_pipeline(&stages));
                }
                ("$group", Bson::Document(group)) => {
                    return Some((What::Figures(figures(group)?), keys(group.get("_id"))));
                }
                ("$project" | "$set" | "$addFields", inner) => {
                    if let Some(path) = length(inner) {
                        let into = path.split('.').next().unwrap_or(&path);
                        let joined = stages.iter().find(|stage| {
                            let lookup = stage.get_document("$lookup");
                            lookup.is_ok_and(|it| it.get_str("as").is_ok_and(|it| it == into))
                        });
                        return Some((What::Length(path.clone(), joined.cloned()), Vec::new()));
                    }
                }
                _ => {}
            }
        }
        None
    }
}

fn documents(items: &[Bson]) -> Vec<Document> {
    items.iter().filter_map(|item| item.as_document().cloned()).collect()
}

/// The accumulators of a `$group`, where it has any that count.
fn figures(group: &Document) -> Option<Vec<Figure>> {
    let figure = |(name, value): (&String, &Bson)| {
        let (operator, operand) = value.as_document()?.iter().next()?;
        let (name, operand) = (name.clone(), operand.clone());
        let known = ACCUMULATORS.contains(&&**operator);
        known.then(|| Figure { name, operator: operator.clone(), operand })
    };
    let figures: Vec<Figure> = group.iter().filter_map(figure).collect();
    (!figures.is_empty()).then_some(figures)
}

/// The fields of a group's `_id`.
fn keys(id: Option<&Bson>) -> Vec<String> {
    let path = |value: &Bson| {
        let path = value.as_str()?.strip_prefix('$')?;
        (!path.starts_with('$')).then(|| path.to_owned())
    };
    match id {
        Some(Bson::Document(parts)) => parts.values().filter_map(path).collect(),
        Some(value) => path(value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The array whose `$size` an expression takes.
fn length(expression: &Bson) -> Option<String> {
    match expression {
        Bson::Document(document) => {
            document.iter().find_map(|(key, value)| match (&**key, value) {
                ("$size", Bson::String(path)) => path.strip_prefix('$').map(str::to_owned),
                // `{$size: {$ifNull: ["$list", []]}}`.
                ("$size", Bson::Document(inner)) => {
                    let first = inner.get_array("$ifNull").ok()?.first()?;
                    first.as_str()?.strip_prefix('$').map(str::to_owned)
                }
                (_, value) => length(value),
            })
        }
        Bson::Array(items) => items.iter().find_map(length),
        _ => None,
    }
}

/// Whether a field is compared with dates.
fn is_date(filters: &[&Document], path: &str) -> bool {
    let mut bounds = filters.iter().filter_map(|filter| filter.get_document(path).ok());
    bounds.any(|bounds| {
        bounds.values().all(|it| it.as_datetime().is_some() || it.as_str() == Some("?date"))
    })
}

impl Figure {
    /// Whether it is the same under another name.
    pub fn is_same(&self, other: &Figure) -> bool {
        self.operator == other.operator && self.operand == other.operand
    }

    /// The field that it is of, where it is of one.
    pub fn path(&self) -> Option<&str> {
        self.operand.as_str()?.strip_prefix('$').filter(|path| !path.starts_with('$'))
    }

    pub fn operand(&self) -> String {
        let value = literal(&bson::doc! { "is": self.operand.clone() });
        shell(value.get("is").unwrap_or(&serde_json::Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{DateTime, doc};

    fn total(pipeline: Vec<Document>) -> Option<Total> {
        let command = "aggregate".to_owned();
        Total::of(&Operation { command, pipeline, ..Operation::default() })
    }

    #[test]
    fn what_is_added_up_is_told() {
        let since = DateTime::from_millis(0);
        let filter = doc! { "$match": { "sensor": 1, "ts": { "$gte": since }, "n": { "$ne": 1 } } };
        let group = doc! { "$group": { "_id": { "k": "$kind" }, "n": { "$avg": "$temp" }, "all": { "$push": "$x" } } };
        let found = total(vec![filter, group]).unwrap();
        assert_eq!(found.by, ["kind", "sensor"]);
        assert_eq!(found.date.as_deref(), Some("ts"));
        assert_eq!(found.rest, doc! { "n": { "$ne": 1 } });
        let What::Figures(figures) = found.what else { panic!() };
        assert_eq!((figures.len(), figures[0].path()), (1, Some("temp")));
        let counted = total(vec![doc! { "$sortByCount": "$tag" }]).unwrap();
        assert_eq!(counted.by, ["tag"]);
        let page = doc! { "page": [{ "$limit": 5 }], "all": [{ "$count": "n" }] };
        assert!(total(vec![doc! { "$match": { "a": 1 } }, doc! { "$facet": page }]).is_some());
        let size = total(vec![doc! { "$set": { "n": { "$size": { "$ifNull": ["$list", []] } } } }]);
        assert_eq!(size.unwrap().what, What::Length("list".to_owned(), None));
    }

    #[test]
    fn what_gathers_and_does_not_count_is_none() {
        assert_eq!(total(vec![doc! { "$group": { "_id": "$a", "all": { "$push": "$x" } } }]), None);
        assert_eq!(total(vec![doc! { "$match": { "a": 1 } }]), None);
        let count = Operation { command: "count".to_owned(), ..Operation::default() };
        assert_eq!(Total::of(&count), None);
    }
}
