//! Keys longer than those of the trees, in every kind of index, against a naive model: the
//! same answers whatever the length, after a restart, too.

use crate::world::World;
use bson::{Bson, Document, doc};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

const COLLECTION: &str = "c";
const STEPS: usize = 61;
const STEPS_BETWEEN_CHECKS: usize = 20;
const DOCUMENTS_MAX: usize = 24;
/// What the trees' keys hold of a key, less the bytes that a string has around it.
const WHOLE_TEXT_BYTES_MAX: usize = 65_472 - 3;
const ENDS: [&str; 5] = ["a", "b", "ba", "c", ""];

struct Model {
    world: World,
    documents: Vec<Document>,
    random: StdRng,
}

/// Around the limit, far from it, with equal beginnings.
fn text(random: &mut StdRng) -> String {
    let around = WHOLE_TEXT_BYTES_MAX - 2..WHOLE_TEXT_BYTES_MAX + 3;
    let length = match random.random_range(0..20) {
        0 => 1 << 20,
        1..5 => random.random_range(1..4),
        5..9 => 70_000,
        _ => random.random_range(around),
    };
    "x".repeat(length) + ENDS.choose(random).unwrap()
}

fn indexes() -> Document {
    let index = |name: &str, key: Document, more: Document| {
        let mut index = doc! { "name": name, "key": key };
        index.extend(more);
        index
    };
    let english = doc! { "collation": { "locale": "en", "strength": 2 } };
    let long = doc! { "partialFilterExpression": { "n": { "$gte": 2 } } };
    doc! {
        "createIndexes": COLLECTION,
        "indexes": [
            index("a", doc! { "a": 1 }, doc! {}),
            index("down", doc! { "a": -1, "n": 1 }, doc! {}),
            index("tags", doc! { "tags": 1, "a": 1 }, doc! {}),
            index("wild", doc! { "w.$**": 1 }, doc! {}),
            index("hashed", doc! { "a": "hashed" }, doc! {}),
            index("english", doc! { "a": 1 }, english),
            index("partial", doc! { "n": 1, "a": 1 }, long),
            index("ttl", doc! { "w.x": 1 }, doc! { "expireAfterSeconds": 60 }),
        ],
    }
}

impl Model {
    fn document(&mut self) -> Document {
        let random = &mut self.random;
        let tags: Vec<String> = (0..random.random_range(0..3)).map(|_| text(random)).collect();
        let mut document = doc! {
            "_id": text(random), "a": text(random), "n": random.random_range(0..4),
            "tags": tags, "w": { "x": text(random) },
        };
        if random.random() {
            document.insert("u", text(random));
        }
        document
    }

    /// Whether a document but the one at a place has the same unique value.
    fn is_taken(&self, field: &str, value: Option<&Bson>, but: Option<usize>) -> bool {
        let others = self.documents.iter().enumerate().filter(|(at, _)| Some(*at) != but);
        value.is_some() && others.into_iter().any(|(_, other)| other.get(field) == value)
    }

    async fn step(&mut self) {
        let at =
            (!self.documents.is_empty()).then(|| self.random.random_range(0..self.documents.len()));
        match (self.random.random_range(0..10), at) {
            (0..3, Some(at)) => {
                let (field, value) = (["a", "u"][at % 2], text(&mut self.random));
                let taken =
                    field == "u" && self.is_taken("u", Some(&value.clone().into()), Some(at));
                let id = self.documents[at].get("_id").unwrap();
                let update = doc! { "q": { "_id": id }, "u": { "$set": { field: &value } } };
                self.write(doc! { "update": COLLECTION, "updates": [update] }, taken).await;
                if !taken {
                    self.documents[at].insert(field, value);
                }
            }
            (_, Some(at)) if self.documents.len() >= DOCUMENTS_MAX || at % 5 == 4 => {
                let gone = self.documents.remove(at);
                let delete = doc! { "q": { "_id": gone.get("_id").unwrap() }, "limit": 1 };
                self.write(doc! { "delete": COLLECTION, "deletes": [delete] }, false).await;
            }
            _ => {
                let new = self.document();
                let taken =
                    ["_id", "u"].iter().any(|field| self.is_taken(field, new.get(field), None));
                self.write(doc! { "insert": COLLECTION, "documents": [&new] }, taken).await;
                if !taken {
                    self.documents.push(new);
                }
            }
        }
    }

    async fn write(&self, command: Document, taken: bool) {
        match self.world.run(command).await {
            Ok(reply) => {
                assert!(!taken, "a key was taken twice");
                assert_eq!(reply.get_i32("n").unwrap(), 1);
            }
            Err(error) => {
                assert!(taken, "{error}");
                assert_eq!(error.code().number(), 11000);
                assert!(error.message().len() < 1_000, "values are cut in messages");
            }
        }
    }

    /// Every document that a search finds, in its order.
    async fn find(&self, find: Document) -> Vec<Document> {
        let mut reply = self.world.must(find).await;
        let mut found = Vec::new();
        for batch in ["firstBatch"].into_iter().chain(std::iter::repeat("nextBatch")) {
            let cursor = reply.get_document("cursor").unwrap();
            let batch = cursor.get_array(batch).unwrap();
            found.extend(batch.iter().map(|it| it.as_document().unwrap().clone()));
            let id = cursor.get_i64("id").unwrap();
            if id == 0 {
                break;
            }
            reply = self.world.must(doc! { "getMore": id, "collection": COLLECTION }).await;
        }
        found
    }

    /// The values of a field of the documents within a range, sorted.
    fn values(&self, field: &str, low: &str, high: &str) -> Vec<String> {
        let all = self.documents.iter().filter_map(|document| document.get_str(field).ok());
        let inside = all.filter(|value| low <= *value && *value < high);
        let mut values: Vec<String> = inside.map(str::to_owned).collect();
        values.sort_unstable();
        values
    }

    async fn check(&mut self) {
        self.world.assert_valid().await;
        for (field, hint) in
            [("a", "a"), ("a", "down"), ("_id", "_id_"), ("u", "u"), ("a", "english")]
        {
            let (low, high) = (text(&mut self.random), text(&mut self.random));
            for (low, high) in [(low.as_str(), high.as_str()), ("", "z")] {
                self.check_range(field, hint, low, high).await;
            }
        }
        for at in 0..self.documents.len() {
            let document = &self.documents[at];
            for field in ["_id", "a"] {
                let filter = doc! { field: document.get(field).unwrap() };
                let found = self.find(doc! { "find": COLLECTION, "filter": filter }).await;
                assert!(found.contains(document), "found by {field}");
                let same = |it: &&Document| it.get(field) == document.get(field);
                assert_eq!(found.len(), self.documents.iter().filter(same).count());
            }
            let filter = doc! { "w.x": document.get_document("w").unwrap().get("x").unwrap() };
            let wild = doc! { "find": COLLECTION, "filter": filter, "hint": "wild" };
            assert!(self.find(wild).await.contains(document));
            for tag in document.get_array("tags").unwrap() {
                let filter = doc! { "tags": tag };
                let find = doc! { "find": COLLECTION, "filter": filter, "hint": "tags" };
                assert!(self.find(find).await.contains(document));
            }
        }
        let distinct = self.world.must(doc! { "distinct": COLLECTION, "key": "a" }).await;
        let mut values = self.values("a", "", "z");
        values.dedup();
        assert_eq!(distinct.get_array("values").unwrap().len(), values.len());
    }

    async fn check_range(&self, field: &str, hint: &str, low: &str, high: &str) {
        let wanted = self.values(field, low, high);
        let collation = match hint {
            "english" => doc! { "locale": "en", "strength": 2 },
            _ => doc! { "locale": "simple" },
        };
        for direction in [1, -1] {
            // Covered by the index where that is possible.
            let find = doc! {
                "find": COLLECTION, "hint": hint, "collation": &collation,
                "filter": { field: { "$gte": low, "$lt": high } },
                "sort": { field: direction },
                "projection": { "_id": i32::from(field == "_id"), field: 1 },
            };
            let found = self.find(find).await;
            let mut found: Vec<&str> = found.iter().map(|it| it.get_str(field).unwrap()).collect();
            if direction == -1 {
                found.reverse();
            }
            assert!(found == wanted, "{field} by {hint}: {} of {}", found.len(), wanted.len());
        }
        let count = doc! {
            "count": COLLECTION, "query": { field: { "$gte": low, "$lt": high } },
        };
        let count = self.world.must(count).await.get_i32("n").unwrap();
        assert_eq!(count as usize, wanted.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_keys_answer_as_short_ones_do() {
    let seed: u64 = rand::rng().random();
    eprintln!("seed {seed}");
    let directory = tempfile::tempdir().unwrap();
    let mut model = Model {
        world: World::open(directory.path()).await.unwrap(),
        documents: Vec::new(),
        random: StdRng::seed_from_u64(seed),
    };
    let unique = doc! { "name": "u", "key": { "u": 1 }, "unique": true, "sparse": true };
    model.world.must(doc! { "createIndexes": COLLECTION, "indexes": [unique] }).await;
    for step in 0..STEPS {
        // Built over what is there, then kept up.
        if step == STEPS_BETWEEN_CHECKS {
            model.world.must(indexes()).await;
        }
        model.step().await;
        if step > STEPS_BETWEEN_CHECKS && step % STEPS_BETWEEN_CHECKS == 0 {
            model.check().await;
            let closed = std::mem::replace(
                &mut model.world,
                World::open(tempfile::tempdir().unwrap().path()).await.unwrap(),
            );
            closed.close().await;
            model.world = World::open(directory.path()).await.unwrap();
            model.check().await;
        }
    }
}

/// The largest documents, whose `_id` is nearly all that they are.
#[tokio::test(flavor = "multi_thread")]
async fn keys_of_fifteen_megabytes_are_keys() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::open(directory.path()).await.unwrap();
    let id = |end: &str| "x".repeat(15 << 20) + end;
    let index = doc! { "name": "a", "key": { "a": 1 }, "unique": true };
    world.must(doc! { "createIndexes": COLLECTION, "indexes": [index] }).await;
    for (end, n) in [("b", 2), ("a", 1), ("c", 3)] {
        let new = doc! { "_id": id(end), "a": n };
        world.must(doc! { "insert": COLLECTION, "documents": [new] }).await;
    }
    let again = doc! { "_id": id("b"), "a": 4 };
    let error = world.run(doc! { "insert": COLLECTION, "documents": [again] }).await.unwrap_err();
    assert_eq!(error.code().number(), 11000);
    assert!(error.message().ends_with("xxx...\" }"), "{}", &error.message()[..300]);
    let find = doc! {
        "find": COLLECTION, "filter": { "_id": { "$gt": id("a") } }, "sort": { "_id": -1 },
        "projection": { "_id": 0, "a": 1 },
    };
    let world = {
        world.assert_valid().await;
        world.close().await;
        World::open(directory.path()).await.unwrap()
    };
    let reply = world.must(find).await;
    let found = reply.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
    assert_eq!(*found, [doc! { "a": 3 }.into(), doc! { "a": 2 }.into()]);
    let update = doc! { "q": { "_id": id("b") }, "u": { "$set": { "a": 7 } } };
    let reply = world.must(doc! { "update": COLLECTION, "updates": [update] }).await;
    assert_eq!(reply.get_i32("nModified").unwrap(), 1);
    let delete = doc! { "q": { "_id": id("a") }, "limit": 1 };
    let reply = world.must(doc! { "delete": COLLECTION, "deletes": [delete] }).await;
    assert_eq!(reply.get_i32("n").unwrap(), 1);
    world.assert_valid().await;
    world.close().await;
}
