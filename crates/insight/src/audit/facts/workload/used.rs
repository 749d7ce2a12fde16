//! Which fields of its documents an operation uses.
//!
//! In doubt it uses everything: a read without a projection does, and so does a stage that
//! is not understood here.

use super::Operation;
use super::lookup::JOIN;
use super::shape::{is_operators, is_set};
use bson::{Bson, Document};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Used {
    /// Whether it sends whole documents,
    pub all: bool,
    /// but for these.
    pub except: Vec<String>,
    /// What it looks at, or sends by name.
    pub paths: Vec<String>,
}

/// How much of a field an operation uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    None,
    /// Fields below it.
    Below,
    Whole,
}

impl Used {
    pub fn by(operation: &Operation) -> Used {
        let mut used = Used::default();
        used.filter(&operation.filter, "");
        used.paths.extend(operation.sort.keys().cloned());
        match &*operation.command {
            "count" => {}
            "distinct" => used.paths.extend(operation.key.clone()),
            "aggregate" | JOIN => used.pipeline(&operation.pipeline),
            _ => {
                used.projection(&operation.projection);
            }
        }
        used
    }

    pub fn part_of(&self, path: &str) -> Part {
        let within = |inner: &str, outer: &str| {
            inner == outer || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
        };
        let named = self.paths.iter().map(|used| match () {
            () if within(path, used) => Part::Whole,
            () if within(used, path) => Part::Below,
            () => Part::None,
        });
        let sent = match () {
            () if !self.all || self.except.iter().any(|it| within(path, it)) => Part::None,
            () if self.except.iter().any(|it| within(it, path)) => Part::Below,
            () => Part::Whole,
        };
        named.max().unwrap_or(Part::None).max(sent)
    }

    fn filter(&mut self, filter: &Document, prefix: &str) {
        for (key, value) in filter {
            match (&**key, value) {
                ("$and" | "$or" | "$nor", Bson::Array(parts)) => {
                    let parts = parts.iter().filter_map(Bson::as_document);
                    parts.for_each(|part| self.filter(part, prefix));
                }
                ("$expr", expression) => self.expression(expression),
                ("$where" | "$jsonSchema", _) => self.all = true,
                (key, _) if key.starts_with('$') => {}
                (key, Bson::Document(operators)) if is_operators(operators) => {
                    match operators.get_document("$elemMatch") {
                        Ok(inner) if !is_operators(inner) => {
                            self.filter(inner, &format!("{prefix}{key}."));
                        }
                        _ => self.paths.push(format!("{prefix}{key}")),
                    }
                }
                (key, _) => self.paths.push(format!("{prefix}{key}")),
            }
        }
    }

    /// A projection; whether it names what is sent.
    fn projection(&mut self, projection: &Document) -> bool {
        // `$slice` alone cuts an array and sends all else; `_id` alone decides nothing.
        let cuts = |value: &Bson| value.as_document().is_some_and(|it| it.contains_key("$slice"));
        let fields = || projection.iter().filter(|(key, _)| *key != "_id");
        let names = match fields().find(|(_, value)| !cuts(value)) {
            Some((_, value)) => is_set(value),
            None => fields().next().is_none() && projection.get("_id").is_some_and(is_set),
        };
        for (key, value) in projection {
            match value {
                value if !is_set(value) => self.except.push(key.clone()),
                Bson::Document(inner) if !is_operators(inner) => self.nested(key, inner),
                Bson::Document(inner)
                    if ["$slice", "$elemMatch"].iter().any(|it| inner.contains_key(it)) =>
                {
                    self.paths.push(key.clone());
                }
                Bson::Document(_) | Bson::String(_) => self.expression(value),
                // `{"a.$": 1}` is the element that matched.
                _ => self.paths.push(key.trim_end_matches(".$").to_owned()),
            }
        }
        self.all |= !names;
        names
    }

    /// `{a: {b: 1}}` is `{"a.b": 1}`.
    fn nested(&mut self, prefix: &str, projection: &Document) {
        for (key, value) in projection {
            let path = format!("{prefix}.{key}");
            match value {
                value if !is_set(value) => self.except.push(path),
                Bson::Document(inner) if !is_operators(inner) => self.nested(&path, inner),
                Bson::Document(_) | Bson::String(_) => self.expression(value),
                _ => self.paths.push(path),
            }
        }
    }

    fn pipeline(&mut self, stages: &[Document]) {
        for stage in stages {
            let Some((name, inner)) = stage.iter().next() else { continue };
            match (&**name, inner) {
                ("$match", Bson::Document(filter)) => self.filter(filter, ""),
                ("$sort", Bson::Document(keys)) => self.paths.extend(keys.keys().cloned()),
                ("$limit" | "$skip" | "$sample", _) => {}
                ("$set" | "$addFields" | "$unwind", inner) => self.expression(inner),
                ("$lookup", Bson::Document(lookup)) => {
                    self.paths.extend(lookup.get_str("localField").ok().map(str::to_owned));
                    lookup.get("let").into_iter().for_each(|it| self.expression(it));
                }
                ("$unset", Bson::String(path)) => self.except.push(path.clone()),
                ("$unset", Bson::Array(paths)) => {
                    let paths = paths.iter().filter_map(Bson::as_str);
                    self.except.extend(paths.map(str::to_owned));
                }
                ("$project", Bson::Document(projection)) => {
                    let all = self.all;
                    if self.projection(projection) {
                        return;
                    }
                    // What is left is judged by the stages behind.
                    self.all = all;
                }
                ("$count", _) => return,
                ("$group" | "$sortByCount" | "$bucket" | "$bucketAuto", inner) => {
                    return self.expression(inner);
                }
                ("$replaceRoot" | "$replaceWith", inner) => return self.expression(inner),
                _ => break,
            }
        }
        self.all = true;
    }

    /// The paths that an expression names.
    fn expression(&mut self, expression: &Bson) {
        match expression {
            Bson::String(text) => match text.strip_prefix("$$") {
                Some(variable) => match variable.split_once('.') {
                    Some(("ROOT" | "CURRENT", path)) => self.paths.push(path.to_owned()),
                    None if matches!(variable, "ROOT" | "CURRENT") => self.all = true,
                    _ => {}
                },
                None => self.paths.extend(text.strip_prefix('$').map(str::to_owned)),
            },
            Bson::Array(items) => items.iter().for_each(|item| self.expression(item)),
            Bson::Document(document) => {
                for (key, value) in document {
                    match &**key {
                        "$literal" => {}
                        // A name that is computed may be any.
                        "$getField" => match value.as_str() {
                            Some(name) => self.paths.push(name.to_owned()),
                            None => self.all = true,
                        },
                        _ => self.expression(value),
                    }
                }
            }
            _ => {}
        }
    }
}

/// The fields below a path that stages use; none where they use all of it.
pub fn below(stages: &[Document], path: &str) -> Vec<String> {
    let mut used = Used::default();
    used.pipeline(stages);
    let mut fields: Vec<String> = Vec::new();
    for field in used.paths.iter().filter_map(|it| it.strip_prefix(path)?.strip_prefix('.')) {
        if !fields.iter().any(|known| known == field) {
            fields.push(field.to_owned());
        }
    }
    match used.part_of(path) {
        Part::Below if !used.all => fields,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    fn find(filter: Document, projection: Document) -> Used {
        let command = "find".to_owned();
        Used::by(&Operation { command, filter, projection, ..Operation::default() })
    }

    fn aggregate(pipeline: Vec<Document>) -> Used {
        let command = "aggregate".to_owned();
        Used::by(&Operation { command, pipeline, ..Operation::default() })
    }

    #[test]
    fn a_read_without_a_projection_uses_everything() {
        assert_eq!(find(doc! {}, doc! {}).part_of("blob"), Part::Whole);
        assert_eq!(find(doc! {}, doc! { "blob": 0 }).part_of("blob"), Part::None);
        assert_eq!(find(doc! {}, doc! { "blob.a": 0 }).part_of("blob"), Part::Below);
        assert_eq!(find(doc! {}, doc! { "name": 1 }).part_of("blob"), Part::None);
        assert_eq!(find(doc! {}, doc! { "_id": 1 }).part_of("blob"), Part::None);
        assert_eq!(find(doc! {}, doc! { "_id": 0 }).part_of("blob"), Part::Whole);
        assert_eq!(find(doc! {}, doc! { "list": { "$slice": 5 } }).part_of("blob"), Part::Whole);
        assert_eq!(find(doc! { "blob": 1 }, doc! { "name": 1 }).part_of("blob"), Part::Whole);
        assert_eq!(find(doc! {}, doc! { "blob.head": 1 }).part_of("blob"), Part::Below);
        assert_eq!(find(doc! {}, doc! { "blob.head": 1 }).part_of("blob.tail"), Part::None);
        assert_eq!(find(doc! {}, doc! { "n": { "$size": "$blob" } }).part_of("blob"), Part::Whole);
        let element = doc! { "list": { "$elemMatch": { "blob": 1 } } };
        assert_eq!(find(element, doc! { "name": 1 }).part_of("list.blob"), Part::Whole);
    }

    #[test]
    fn a_pipeline_uses_what_its_stages_name() {
        let group = doc! { "$group": { "_id": "$kind", "n": { "$sum": "$price" } } };
        let used = aggregate(vec![doc! { "$match": { "shop": 1 } }, group]);
        assert_eq!(used.paths, ["shop", "kind", "price"]);
        assert!(!used.all);
        assert!(aggregate(vec![doc! { "$match": { "a": 1 } }]).all);
        assert!(aggregate(vec![doc! { "$facet": {} }]).all);
        assert!(!aggregate(vec![doc! { "$count": "n" }]).all);
        let root = doc! { "$group": { "_id": null, "all": { "$push": "$$ROOT" } } };
        assert!(aggregate(vec![root]).all);
        let without = vec![doc! { "$unset": "blob" }, doc! { "$limit": 5 }];
        assert_eq!(aggregate(without).part_of("blob"), Part::None);
        let project = vec![doc! { "$project": { "a": 1, "b": { "c": 1 } } }];
        assert_eq!(aggregate(project).paths, ["a", "b.c"]);
    }
}
