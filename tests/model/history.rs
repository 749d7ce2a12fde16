//! Random steps, from small sets of values, so that they meet.

use bson::{Bson, Document, doc};
use rand::Rng as _;
use rand::rngs::StdRng;

#[derive(Debug, Clone)]
pub enum Step {
    Insert(Document),
    /// By filter, all that match.
    Update(Document, Document),
    Replace(i32, Document),
    Delete(Document),
    /// Filter, sort (with `_id` last, so that the order is certain), skip, limit.
    Find(Document, Document, usize, usize),
    Count(Document),
    Distinct(&'static str, Document),
}

const IDS: i32 = 120;

pub fn step(random: &mut StdRng) -> Step {
    match random.random_range(0..100) {
        0..30 => Step::Insert(document(random)),
        30..45 => Step::Update(filter(random), update(random)),
        45..50 => Step::Replace(random.random_range(0..IDS), fields(random)),
        50..56 => Step::Delete(narrow(random)),
        56..85 => {
            let skip = if random.random_bool(0.2) { random.random_range(0..5) } else { 0 };
            let limit = if random.random_bool(0.3) { random.random_range(1..10) } else { 0 };
            Step::Find(filter(random), sort(random), skip, limit)
        }
        85..93 => Step::Count(filter(random)),
        _ => Step::Distinct(field(random), filter(random)),
    }
}

fn document(random: &mut StdRng) -> Document {
    let mut document = doc! { "_id": random.random_range(0..IDS) };
    document.extend(fields(random));
    document
}

fn fields(random: &mut StdRng) -> Document {
    let mut document = Document::new();
    for name in ["a", "b"] {
        if random.random_bool(0.85) {
            document.insert(name, value(random));
        }
    }
    if random.random_bool(0.6) {
        let length = random.random_range(0..4);
        document.insert("t", (0..length).map(|_| scalar(random)).collect::<Vec<Bson>>());
    }
    if random.random_bool(0.4) {
        document.insert("s", doc! { "x": scalar(random) });
    }
    if random.random_bool(0.05) {
        // Large enough to live out of line.
        document.insert("big", "z".repeat(random.random_range(1_000..100_000)));
    }
    document
}

fn value(random: &mut StdRng) -> Bson {
    if random.random_bool(0.15) {
        let length = random.random_range(0..3);
        return (0..length).map(|_| scalar(random)).collect::<Vec<Bson>>().into();
    }
    scalar(random)
}

fn scalar(random: &mut StdRng) -> Bson {
    match random.random_range(0..10) {
        0..4 => Bson::Int32(random.random_range(0..8)),
        4 => Bson::Int64(random.random_range(0..8)),
        5 => Bson::Double(f64::from(random.random_range(0..16)) / 2.0),
        6..8 => Bson::String(["a", "b", "ab", "c"][random.random_range(0..4)].to_owned()),
        8 => Bson::Boolean(random.random()),
        _ => Bson::Null,
    }
}

fn field(random: &mut StdRng) -> &'static str {
    ["a", "b", "t", "s.x"][random.random_range(0..4)]
}

fn filter(random: &mut StdRng) -> Document {
    match random.random_range(0..10) {
        0 => doc! {},
        1 => doc! { "_id": random.random_range(0..IDS) },
        2 => {
            let low = random.random_range(0..IDS);
            doc! { "_id": { "$gte": low, "$lt": low + 20 } }
        }
        3 => doc! { "$or": [condition(random), condition(random)] },
        4 | 5 => {
            let mut filter = condition(random);
            filter.extend(condition(random));
            filter
        }
        _ => condition(random),
    }
}

/// A filter that does not empty the collection.
fn narrow(random: &mut StdRng) -> Document {
    let low = random.random_range(0..IDS);
    let mut filter = doc! { "_id": { "$gte": low, "$lt": low + 30 } };
    filter.extend(condition(random));
    filter
}

fn condition(random: &mut StdRng) -> Document {
    let field = field(random);
    let operator = match random.random_range(0..9) {
        0 | 1 => return doc! { field: scalar(random) },
        2 => doc! { "$gt": scalar(random) },
        3 => doc! { "$gte": scalar(random), "$lt": scalar(random) },
        4 => doc! { "$lte": scalar(random) },
        5 => doc! { "$in": [scalar(random), scalar(random), scalar(random)] },
        6 => doc! { "$ne": scalar(random) },
        7 => doc! { "$exists": random.random::<bool>() },
        _ => doc! { "$nin": [scalar(random), scalar(random)] },
    };
    doc! { field: operator }
}

/// By at most one field that may hold an array: two at once are an error.
fn sort(random: &mut StdRng) -> Document {
    let direction = |random: &mut StdRng| if random.random() { 1 } else { -1 };
    let mut sort = Document::new();
    if random.random_bool(0.3) {
        sort.insert("s.x", direction(random));
    }
    if random.random_bool(0.7) {
        sort.insert(field(random), direction(random));
    }
    sort.insert("_id", direction(random));
    sort
}

fn update(random: &mut StdRng) -> Document {
    match random.random_range(0..7) {
        0 | 1 => doc! { "$set": { "a": value(random) } },
        2 => doc! { "$set": { "s.x": scalar(random), "b": value(random) } },
        3 => doc! { "$unset": { field(random): "" } },
        4 => doc! { "$inc": { "n": random.random_range(1..5) } },
        5 => doc! { "$set": { "t": [scalar(random), scalar(random)] } },
        _ => doc! { "$unset": { "big": "" }, "$set": { "m": scalar(random) } },
    }
}
