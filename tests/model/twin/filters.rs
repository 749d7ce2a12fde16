//! Conditions, most of them on the array.

use bson::{Bson, Document, doc};
use rand::Rng as _;
use rand::rngs::StdRng;

/// How many documents there are, about.
pub const IDS: i32 = 5;

/// Long enough that a head with a few of them is kept out of line, or one of them is.
const TEXT_BYTES: [usize; 3] = [300, 3_000, 18_000];

/// An element: mostly a document, at times a plain value or a large one.
pub fn element(random: &mut StdRng) -> Bson {
    let n = random.random_range(0..12);
    match random.random_range(0..9) {
        3 if random.random_bool(0.3) => {
            let text = "x".repeat(TEXT_BYTES[random.random_range(0..TEXT_BYTES.len())]);
            doc! { "n": n, "t": random.random_range(0..100), "x": text }.into()
        }
        0 => n.into(),
        1 => doc! { "n": n }.into(),
        2 => doc! { "n": [n, n + 1], "t": n }.into(),
        _ => doc! { "n": n, "t": random.random_range(0..100) }.into(),
    }
}

pub fn elements(random: &mut StdRng, most: usize) -> Vec<Bson> {
    (0..random.random_range(0..=most)).map(|_| element(random)).collect()
}

/// A condition on one document at the most, if with more on its array.
pub fn of_one(path: &str, random: &mut StdRng) -> Document {
    let mut filter = doc! { "_id": random.random_range(0..IDS) };
    if random.random_bool(0.4) {
        filter.extend(on_array(path, random));
    }
    filter
}

pub fn of_many(path: &str, random: &mut StdRng) -> Document {
    match random.random_range(0..10) {
        0 => doc! {},
        1 => doc! { "k": random.random_range(0..3) },
        2 => doc! { "$or": [on_array(path, random), on_array(path, random)] },
        3 => doc! { "$and": [on_array(path, random), on_array(path, random)] },
        4 => doc! { "$nor": [on_array(path, random)] },
        5 => {
            let mut filter = on_array(path, random);
            filter.insert("k", doc! { "$gte": random.random_range(0..3) });
            filter
        }
        _ => on_array(path, random),
    }
}

fn on_array(path: &str, random: &mut StdRng) -> Document {
    let (n, at) = (random.random_range(0..12), random.random_range(0..12));
    let field = format!("{path}.n");
    match random.random_range(0..22) {
        0 => doc! { path: element(random) },
        1 | 2 => doc! { field: n },
        3 => doc! { field: { "$gte": n } },
        4 => doc! { field: { "$gt": n, "$lt": n + 2 } },
        5 => doc! { field: { "$in": [n, n + 1] } },
        6 => doc! { field: { "$ne": n } },
        7 => doc! { field: { "$nin": [n, n + 3] } },
        8 => doc! { path: { "$elemMatch": { "n": n, "t": { "$gt": 50 } } } },
        9 => doc! { path: { "$size": at } },
        10 => doc! { path: { "$exists": random.random_bool(0.5) } },
        11 => doc! { format!("{path}.{at}"): { "$exists": true } },
        12 => doc! { format!("{path}.{at}.n"): n },
        13 => doc! { field: { "$all": [n, n + 1] } },
        14 => doc! { field: Bson::Null },
        15 => doc! { path: { "$not": { "$elemMatch": { "t": { "$lt": 30 } } } } },
        16 => doc! { path: { "$type": "array" } },
        17 => doc! { path: elements(random, 3) },
        18 => {
            // What fails would fail in another order.
            let array = format!("${path}");
            let array = doc! { "$cond": [{ "$isArray": &array }, { "$size": &array }, -1] };
            doc! { "$expr": { "$gt": [array, at] } }
        }
        19 => doc! { path: { "$in": [n, element(random)] } },
        20 => doc! { format!("{path}.0"): { "$exists": random.random_bool(0.5) } },
        _ => doc! { path: { "$elemMatch": { "$gte": n, "$lt": n + 3 } } },
    }
}
