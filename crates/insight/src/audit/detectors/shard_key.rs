//! Shard keys that do not spread: those that only grow, have few values or one that
//! dominates, and those that the queries do not name.
//!
//! A key is judged whole for its values. For inserts it is judged by what comes before its
//! first field that only grows: documents that agree in that all go to one shard.

use super::Subject;
use crate::audit::asked;
use crate::audit::census::{KeyField, Node, ShardKey as Values};
use crate::audit::facts::{INTENDED_INDEX, Predicates, ShardKey};
use crate::audit::target::Target;
use crate::figures::{bytes, count, percent};
use crate::report::{Cure, Finding, Severity};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// A key of a collection, with what its documents have there.
struct Key<'a> {
    subject: &'a Subject<'a>,
    shard_key: &'a ShardKey,
    values: &'a Values,
    /// Its fields, as the report names them.
    path: String,
}

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    let (Some(shard_key), Some(values)) =
        (&subject.collection.shard_key, &subject.census.shard_key)
    else {
        return Vec::new();
    };
    let fields: Vec<&str> = shard_key.key.keys().map(String::as_str).collect();
    let key = Key { subject, shard_key, values, path: fields.join(", ") };
    let faults = if subject.census.documents() < subject.thresholds.shard_key.documents {
        Vec::new()
    } else {
        vec![key.hot(), key.few(), key.dominated()]
    };
    let mut findings: Vec<Finding> =
        faults.into_iter().chain([key.scattered()]).flatten().collect();
    // One key has one cure.
    let faults: Vec<String> = findings.iter().map(fault_of).collect();
    let faults: Vec<&str> = faults.iter().map(String::as_str).collect();
    for finding in &mut findings {
        finding.cure = key.cure(&faults);
        finding.evidence.figures.insert("faults".to_owned(), json!(faults));
    }
    findings
}

fn fault_of(finding: &Finding) -> String {
    let fault = finding.evidence.figures.get("fault").and_then(Value::as_str);
    fault.unwrap_or_default().to_owned()
}

impl Key<'_> {
    /// Inserts that go to one place.
    fn hot(&self) -> Option<Finding> {
        let thresholds = &self.subject.thresholds.shard_key;
        let at = self.values.fields.iter().position(|field| self.grows(field))?;
        let field = self.values.fields.get(at)?;
        let before = at.checked_sub(1).and_then(|at| self.values.fields.get(at));
        let (hot, behind) = match before {
            None => (1.0, String::new()),
            Some(before) => {
                let top = before.frequent.top()?;
                (top.share, format!(" behind {}", top.value))
            }
        };
        if hot < thresholds.warn_hot_share {
            return None;
        }
        let summary = format!(
            "'{}' only grows{behind}, so {} inserts {} to one shard.",
            field.path,
            if hot < 1.0 { format!("{} of all", percent(hot)) } else { "nearly all".to_owned() },
            self.verb("go", "would go"),
        );
        let ordered = field.monotonic_share().unwrap_or(0.0);
        Some(
            self.finding(Severity::Warn, "monotonic", summary)
                .figure("hot_share", rounded(hot))
                .figure("monotonic_share", rounded(ordered)),
        )
    }

    /// Fewer values than chunks are wanted.
    fn few(&self) -> Option<Finding> {
        let thresholds = &self.subject.thresholds.shard_key;
        let distinct = self.values.fields.last()?.distinct.distinct();
        // A collection of few documents has few values of anything.
        let small = distinct.saturating_mul(2) > self.subject.census.documents();
        if distinct >= thresholds.warn_values || small {
            return None;
        }
        let critical = distinct <= thresholds.critical_values;
        let severity = if critical { Severity::Critical } else { Severity::Warn };
        let summary = format!(
            "The key has about {} different values: the collection {} be spread over more \
             chunks than that, however large it grows.",
            count(distinct),
            self.verb("cannot", "could not"),
        );
        Some(self.finding(severity, "low_cardinality", summary).figure("values", distinct))
    }

    /// One value that many documents have: its chunk cannot be split.
    fn dominated(&self) -> Option<Finding> {
        let thresholds = &self.subject.thresholds.shard_key;
        let top = self.values.fields.last()?.frequent.top()?;
        let jumbo = (self.bytes() as f64 * top.share) as u64;
        let is_jumbo = jumbo > thresholds.chunk_bytes;
        if top.share < thresholds.warn_value_share && !is_jumbo {
            return None;
        }
        let critical = is_jumbo || top.share >= thresholds.critical_value_share;
        let severity = if critical { Severity::Critical } else { Severity::Warn };
        let fate = if is_jumbo {
            format!(
                "a jumbo chunk, {} where {} is the most, that can be neither split nor moved",
                bytes(jumbo),
                bytes(thresholds.chunk_bytes)
            )
        } else {
            format!("{} in one chunk that cannot be split", bytes(jumbo))
        };
        let summary = format!(
            "{} of all documents have the key {}: {} {fate}.",
            percent(top.share),
            top.value,
            self.verb("they are", "they would be"),
        );
        Some(
            self.finding(severity, "dominating_value", summary)
                .examples([top.value.clone()])
                .figure("value_share", rounded(top.share))
                .figure("chunk_bytes", jumbo)
                .figure("chunk_bytes_max", thresholds.chunk_bytes)
                .figure("jumbo", is_jumbo),
        )
    }

    /// Operations that do not name the key and are sent to every shard.
    fn scattered(&self) -> Option<Finding> {
        let thresholds = &self.subject.thresholds.shard_key;
        let first = self.values.fields.first()?;
        let (mut all, mut scattered, mut example) = (0, 0, None);
        for operation in &self.subject.collection.operations {
            if operation.command == "insert" {
                continue;
            }
            all += operation.count;
            if !asked::confines(operation, &first.path, first.hashed) {
                scattered += operation.count;
                example.get_or_insert_with(|| operation.example());
            }
        }
        let share = scattered as f64 / all.max(1) as f64;
        if all < thresholds.scattered_operations || share < thresholds.scattered_share {
            return None;
        }
        let summary = format!(
            "{} of {} recorded operations do not name '{}': each {} to every shard.",
            count(scattered),
            count(all),
            first.path,
            self.verb("goes", "would go"),
        );
        Some(
            self.finding(Severity::Warn, "missing_from_queries", summary)
                .examples(example)
                .figure("operations", all)
                .figure("scattered", scattered)
                .figure("scattered_share", rounded(share)),
        )
    }

    /// Whether new documents have greater values of a field than those before.
    fn grows(&self, field: &KeyField) -> bool {
        let least = self.subject.thresholds.shard_key.monotonic_share;
        field.monotonic_share().is_some_and(|share| share >= least)
    }

    fn finding(&self, severity: Severity, fault: &str, summary: String) -> Finding {
        let cure = self.cure(&[fault]);
        Finding::new(severity, &self.subject.collection.namespace, summary, cure)
            .path(self.path.clone())
            .cause("shard key")
            .figure("fault", fault)
            .figure("key", self.shard_key.key.to_string())
            .figure("sharded", self.shard_key.in_use)
    }

    /// What is, or what would be.
    fn verb(&self, is: &'static str, would_be: &'static str) -> &'static str {
        if self.shard_key.in_use { is } else { would_be }
    }

    /// Bytes of the whole collection.
    fn bytes(&self) -> u64 {
        let census = self.subject.census;
        let seen = census.sizes.sum() as f64 * self.subject.collection.scale(census.documents());
        self.subject.collection.bytes.unwrap_or(seen as u64)
    }

    /// Another key: one that begins with what the queries ask for, else a finer one, else the
    /// hash of what only grows.
    fn better(&self, faults: &[&str]) -> (String, bool) {
        let coarse = faults.iter().any(|it| ["low_cardinality", "dominating_value"].contains(it));
        let text = |path: &str| Value::from(path).to_string();
        let own = &self.values.fields;
        if let Some(asked) = self.most_asked() {
            let rest = own.iter().filter(|field| field.path != asked && !field.hashed);
            let rest = rest.map(|field| format!(", {}: 1", text(&field.path)));
            return (format!("{{{}: 1{}}}", text(&asked), rest.collect::<String>()), false);
        }
        if coarse {
            let hashed = own.iter().any(|field| field.hashed);
            let last = if hashed { "1" } else { "\"hashed\"" };
            let fields = self.shard_key.key.iter();
            let fields = fields.map(|(path, kind)| format!("{}: {kind}, ", text(path)));
            return (format!("{{{}_id: {last}}}", fields.collect::<String>()), true);
        }
        let growing = own.iter().find(|field| self.grows(field)).or(own.first());
        let growing = growing.map_or("_id", |field| &*field.path);
        (format!("{{{}: \"hashed\"}}", text(growing)), false)
    }

    fn cure(&self, faults: &[&str]) -> Cure {
        let collection = &self.subject.collection.namespace;
        let of = format!("db.getCollection({})", Value::from(&*collection.collection));
        let (key, finer) = self.better(faults);
        if !self.shard_key.in_use {
            // There are no shards: what a collection is to be sharded by is the index's to say.
            let name = Value::from(INTENDED_INDEX);
            let command =
                format!("{of}.dropIndex({name})\n{of}.createIndex({key}, {{name: {name}}})");
            return Cure::command("shard key", command);
        }
        let refines = finer && self.subject.target != Target::AzureDocumentDb;
        let change = if refines { "refineCollectionShardKey" } else { "reshardCollection" };
        // Azure DocumentDB shards by the hash of one field.
        let key = match self.subject.target {
            Target::AzureDocumentDb => {
                let asked = self.most_asked().unwrap_or_else(|| "_id".to_owned());
                format!("{{{}: \"hashed\"}}", Value::from(asked))
            }
            Target::MongoDb | Target::Freeboard => key,
        };
        let namespace = Value::from(collection.to_string());
        let command = format!(
            "{of}.createIndex({key})\ndb.adminCommand({{{change}: {namespace}, key: {key}}})"
        );
        Cure::command("shard key", command)
    }

    /// The field that operations ask for by value most often, if the key does not begin
    /// with it and most documents have it.
    fn most_asked(&self) -> Option<String> {
        let mut fields: FxHashMap<String, u64> = FxHashMap::default();
        for operation in &self.subject.collection.operations {
            for field in Predicates::of(operation.filters()).equal {
                *fields.entry(field).or_default() += operation.count;
            }
        }
        let first = self.values.fields.first()?;
        let documents = self.subject.census.documents();
        let least = self.subject.thresholds.shard_key.warn_values;
        let has = |field: &str| {
            let node = self.subject.census.tree.find(field);
            let everywhere = |node: &Node| node.array.is_none() && node.count * 10 >= documents * 9;
            // A field of few values is no better, where they are counted.
            let values = |node: &Node| node.distinct.as_ref().map(|it| it.distinct());
            let many = |node: &Node| values(node).is_none_or(|it| it >= least);
            node.is_some_and(|node| everywhere(node) && many(node))
        };
        let fields = fields.into_iter().filter(|(field, _)| *field != first.path && has(field));
        fields.max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0))).map(|(field, _)| field)
    }
}

fn rounded(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{DAY, Fixture, NOW};
    use super::*;
    use crate::audit::facts::Operation;
    use bson::{DateTime, Document, RawDocumentBuf, doc, rawdoc};

    /// Documents with a date that grows, a city out of many and a country out of few.
    fn document(number: i64) -> RawDocumentBuf {
        let country = if number % 10 < 6 { "US".to_owned() } else { format!("C{}", number % 7) };
        rawdoc! {
            "_id": number,
            "at": DateTime::from_millis(NOW - DAY + number * 1000),
            "city": format!("city {}", number * 7_919 % 500),
            "country": country,
        }
    }

    fn found(key: Document) -> Vec<Finding> {
        Fixture::sharded(key, (0..1_000).map(document)).look(look)
    }

    fn faults(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|it| it.evidence.figures["fault"].as_str().unwrap()).collect()
    }

    #[test]
    fn a_key_that_only_grows_is_found() {
        for key in [doc! { "at": 1 }, doc! { "_id": 1 }] {
            let findings = found(key);
            assert_eq!(faults(&findings), ["monotonic"]);
            assert_eq!(findings[0].evidence.figures["hot_share"], json!(1.0));
            assert_eq!(findings[0].severity, Severity::Warn);
        }
        // Nearly: hashed, or behind a field of many values.
        for key in [doc! { "at": "hashed" }, doc! { "city": 1, "at": 1 }] {
            assert_eq!(faults(&found(key)), [""; 0]);
        }
        let behind = found(doc! { "country": 1, "at": 1 });
        assert_eq!(faults(&behind), ["monotonic"]);
        assert_eq!(behind[0].evidence.figures["hot_share"], json!(0.6));
    }

    #[test]
    fn few_values_and_one_that_dominates_are_found() {
        let findings = found(doc! { "country": 1 });
        assert_eq!(faults(&findings), ["low_cardinality", "dominating_value"]);
        assert_eq!(findings[0].severity, Severity::Critical);
        assert_eq!(findings[0].evidence.figures["values"], json!(8));
        assert_eq!(findings[1].evidence.examples, [json!("US")]);
        assert_eq!(findings[1].evidence.figures["value_share"], json!(0.6));
        assert!(found(doc! { "city": 1 }).is_empty());
        // Too few documents to tell.
        let few = Fixture::sharded(doc! { "country": 1 }, (0..40).map(document));
        assert!(few.look(look).is_empty());
    }

    #[test]
    fn a_value_of_many_bytes_is_a_jumbo_chunk() {
        let document = |number: i64| rawdoc! { "_id": number, "k": (number * 7_919 % 20) as i32 };
        let mut fixture = Fixture::sharded(doc! { "k": 1 }, (0..1_000).map(document));
        fixture.thresholds.shard_key.warn_values = 10;
        assert!(fixture.look(look).is_empty());
        fixture.collection.bytes = Some(4 << 30);
        let findings = fixture.look(look);
        assert_eq!(faults(&findings), ["dominating_value"]);
        assert_eq!(findings[0].severity, Severity::Critical);
        assert_eq!(findings[0].evidence.figures["jumbo"], json!(true));
        fixture.collection.bytes = Some(1 << 30);
        assert!(fixture.look(look).is_empty());
    }

    #[test]
    fn queries_without_the_key_are_found() {
        let find = |filter: Document, count| Operation {
            command: "find".to_owned(),
            filter,
            count,
            ..Operation::default()
        };
        let fixture = |by_key: u64| {
            let operations = [
                find(doc! { "city": "city 1" }, 20),
                find(doc! { "country": "US", "city": "city 1" }, by_key),
            ];
            let key = doc! { "country": 1, "city": 1 };
            Fixture::sharded(key, (0..1_000).map(document)).operations(operations)
        };
        let findings = fixture(5).look(look);
        assert_eq!(faults(&findings), ["missing_from_queries"]);
        assert_eq!(findings[0].evidence.figures["scattered"], json!(20));
        let crate::report::Remedy::Command(command) = &findings[0].cure.remedy else { panic!() };
        assert!(command.contains(r#"key: {"city": 1, "country": 1}"#), "{command}");
        assert!(fixture(30).look(look).is_empty());
    }

    #[test]
    fn a_key_that_is_only_intended_is_judged_in_the_conditional() {
        let mut fixture = Fixture::sharded(doc! { "at": 1 }, (0..1_000).map(document));
        fixture.collection.shard_key = Some(ShardKey { key: doc! { "at": 1 }, in_use: false });
        let findings = fixture.look(look);
        assert!(findings[0].summary.contains("would go"), "{}", findings[0].summary);
        let crate::report::Remedy::Command(command) = &findings[0].cure.remedy else { panic!() };
        let expected = r#"createIndex({"at": "hashed"}, {name: "shard_key"})"#;
        assert!(command.contains(expected), "{command}");
        fixture.collection.shard_key = None;
        assert!(fixture.look(look).is_empty());
    }
}
