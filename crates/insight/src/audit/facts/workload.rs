//! What clients ask of the server: the entries of `system.profile`, or `$queryStats`
//! where the server keeps them, gathered by the shape of the operation.

use super::server::APPLICATION;
use bson::{Bson, Document, doc};
use futures::TryStreamExt;
use mongodb::Client;
use mongodb::error::Result;
use rustc_hash::FxHashMap;

/// Entries of a database's profile that are read, the latest first.
const ENTRIES_MAX: i64 = 10_000;
/// Shapes that are told apart.
const SHAPES_MAX: usize = 1_000;

/// Everything that was asked, shape by shape.
#[derive(Debug, Default)]
pub struct Workload {
    operations: Vec<Operation>,
    by_shape: FxHashMap<String, usize>,
}

/// Where the record of a database's operations comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Profiler,
    QueryStats,
}

/// Operations of one shape.
#[derive(Debug, Clone, Default)]
pub struct Operation {
    pub namespace: String,
    /// The command: `find`, `aggregate`, `count`, `distinct`, `update`, `delete` …
    pub command: String,
    /// Of the first of them, or the shape where the server gives only that.
    pub filter: Document,
    pub sort: Document,
    pub projection: Document,
    pub pipeline: Vec<Document>,
    pub collation: Option<Document>,
    /// The plan of the first of them: `COLLSCAN`, `IXSCAN { a: 1 }`.
    pub plan: String,
    pub count: u64,
    pub millis: u64,
    pub documents_examined: u64,
    pub keys_examined: u64,
    pub returned: u64,
}

impl Workload {
    /// The operations on a collection, the most frequent first.
    pub fn of(&self, namespace: &str) -> Vec<Operation> {
        let mut operations: Vec<Operation> =
            self.operations.iter().filter(|it| it.namespace == namespace).cloned().collect();
        operations.sort_by_key(|it| std::cmp::Reverse(it.count));
        operations
    }

    fn add(&mut self, operation: Operation) {
        let shape = operation.shape();
        if let Some(known) = self.by_shape.get(&shape).and_then(|at| self.operations.get_mut(*at)) {
            known.count += operation.count;
            known.millis += operation.millis;
            known.documents_examined += operation.documents_examined;
            known.keys_examined += operation.keys_examined;
            known.returned += operation.returned;
        } else if self.operations.len() < SHAPES_MAX {
            self.by_shape.insert(shape, self.operations.len());
            self.operations.push(operation);
        }
    }

    /// Reads a database's profile; whether there was anything.
    pub async fn add_profile(&mut self, client: &Client, database: &str) -> Result<bool> {
        let profile = client.database(database).collection::<Document>("system.profile");
        let filter = doc! { "appName": { "$ne": APPLICATION } };
        let mut entries =
            profile.find(filter).sort(doc! { "$natural": -1 }).limit(ENTRIES_MAX).await?;
        let mut any = false;
        while let Some(entry) = entries.try_next().await? {
            if let Some(operation) = Operation::of_profile(&entry) {
                any = true;
                self.add(operation);
            }
        }
        Ok(any)
    }

    /// Reads the server's query statistics; whether there were any.
    pub async fn add_query_stats(&mut self, client: &Client) -> Result<bool> {
        let stages = [doc! { "$queryStats": {} }];
        let mut entries = client.database("admin").aggregate(stages).await?;
        let mut any = false;
        while let Some(entry) = entries.try_next().await? {
            if let Some(operation) = Operation::of_query_stats(&entry) {
                any = true;
                self.add(operation);
            }
        }
        Ok(any)
    }
}

impl Operation {
    fn of_profile(entry: &Document) -> Option<Operation> {
        let namespace = entry.get_str("ns").ok()?;
        let (_, collection) = namespace.split_once('.')?;
        if collection.starts_with("system.") || collection.starts_with('$') {
            return None;
        }
        let command = entry.get_document("command").ok()?;
        let name = match entry.get_str("op").ok()? {
            "getmore" => return None,
            "update" => "update",
            "remove" => "delete",
            "insert" => "insert",
            _ => command.keys().next()?,
        };
        let operation = Operation::of_command(namespace, name, command);
        Some(Operation {
            plan: entry.get_str("planSummary").unwrap_or("").to_owned(),
            count: 1,
            millis: figure(entry, "millis"),
            documents_examined: figure(entry, "docsExamined"),
            keys_examined: figure(entry, "keysExamined"),
            returned: figure(entry, "nreturned"),
            ..operation
        })
    }

    fn of_query_stats(entry: &Document) -> Option<Operation> {
        let shape = entry.get_document("key").ok()?.get_document("queryShape").ok()?;
        let namespace = shape.get_document("cmdNs").ok()?;
        let collection = namespace.get_str("coll").ok()?;
        let namespace = format!("{}.{collection}", namespace.get_str("db").ok()?);
        let operation = Operation::of_command(&namespace, shape.get_str("command").ok()?, shape);
        let metrics = entry.get_document("metrics").ok()?;
        let sum = |name: &str| metrics.get_document(name).map_or(0, |it| figure(it, "sum"));
        Some(Operation {
            count: figure(metrics, "execCount"),
            millis: sum("totalExecMicros") / 1000,
            documents_examined: sum("docsExamined"),
            keys_examined: sum("keysExamined"),
            returned: sum("docsReturned"),
            ..operation
        })
    }

    fn of_command(namespace: &str, name: &str, command: &Document) -> Operation {
        let part = |names: &[&str]| {
            let found = names.iter().find_map(|name| command.get_document(name).ok());
            found.cloned().unwrap_or_default()
        };
        let pipeline = command
            .get_array("pipeline")
            .map(|stages| stages.iter().filter_map(|stage| stage.as_document().cloned()).collect());
        Operation {
            namespace: namespace.to_owned(),
            command: name.to_owned(),
            filter: part(&["filter", "query", "q"]),
            sort: part(&["sort"]),
            projection: part(&["projection", "fields"]),
            pipeline: pipeline.unwrap_or_default(),
            collation: command.get_document("collation").ok().cloned(),
            ..Operation::default()
        }
    }

    /// What operations have in common that differ in their values only.
    fn shape(&self) -> String {
        let mut out = format!("{} {}", self.namespace, self.command);
        for part in [&self.filter, &self.sort, &self.projection] {
            out.push(' ');
            shape_of(part, &mut out);
        }
        for stage in &self.pipeline {
            out.push('|');
            shape_of(stage, &mut out);
        }
        out
    }
}

/// Field names and operators without the values.
fn shape_of(document: &Document, out: &mut String) {
    out.push('{');
    for (key, value) in document {
        out.push_str(key);
        out.push(':');
        match value {
            Bson::Document(inner) => shape_of(inner, out),
            Bson::Array(items) => {
                let inner = items.iter().filter_map(Bson::as_document);
                inner.for_each(|inner| shape_of(inner, out));
            }
            Bson::RegularExpression(regex) => out.push_str(regex.options.as_str()),
            // A path in an expression is part of the shape.
            Bson::String(text) if text.starts_with('$') => out.push_str(text),
            _ => out.push('?'),
        }
        out.push(',');
    }
    out.push('}');
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

    fn entry(value: i32, regex: bool) -> Document {
        let value = match regex {
            true => Bson::RegularExpression(bson::Regex {
                pattern: bson::raw::cstr!("a").into(),
                options: bson::raw::cstr!("i").into(),
            }),
            false => Bson::Int32(value),
        };
        doc! {
            "op": "query", "ns": "shop.users", "millis": 3, "docsExamined": 100_i64,
            "nreturned": 1, "planSummary": "COLLSCAN",
            "command": { "find": "users", "filter": { "age": value }, "sort": { "name": 1 } },
        }
    }

    #[test]
    fn entries_are_gathered_by_shape() {
        let mut workload = Workload::default();
        for entry in [entry(1, false), entry(2, false), entry(3, true)] {
            workload.add(Operation::of_profile(&entry).unwrap());
        }
        let operations = workload.of("shop.users");
        assert_eq!(operations.len(), 2);
        let first = &operations[0];
        assert_eq!((first.count, first.millis, first.documents_examined), (2, 6, 200));
        assert_eq!((&*first.command, &*first.plan), ("find", "COLLSCAN"));
        assert!(workload.of("shop.orders").is_empty());
    }

    #[test]
    fn updates_and_statistics_are_read() {
        let update = doc! {
            "op": "update", "ns": "d.c", "millis": 1,
            "command": { "q": { "_id": 1 }, "u": { "$set": { "a": 1 } } },
        };
        let update = Operation::of_profile(&update).unwrap();
        assert_eq!((&*update.command, update.filter), ("update", doc! { "_id": 1 }));
        let own = doc! { "op": "query", "ns": "d.system.profile", "command": { "find": "x" } };
        assert!(Operation::of_profile(&own).is_none());
        let stats = doc! {
            "key": { "queryShape": {
                "cmdNs": { "db": "d", "coll": "c" }, "command": "aggregate",
                "pipeline": [{ "$match": { "a": { "$eq": "?number" } } }],
            } },
            "metrics": {
                "execCount": 7_i64, "totalExecMicros": { "sum": 9_000_i64 },
                "docsExamined": { "sum": 70_i64 }, "docsReturned": { "sum": 7_i64 },
            },
        };
        let stats = Operation::of_query_stats(&stats).unwrap();
        assert_eq!((stats.count, stats.millis, stats.documents_examined), (7, 9, 70));
        assert_eq!(stats.pipeline.len(), 1);
    }
}
