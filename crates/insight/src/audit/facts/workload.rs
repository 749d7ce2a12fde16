//! What clients ask of the server: the entries of `system.profile`, and `$queryStats` where
//! the server keeps them, gathered by the shape of the operation.
//!
//! The two are joined by the shape: the profile knows literal values and plans, the
//! statistics count every execution since the server's start.

mod leading;
mod lookup;
mod operation;
mod predicates;
mod shape;
mod taken;
mod used;

pub use lookup::{JOIN, Lookup, lookups};
pub use operation::{Operation, literal};
pub use predicates::Predicates;
pub use taken::End;
pub use used::{Part, Used};

use super::server::APPLICATION;
use crate::audit::scan::is_refusal;
use bson::{Document, doc};
use futures::TryStreamExt;
use mongodb::Client;
use mongodb::error::Result;
use rustc_hash::FxHashMap;

/// Entries of a database's profile that are read, the latest first.
const ENTRIES_MAX: i64 = 10_000;
/// Shapes that are told apart.
const SHAPES_MAX: usize = 5_000;

/// Everything that was asked, shape by shape.
#[derive(Debug, Default)]
pub struct Workload {
    operations: Vec<Operation>,
    by_shape: FxHashMap<String, usize>,
}

/// What was asked of one collection.
#[derive(Debug, Default)]
pub struct Asked {
    /// The most frequent first.
    pub operations: Vec<Operation>,
    /// What `$lookup`s of operations on other collections read of it.
    pub joined: Vec<Operation>,
}

impl Workload {
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// What was asked of each collection, by its namespace.
    pub fn by_namespace(self) -> FxHashMap<String, Asked> {
        let mut asked: FxHashMap<String, Asked> = FxHashMap::default();
        for operation in self.operations {
            for read in lookup::reads(&operation) {
                asked.entry(read.namespace.clone()).or_default().joined.push(read);
            }
            asked.entry(operation.namespace.clone()).or_default().operations.push(operation);
        }
        for one in asked.values_mut() {
            one.operations.sort_by_key(|it| std::cmp::Reverse(it.count));
        }
        asked
    }

    fn add(&mut self, operation: Operation) {
        let shape = operation.shape();
        if let Some(known) = self.by_shape.get(&shape).and_then(|at| self.operations.get_mut(*at)) {
            known.add(&operation);
        } else if self.operations.len() < SHAPES_MAX {
            self.by_shape.insert(shape, self.operations.len());
            self.operations.push(operation);
        }
    }

    /// Takes in the server's statistics. What both know is not counted twice: the record of
    /// more executions holds.
    pub fn join(&mut self, statistics: Workload) {
        for operation in statistics.operations {
            let at = self.by_shape.get(&operation.shape()).copied();
            match at.and_then(|at| self.operations.get_mut(at)) {
                Some(known) if known.count < operation.count => known.take_figures(&operation),
                Some(_) => {}
                None => self.add(operation),
            }
        }
    }

    /// Reads a database's profile; whether there was anything.
    pub async fn add_profile(&mut self, client: &Client, database: &str) -> Result<bool> {
        let profile = client.database(database).collection::<Document>("system.profile");
        let filter = doc! { "appName": { "$ne": APPLICATION } };
        let latest = profile.find(filter.clone()).sort(doc! { "$natural": -1 });
        let mut entries = match latest.limit(ENTRIES_MAX).await {
            // Not every server goes backwards.
            Err(error) if is_refusal(&error) => profile.find(filter).limit(ENTRIES_MAX).await?,
            entries => entries?,
        };
        let mut any = false;
        while let Some(entry) = entries.try_next().await? {
            if let Some(operation) = Operation::of_profile(&entry) {
                any = true;
                self.add(operation);
            }
        }
        Ok(any)
    }

    /// Reads the server's query statistics of these databases.
    pub async fn add_query_stats(&mut self, client: &Client, databases: &[String]) -> Result<()> {
        let wanted = doc! { "key.queryShape.cmdNs.db": { "$in": databases } };
        let stages = [doc! { "$queryStats": {} }, doc! { "$match": wanted }];
        let mut entries = client.database("admin").aggregate(stages).await?;
        while let Some(entry) = entries.try_next().await? {
            if let Some(operation) = Operation::of_query_stats(&entry) {
                self.add(operation);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::Bson;

    fn entry(value: impl Into<Bson>) -> Document {
        doc! {
            "op": "query", "ns": "shop.users", "millis": 3, "docsExamined": 100_i64,
            "nreturned": 1, "planSummary": "COLLSCAN",
            "command": { "find": "users", "filter": { "age": value.into() }, "sort": { "name": 1 } },
        }
    }

    fn regex() -> Bson {
        let (pattern, options) = (bson::raw::cstr!("a").into(), bson::raw::cstr!("i").into());
        Bson::RegularExpression(bson::Regex { pattern, options })
    }

    fn profiled(entries: impl IntoIterator<Item = Document>) -> Workload {
        let mut workload = Workload::default();
        let operations = entries.into_iter().filter_map(|it| Operation::of_profile(&it));
        operations.for_each(|operation| workload.add(operation));
        workload
    }

    fn statistics(count: i64, application: &str) -> Workload {
        let entry = doc! {
            "key": {
                "queryShape": {
                    "cmdNs": { "db": "shop", "coll": "users" }, "command": "find",
                    "filter": { "age": { "$eq": "?number" } }, "sort": { "name": 1 },
                },
                "client": { "application": { "name": application } },
                "collectionType": "collection",
            },
            "metrics": {
                "execCount": count, "totalExecMicros": { "sum": count * 1_000 },
                "docsExamined": { "sum": count * 50 }, "docsReturned": { "sum": count },
            },
        };
        let mut workload = Workload::default();
        // One entry for each kind of client.
        for _ in 0..2 {
            Operation::of_query_stats(&entry).into_iter().for_each(|it| workload.add(it));
        }
        workload
    }

    fn users(workload: Workload) -> Vec<Operation> {
        workload.by_namespace().remove("shop.users").unwrap().operations
    }

    #[test]
    fn entries_are_gathered_by_shape() {
        let operations = users(profiled([entry(1), entry(2), entry(regex())]));
        assert_eq!(operations.len(), 2);
        let first = &operations[0];
        assert_eq!((first.count, first.millis, first.documents_examined), (2, 6, 200));
        assert_eq!((&*first.command, &*first.plan), ("find", "COLLSCAN"));
    }

    #[test]
    fn all_of_a_shape_say_which_end_they_take() {
        let entry = |slice: i32| {
            let mut entry = entry(1);
            let command = entry.get_document_mut("command").unwrap();
            command.insert("projection", doc! { "a": { "$slice": slice } });
            entry
        };
        let operations = users(profiled([entry(5), entry(-50), entry(-20)]));
        let ends = |operation: &Operation| -> Vec<(End, u64, u64)> {
            operation.taken.iter().map(|it| (it.end, it.operations, it.elements)).collect()
        };
        assert_eq!(operations.len(), 1);
        let mut one = operations[0].clone();
        assert_eq!(ends(&one), [(End::First, 1, 5), (End::Last, 2, 50)]);
        // The statistics know how many they are, and not what they take.
        one.take_figures(&Operation { count: 300, ..Operation::default() });
        assert_eq!(ends(&one), [(End::First, 100, 5), (End::Last, 200, 50)]);
    }

    #[test]
    fn two_records_of_one_shape_are_not_counted_twice() {
        let mut workload = profiled([entry(1), entry(2)]);
        workload.join(statistics(500, "shop"));
        let operations = users(workload);
        assert_eq!(operations.len(), 1);
        let one = &operations[0];
        assert_eq!((one.count, one.documents_examined, one.returned), (1_000, 50_000, 1_000));
        // Literal values and the plan are the profile's.
        assert_eq!((&one.filter, &*one.plan), (&doc! { "age": 1 }, "COLLSCAN"));
        let mut workload = profiled((0..5).map(entry));
        workload.join(statistics(1, "shop"));
        assert_eq!(users(workload)[0].count, 5);
        let mut workload = Workload::default();
        workload.join(statistics(7, "shop"));
        assert_eq!(users(workload)[0].count, 14);
        assert!(statistics(7, APPLICATION).is_empty());
    }
}
