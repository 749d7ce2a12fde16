//! Random documents, indexes, filters and sorts: whatever the plan, the answer is
//! that of a naive scan.

use super::world::{World, query, summary};
use crate::plan::choose::choose;
use crate::plan::execute::sort_key;
use crate::plan::{Execution, Interrupt, Purpose, Query};
use crate::storage::entry::WHOLE_KEY_BYTES_MAX;
use bson::{Bson, Document, RawDocumentBuf, doc, rawdoc};
use rand::prelude::*;
use rand::rngs::StdRng;
use std::sync::Arc;

const ROUNDS: u64 = 60;
/// Of rounds whose strings have keys around and above the longest that is stored whole.
const LONG_ROUNDS: u64 = 6;
const QUERIES_A_ROUND: usize = 40;

/// A generator, and the few paths that indexes, filters and sorts of a round speak
/// of, so that they meet; what strings begin with.
struct Random(StdRng, Vec<&'static str>, String);

const PATHS: [&str; 10] = ["a", "d", "e", "a.b", "a.c", "d.b", "e.c", "a.b.c", "a.0", "_id"];

impl Random {
    fn below(&mut self, end: i32) -> i32 {
        self.0.random_range(0..end)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        from.choose(&mut self.0).expect("something to pick")
    }

    fn scalar(&mut self) -> Bson {
        match self.below(14) {
            0 => Bson::Null,
            1 => Bson::Double(f64::from(self.below(6)) + 0.5),
            2 => Bson::Int64(self.below(6).into()),
            3 => Bson::Double(self.below(6).into()),
            4 | 5 => {
                let end = ["a", "ab", "abc", "b", ""][self.below(5) as usize];
                Bson::String(format!("{}{end}", self.2))
            }
            6 => Bson::Boolean(self.below(2) == 0),
            7 => Bson::DateTime(bson::DateTime::from_millis(self.below(4).into())),
            _ => Bson::Int32(self.below(6)),
        }
    }

    fn value(&mut self, depth: i32) -> Bson {
        match self.below(if depth > 2 { 6 } else { 10 }) {
            0..=5 => self.scalar(),
            6 | 7 => (0..self.below(4)).map(|_| self.value(depth + 1)).collect::<Vec<_>>().into(),
            _ => Bson::Document(self.fields(&["b", "c"], depth + 1)),
        }
    }

    fn fields(&mut self, names: &[&str], depth: i32) -> Document {
        let mut document = Document::new();
        for name in names {
            if self.below(4) > 0 {
                document.insert(*name, self.value(depth));
            }
        }
        document
    }

    fn document(&mut self, id: i32, arrays: bool) -> RawDocumentBuf {
        let mut document = doc! { "_id": id };
        for name in ["a", "d", "e"] {
            if self.below(5) > 0 {
                let value = match arrays {
                    true => self.value(0),
                    false if self.below(3) == 0 => {
                        Bson::Document(doc! { "b": self.scalar(), "c": self.scalar() })
                    }
                    false => self.scalar(),
                };
                document.insert(name, value);
            }
        }
        RawDocumentBuf::try_from(&document).expect("a document")
    }

    fn new(seed: u64, start: String) -> Random {
        let mut generator = StdRng::seed_from_u64(seed);
        let paths = PATHS.choose_multiple(&mut generator, 3).copied().collect();
        Random(generator, paths, start)
    }

    fn path(&mut self) -> &'static str {
        self.1.choose(&mut self.0).copied().expect("a path")
    }

    fn index(&mut self) -> RawDocumentBuf {
        let mut key = Document::new();
        for _ in 0..1 + self.below(3) {
            let direction = if self.below(3) == 0 { -1 } else { 1 };
            key.insert(self.path(), direction);
        }
        let mut spec = doc! { "key": key };
        match self.below(10) {
            0 => spec.insert("sparse", true),
            1 => {
                let condition = self.condition(true);
                spec.insert("partialFilterExpression", doc! { self.path(): condition })
            }
            2 => spec.insert("key", doc! { "$**": 1 }),
            3 => spec.insert("key", doc! { "a.$**": 1 }),
            4 => spec.insert("key", doc! { "d": 1, "a.$**": 1 }),
            _ => None,
        };
        let mut named = doc! { "name": format!("i{}", self.0.random::<u32>()) };
        named.extend(spec);
        RawDocumentBuf::try_from(&named).expect("a specification")
    }

    /// A condition on one field; a simple one could stand in a partial index.
    fn condition(&mut self, simple: bool) -> Bson {
        let list: Vec<Bson> = (0..1 + self.below(3)).map(|_| self.scalar()).collect();
        match self.below(if simple { 8 } else { 18 }) {
            0 => doc! { "$gt": self.scalar() }.into(),
            1 => doc! { "$gte": self.scalar() }.into(),
            2 => doc! { "$lt": self.scalar() }.into(),
            3 => doc! { "$lte": self.scalar() }.into(),
            4 => doc! { "$exists": true }.into(),
            5 => doc! { "$in": list }.into(),
            6 | 7 => doc! { "$eq": self.scalar() }.into(),
            8 => doc! { "$exists": false }.into(),
            9 => doc! { "$ne": self.scalar() }.into(),
            10 => doc! { "$nin": list }.into(),
            11 => doc! { "$not": { "$gt": self.scalar() } }.into(),
            12 => doc! { "$gt": self.below(4), "$lt": 2 + self.below(4) }.into(),
            13 => doc! { "$regex": *self.pick(&["^a", "^ab", "b", "^a.c"]) }.into(),
            14 => doc! { "$elemMatch": { "$gte": self.below(4), "$lt": 2 + self.below(4) } }.into(),
            15 => {
                let (b, c) = (self.condition(true), self.condition(true));
                doc! { "$elemMatch": { "b": b, "c": c } }.into()
            }
            16 => doc! { "$eq": self.value(1) }.into(),
            _ => doc! { "$type": *self.pick(&["string", "number", "object", "null"]) }.into(),
        }
    }

    fn filter(&mut self, depth: i32) -> Document {
        let mut filter = Document::new();
        for _ in 0..self.below(4) {
            let condition = self.condition(false);
            filter.insert(self.path(), condition);
        }
        if self.below(6) == 0 {
            let comparison = *self.pick(&["$eq", "$gt", "$gte", "$lt", "$lte"]);
            let field = format!("${}", self.path());
            let value = self.scalar();
            let operands = if self.below(2) == 0 {
                [Bson::from(field), value]
            } else {
                [value, Bson::from(field)]
            };
            filter.insert("$expr", doc! { comparison: operands.to_vec() });
        }
        if depth == 0 && self.below(4) == 0 {
            let branches: Vec<Document> = (0..2 + self.below(2)).map(|_| self.filter(1)).collect();
            filter.insert(*self.pick(&["$or", "$or", "$and", "$nor"]), branches);
        }
        filter
    }

    fn sort(&mut self) -> RawDocumentBuf {
        let mut sort = Document::new();
        for _ in 0..self.below(3) {
            let direction = if self.below(2) == 0 { -1 } else { 1 };
            sort.insert(self.path(), direction);
        }
        RawDocumentBuf::try_from(&sort).expect("a sort")
    }
}

/// A world whose documents all its indexes accept.
fn world(random: &mut Random, arrays: bool) -> World {
    let indexes: Vec<RawDocumentBuf> = (0..1 + random.below(4)).map(|_| random.index()).collect();
    let parsed: Vec<_> = indexes
        .iter()
        .map(|spec| crate::catalog::Index::from_spec(crate::storage::IndexId(1), spec, true))
        .collect::<error::Result<_>>()
        .expect("indexes");
    let mut documents = Vec::new();
    for id in 0..40 {
        let document = random.document(id, arrays);
        if parsed.iter().all(|index| crate::index::keys(index, &document).is_ok()) {
            documents.push(document);
        }
    }
    World::new(&indexes, documents)
}

fn naive(world: &World, query: &Query) -> error::Result<Vec<RawDocumentBuf>> {
    let mut found = Vec::new();
    for document in &world.documents {
        if query.filter.matches(document)? {
            found.push((sort_key(query.sort.fields(), document, None)?, document.clone()));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found.into_iter().map(|(_, document)| document).collect())
}

fn ids(documents: &[RawDocumentBuf]) -> Vec<i32> {
    let mut ids: Vec<i32> =
        documents.iter().map(|document| document.get_i32("_id").expect("an id")).collect();
    ids.sort_unstable();
    ids
}

/// A document without regard to the order of its fields: what an index covers
/// comes in the order of the index.
fn normal(document: RawDocumentBuf) -> String {
    let document = Document::try_from(document).expect("a document");
    let mut fields: Vec<String> =
        document.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
    fields.sort_unstable();
    fields.join(", ")
}

fn check(world: &World, filter: &RawDocumentBuf, sort: &RawDocumentBuf, shown: &str) {
    let asked = || query(filter).sorted(sort);
    // Parallel arrays cannot be sorted by; whether they are met depends on the plan.
    let Ok(expected) = naive(world, &asked()) else { return };
    let found = match world.run(asked()) {
        Err(error) if error.code() == error::Code::BadValue => return,
        found => found.expect(shown),
    };
    assert_eq!(ids(&found), ids(&expected), "{shown}");
    let keys = |documents: &[RawDocumentBuf]| -> Vec<Vec<u8>> {
        let fields = asked();
        let key = |document: &RawDocumentBuf| {
            sort_key(fields.sort.fields(), document, None).expect("a key")
        };
        documents.iter().map(key).collect()
    };
    assert_eq!(keys(&found), keys(&expected), "{shown}");

    // Not only the plan that wins: every one that was considered.
    for plan in choose(Some(&world.collection), &Arc::new(asked())).expect("plans") {
        let name = summary(&plan.root);
        let rows = Execution::open(Arc::new(plan), world.view.clone(), Interrupt::default());
        let found: Vec<RawDocumentBuf> =
            rows.map(|row| row.expect("a row").document.into()).collect();
        assert_eq!(ids(&found), ids(&expected), "{name}\n{shown}");
        assert_eq!(keys(&found), keys(&expected), "{name}\n{shown}");
    }

    let count = Query { purpose: Purpose::Count, ..query(filter) };
    assert_eq!(
        world.open(count).expect("opens").count().expect("counts"),
        expected.len() as u64,
        "{shown}"
    );

    let spec = rawdoc! { "_id": 0, "d": 1, "a.b": 1 };
    let project = |documents: &[RawDocumentBuf]| {
        let projected = query(filter).projected(&spec);
        let projection = projected.projection.as_ref().expect("a projection");
        let mut shown: Vec<String> = documents
            .iter()
            .map(|document| projection.apply(document, Default::default()).expect("projects"))
            .map(normal)
            .collect();
        shown.sort_unstable();
        shown
    };
    let covered = world.run(query(filter).projected(&spec)).expect("runs");
    let mut covered: Vec<String> = covered.into_iter().map(normal).collect();
    covered.sort_unstable();
    assert_eq!(covered, project(&expected), "{shown}");
}

#[test]
fn every_plan_gives_what_a_naive_scan_gives() {
    rounds(ROUNDS, "");
}

#[test]
fn every_plan_gives_what_a_naive_scan_gives_of_long_keys() {
    // A string's key has three bytes more, so that some are whole and some are not.
    rounds(LONG_ROUNDS, &"x".repeat(WHOLE_KEY_BYTES_MAX - 4));
}

/// Rounds with strings that begin so.
fn rounds(rounds: u64, start: &str) {
    let base: u64 = std::env::var("MODEL_SEED").map_or(0, |seed| seed.parse().expect("a number"));
    for round in base..base + rounds {
        let mut random = Random::new(round, start.to_owned());
        let arrays = round % 3 > 0;
        let world = world(&mut random, arrays);
        for _ in 0..QUERIES_A_ROUND {
            let filter = RawDocumentBuf::try_from(&random.filter(0)).expect("a filter");
            let sort = random.sort();
            let names: Vec<String> =
                world.collection.indexes.iter().map(|index| format!("{:?}", index.spec)).collect();
            let shown = format!(
                "MODEL_SEED={round}\nfilter {:?}\nsort {:?}\nplan {}\nindexes {names:#?}",
                Document::try_from(filter.clone()),
                Document::try_from(sort.clone()),
                summary(&world.plan(query(&filter).sorted(&sort)).root),
            );
            check(&world, &filter, &sort, &shown);
        }
    }
}
