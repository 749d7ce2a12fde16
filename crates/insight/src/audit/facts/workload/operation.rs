//! Operations of one shape, and where they are read from.

use super::shape;
use super::taken::{self, Taken};
use crate::audit::facts::server::APPLICATION;
use crate::report::{shell, shown};
use bson::{Bson, Document, RawBsonRef, RawDocumentBuf, doc};
use serde_json::Value;

/// Items of a list that an example shows.
const EXAMPLE_ITEMS_MAX: usize = 5;
/// `distinct` asks for one field.
const DISTINCT: &str = "distinct";

#[derive(Debug, Clone, Default)]
pub struct Operation {
    pub namespace: String,
    /// The command: `find`, `aggregate`, `count`, `distinct`, `update`, `delete` …
    pub command: String,
    /// Of the first of them, or the shape where the server gives only that.
    pub filter: Document,
    pub sort: Document,
    pub projection: Document,
    /// The greatest of theirs; 0: one of them has none.
    pub limit: u64,
    pub pipeline: Vec<Document>,
    /// The field of a `distinct`.
    pub key: Option<String>,
    pub collation: Option<Document>,
    /// The plan of the first of them: `COLLSCAN`, `IXSCAN { a: 1 }`; empty where the server
    /// does not tell.
    pub plan: String,
    pub count: u64,
    pub millis: u64,
    pub documents_examined: u64,
    pub keys_examined: u64,
    /// Documents that were sent, changed or deleted.
    pub returned: u64,
    /// What all of them take from the ends of arrays: how many elements is no part of the shape.
    pub taken: Vec<Taken>,
}

impl Operation {
    /// An entry of `system.profile`.
    pub fn of_profile(entry: &Document) -> Option<Operation> {
        let namespace = entry.get_str("ns").ok()?;
        let (_, collection) = namespace.split_once('.')?;
        if collection.starts_with("system.") || collection.starts_with('$') {
            return None;
        }
        let kind = entry.get_str("op").ok()?;
        // The rest of an answer belongs to the question.
        let (command, count) = match kind {
            "getmore" => (entry.get_document("originatingCommand").ok()?, 0),
            _ => (entry.get_document("command").ok()?, 1),
        };
        let name = match kind {
            "update" => "update",
            "remove" => "delete",
            "insert" => "insert",
            _ => command.keys().next()?,
        };
        // A command too long for the profile is not kept.
        if name.starts_with('$') {
            return None;
        }
        let returned = ["nreturned", "nMatched", "ndeleted"];
        let returned = returned.into_iter().find(|name| entry.contains_key(name));
        let operation = Operation::of_command(namespace, name, command);
        let operation = Operation {
            plan: entry.get_str("planSummary").unwrap_or("").to_owned(),
            count,
            millis: figure(entry, "millis"),
            documents_examined: figure(entry, "docsExamined"),
            keys_examined: figure(entry, "keysExamined"),
            returned: returned.map_or(0, |name| figure(entry, name)),
            ..operation
        };
        Some(operation.with_taken())
    }

    /// A document of `$queryStats`.
    pub fn of_query_stats(entry: &Document) -> Option<Operation> {
        let key = entry.get_document("key").ok()?;
        let application = key.get_document("client").and_then(|it| it.get_document("application"));
        if application.is_ok_and(|it| it.get_str("name").is_ok_and(|it| it == APPLICATION)) {
            return None;
        }
        if matches!(key.get_str("collectionType"), Ok("virtual" | "changeStream" | "nonExistent")) {
            return None;
        }
        let shape = key.get_document("queryShape").ok()?;
        let namespace = shape.get_document("cmdNs").ok()?;
        let collection = namespace.get_str("coll").ok()?;
        if collection.starts_with("system.") || collection.starts_with('$') {
            return None;
        }
        let namespace = format!("{}.{collection}", namespace.get_str("db").ok()?);
        let operation = Operation::of_command(&namespace, shape.get_str("command").ok()?, shape);
        let metrics = entry.get_document("metrics").ok()?;
        let operation = Operation {
            count: figure(metrics, "execCount"),
            millis: sum(metrics, "totalExecMicros") / 1000,
            documents_examined: sum(metrics, "docsExamined"),
            keys_examined: sum(metrics, "keysExamined"),
            returned: sum(metrics, "docsReturned"),
            ..operation
        };
        Some(operation.with_taken())
    }

    /// The same with what it takes from the ends of arrays.
    pub fn with_taken(mut self) -> Operation {
        self.taken = taken::taken(&self.projection, &self.pipeline, self.count);
        self
    }

    fn of_command(namespace: &str, name: &str, command: &Document) -> Operation {
        let part = |names: &[&str]| {
            let found = names.iter().find_map(|name| command.get_document(name).ok());
            found.cloned().unwrap_or_default()
        };
        let pipeline = command
            .get_array("pipeline")
            .map(|stages| stages.iter().filter_map(|stage| stage.as_document().cloned()).collect());
        let key = command.get_str("key").ok().filter(|_| name == DISTINCT);
        Operation {
            namespace: namespace.to_owned(),
            command: name.to_owned(),
            filter: part(&["filter", "query", "q"]),
            sort: part(&["sort"]),
            projection: part(&["projection", "fields"]),
            limit: figure(command, "limit"),
            pipeline: pipeline.unwrap_or_default(),
            key: key.map(str::to_owned),
            collation: command.get_document("collation").ok().cloned(),
            ..Operation::default()
        }
    }

    /// What operations have in common that differ in their values only.
    pub fn shape(&self) -> String {
        let mut out = format!("{} {}", self.namespace, self.command.to_lowercase());
        out.extend(self.key.iter().flat_map(|key| [" ", key]));
        out.push(' ');
        shape::filter(&self.filter, &mut out);
        out.push(' ');
        shape::document(&self.sort, &mut out);
        out.push(' ');
        shape::projection(&self.projection, &mut out);
        for stage in &self.pipeline {
            out.push('|');
            shape::stage(stage, &mut out);
        }
        out
    }

    pub fn add(&mut self, other: &Operation) {
        let unlimited = self.limit == 0 || other.limit == 0;
        self.limit = if unlimited { 0 } else { self.limit.max(other.limit) };
        self.count += other.count;
        self.millis += other.millis;
        self.documents_examined += other.documents_examined;
        self.keys_examined += other.keys_examined;
        self.returned += other.returned;
        taken::merge(&mut self.taken, &other.taken);
        if self.plan.is_empty() {
            self.plan.clone_from(&other.plan);
        }
    }

    /// Of what is taken the parts that the ends have stay as they are.
    pub fn take_figures(&mut self, other: &Operation) {
        let times = other.count as f64 / self.count.max(1) as f64;
        for taken in &mut self.taken {
            taken.operations = (taken.operations as f64 * times).round() as u64;
        }
        self.count = other.count;
        self.millis = other.millis;
        self.documents_examined = other.documents_examined;
        self.keys_examined = other.keys_examined;
        self.returned = other.returned;
    }

    /// Whether it sends documents, or what comes of them.
    pub fn is_read(&self) -> bool {
        matches!(&*self.command, "find" | "aggregate" | "count" | DISTINCT)
    }

    /// Whether it went through the whole collection.
    pub fn is_scan(&self) -> bool {
        match self.plan.is_empty() {
            true => self.keys_examined == 0 && self.documents_examined > 0,
            false => self.plan.contains("COLLSCAN"),
        }
    }

    /// Documents or keys, whichever are more, that each of them looks at.
    pub fn examined_each(&self) -> f64 {
        self.examined() as f64 / self.count.max(1) as f64
    }

    pub fn examined(&self) -> u64 {
        self.documents_examined.max(self.keys_examined)
    }

    /// One of them as a command, with its literal values.
    pub fn example(&self) -> Value {
        let collection = self.namespace.split_once('.').map_or("", |(_, collection)| collection);
        let mut command = doc! { &self.command: collection };
        if let Some(key) = &self.key {
            command.insert("key", key);
        }
        let (filter, projection) = match &*self.command {
            "count" | DISTINCT => ("query", "projection"),
            "update" | "delete" => ("q", "projection"),
            "findAndModify" | "findandmodify" => ("query", "fields"),
            _ => ("filter", "projection"),
        };
        let parts = [(filter, &self.filter), ("sort", &self.sort), (projection, &self.projection)];
        for (name, part) in parts.into_iter().filter(|(_, part)| !part.is_empty()) {
            command.insert(name, brief(part));
        }
        if !self.pipeline.is_empty() {
            let stages: Vec<Document> = self.pipeline.iter().map(brief).collect();
            command.insert("pipeline", stages);
        }
        literal(&command)
    }

    /// What is asked, in a few words: `find {status: …} sort {at: -1}`.
    pub fn words(&self) -> String {
        let mut words = vec![self.command.clone()];
        if let Some(key) = &self.key {
            words.push(key.clone());
        }
        let fields: Vec<String> = self.filters().into_iter().flat_map(shape::fields).collect();
        if !fields.is_empty() {
            words.push(format!("{{{}}}", fields.join(", ")));
        }
        if let Some(sort) = self.sorted() {
            words.push(format!("sort {}", shell(&literal(sort))));
        }
        words.join(" ")
    }
}

/// A document as the report shows it.
pub fn literal(document: &Document) -> Value {
    match RawDocumentBuf::try_from(document) {
        Ok(raw) => shown(RawBsonRef::Document(&raw)),
        Err(_) => Value::Null,
    }
}

/// The document with its long lists of values cut.
fn brief(document: &Document) -> Document {
    let value = |value: &Bson| match value {
        Bson::Document(inner) => Bson::Document(brief(inner)),
        Bson::Array(items) if items.iter().any(|item| item.as_document().is_some()) => {
            let item = |item: &Bson| match item {
                Bson::Document(inner) => Bson::Document(brief(inner)),
                other => other.clone(),
            };
            Bson::Array(items.iter().map(item).collect())
        }
        Bson::Array(items) => {
            let more = items.len().saturating_sub(EXAMPLE_ITEMS_MAX);
            let mut items: Vec<Bson> = items.iter().take(EXAMPLE_ITEMS_MAX).cloned().collect();
            if more > 0 {
                items.push(Bson::String(format!("… {more} more")));
            }
            Bson::Array(items)
        }
        other => other.clone(),
    };
    document.iter().map(|(key, it)| (key.clone(), value(it))).collect()
}

/// The sum of a metric, which newer servers keep in a section.
fn sum(metrics: &Document, name: &str) -> u64 {
    let sections = metrics.values().filter_map(Bson::as_document);
    let mut places = [metrics].into_iter().chain(sections);
    let metric = places.find_map(|place| place.get_document(name).ok());
    metric.map_or(0, |metric| figure(metric, "sum"))
}

fn figure(document: &Document, name: &str) -> u64 {
    match document.get(name) {
        Some(Bson::Int32(number)) => u64::try_from(*number).unwrap_or(0),
        Some(Bson::Int64(number)) => u64::try_from(*number).unwrap_or(0),
        Some(Bson::Double(number)) => *number as u64,
        Some(Bson::Decimal128(number)) => number.to_string().parse::<f64>().unwrap_or(0.0) as u64,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn writes_and_the_rest_of_an_answer_are_read() {
        let update = doc! {
            "op": "update", "ns": "d.c", "millis": 1, "nMatched": 4_i64,
            "command": { "q": { "_id": 1 }, "u": { "$set": { "a": 1 } } },
        };
        let update = Operation::of_profile(&update).unwrap();
        assert_eq!((&*update.command, &update.filter), ("update", &doc! { "_id": 1 }));
        assert_eq!(update.returned, 4);
        let more = doc! {
            "op": "getmore", "ns": "d.c", "docsExamined": 30, "nreturned": 30,
            "command": { "getMore": 1_i64 }, "originatingCommand": { "find": "c" },
        };
        let more = Operation::of_profile(&more).unwrap();
        assert_eq!((&*more.command, more.count, more.returned), ("find", 0, 30));
    }

    #[test]
    fn what_is_not_about_documents_is_left_out() {
        for (namespace, command) in [
            ("d.system.profile", doc! { "find": "x" }),
            ("d.$cmd.aggregate", doc! { "aggregate": 1 }),
            ("d.c", doc! { "$truncated": "{ find: …" }),
        ] {
            let entry = doc! { "op": "query", "ns": namespace, "command": command };
            assert!(Operation::of_profile(&entry).is_none(), "{entry}");
        }
    }

    /// As MongoDB 8 answers it: figures on top; and as later servers do, in sections.
    #[test]
    fn statistics_are_read() {
        let key = doc! {
            "queryShape": {
                "cmdNs": { "db": "d", "coll": "c" }, "command": "aggregate",
                "pipeline": [{ "$match": { "a": { "$eq": "?number" } } }],
            },
            "client": { "driver": { "name": "nodejs" }, "application": { "name": "shop" } },
            "collectionType": "collection",
            "cursor": { "batchSize": "?number" },
        };
        let sum = |of: i64| doc! { "sum": of, "max": of, "min": of };
        let flat = doc! {
            "lastExecutionMicros": 4_i64, "execCount": 7_i64, "totalExecMicros": sum(9_000),
            "docsExamined": sum(70), "keysExamined": sum(3), "docsReturned": sum(7),
            "hasSortStage": { "true": 0_i64, "false": 7_i64 },
        };
        let sections = doc! {
            "execCount": 7_i64, "totalExecMicros": sum(9_000), "docsReturned": sum(7),
            "queryExec": { "docsExamined": sum(70), "keysExamined": sum(3) },
        };
        for metrics in [flat, sections] {
            let entry = doc! { "key": &key, "keyHash": "x", "metrics": metrics };
            let read = Operation::of_query_stats(&entry).unwrap();
            assert_eq!((&*read.namespace, &*read.command), ("d.c", "aggregate"));
            assert_eq!((read.count, read.millis, read.returned), (7, 9, 7));
            assert_eq!((read.documents_examined, read.keys_examined), (70, 3));
            assert_eq!(read.pipeline.len(), 1);
        }
        for (name, value) in [("collectionType", "virtual"), ("queryShape", "redacted")] {
            let mut key = key.clone();
            key.insert(name, value);
            assert!(Operation::of_query_stats(&doc! { "key": key, "metrics": {} }).is_none());
        }
    }

    #[test]
    fn examples_and_words_are_short() {
        let command = doc! {
            "find": "c", "filter": { "a": { "$in": (0..9).collect::<Vec<i32>>() }, "b.c": "x" },
            "sort": { "at": -1 },
        };
        let find = Operation::of_command("d.c", "find", &command);
        let list = json!({ "$in": [0, 1, 2, 3, 4, "… 4 more"] });
        let expected =
            json!({ "find": "c", "filter": { "a": list, "b.c": "x" }, "sort": { "at": -1 } });
        assert_eq!(find.example(), expected);
        assert_eq!(find.words(), "find {a: $in, b.c} sort {at: -1}");
    }
}
