//! What is written: operators, replacements, pipelines.

use super::filters::{IDS, element, elements};
use bson::{Bson, Document, doc};
use rand::Rng as _;
use rand::rngs::StdRng;

/// A second array, which may overflow too.
pub const OTHER: &str = "o";

pub fn document(path: &str, random: &mut StdRng) -> Document {
    let mut document = doc! { "_id": random.random_range(0..IDS), "k": random.random_range(0..3) };
    if random.random_bool(0.8) {
        document.extend(array(path, elements(random, 12).into()));
    }
    if random.random_bool(0.5) {
        document.insert(OTHER, elements(random, 6));
    }
    document
}

/// The array where it stands.
fn array(path: &str, array: Bson) -> Document {
    match path.split_once('.') {
        Some((outer, inner)) => doc! { outer: { inner: array } },
        None => doc! { path: array },
    }
}

/// An update and its array filters, if it has any.
pub fn update(path: &str, random: &mut StdRng) -> (Bson, Option<Bson>) {
    let (n, at) = (random.random_range(0..12), random.random_range(0..12));
    let plain = |update: Document| (Bson::Document(update), None);
    match random.random_range(0..48) {
        0..=7 => plain(doc! { "$push": { path: element(random) } }),
        8 | 9 => plain(doc! { "$push": { path: { "$each": elements(random, 9) } } }),
        10 => {
            plain(doc! { "$push": { path: { "$each": elements(random, 3), "$position": at - 4 } } })
        }
        11 => plain(doc! { "$push": { path: { "$each": elements(random, 3), "$slice": at - 6 } } }),
        12 => {
            plain(doc! { "$push": { path: { "$each": elements(random, 3), "$sort": { "t": 1 } } } })
        }
        13 => plain(doc! { "$pull": { path: { "n": n } } }),
        14 => plain(doc! { "$pull": { path: { "$in": [n, n + 1] } } }),
        15 => plain(doc! { "$pullAll": { path: [element(random), element(random)] } }),
        16 | 17 => plain(doc! { "$pop": { path: if n % 2 == 0 { 1 } else { -1 } } }),
        18 => plain(doc! { "$addToSet": { path: element(random) } }),
        19 => plain(doc! { "$addToSet": { path: { "$each": elements(random, 3) } } }),
        20 => plain(doc! { "$set": { format!("{path}.{at}.t"): n } }),
        21 => plain(doc! { "$set": { format!("{path}.$.seen"): n } }),
        22 => plain(doc! { "$set": { format!("{path}.$[].seen"): n } }),
        23 => (
            doc! { "$inc": { format!("{path}.$[e].t"): 1 } }.into(),
            Some(vec![Bson::from(doc! { "e.n": { "$gte": n } })].into()),
        ),
        24 => plain(doc! { "$set": { path: elements(random, 12) } }),
        25 => plain(doc! { "$unset": { path: 1 } }),
        26 => plain(doc! { "$set": { "k": n % 3 }, "$push": { path: element(random) } }),
        27 => plain(doc! { "$inc": { "x": 1 } }),
        28 => plain(doc! { "$unset": { format!("{path}.{at}"): 1 } }),
        29 => {
            let mut whole = doc! { "k": n % 3 };
            whole.extend(array(path, elements(random, 12).into()));
            plain(whole)
        }
        30 => (pipeline(doc! { "$set": { "n": size(path) } }), None),
        31 => {
            let joined = doc! { "$concatArrays": [whole(path), [element(random)]] };
            (pipeline(doc! { "$set": { path: joined } }), None)
        }
        32 => {
            let condition = doc! { "$ne": ["$$this.n", n] };
            let left = doc! { "$filter": { "input": whole(path), "cond": condition } };
            (pipeline(doc! { "$set": { path: left } }), None)
        }
        33 => {
            let mut push = doc! { "$each": elements(random, 3), "$slice": at - 6 };
            if n % 2 == 0 {
                push.insert("$position", 0);
            }
            plain(doc! { "$push": { path: push } })
        }
        34 => plain(doc! { "$push": { path: { "$each": elements(random, 5), "$position": 0 } } }),
        35 => plain(doc! { "$max": { path: elements(random, 9) } }),
        36 => plain(doc! { "$min": { path: elements(random, 9) } }),
        37 => plain(doc! { "$rename": { path: "moved" } }),
        38 => plain(doc! { "$rename": { "moved": path } }),
        39 => plain(doc! { "$mul": { format!("{path}.{at}.t"): 2 }, "$set": { "k": n % 3 } }),
        40 => (pipeline(doc! { "$unset": format!("{path}.t") }), None),
        41 => {
            let reversed = doc! { "$reverseArray": whole(path) };
            (pipeline(doc! { "$set": { path: reversed, "n": size(path) } }), None)
        }
        42 => (
            doc! { "$unset": { format!("{path}.$[e].t"): 1 } }.into(),
            Some(vec![Bson::from(doc! { "e.t": { "$lt": n * 8 } })].into()),
        ),
        43 => plain(doc! { "$push": { OTHER: element(random) } }),
        44 => plain(doc! { "$push": { path: element(random), OTHER: element(random) } }),
        45 => plain(doc! { "$pull": { OTHER: { "n": n } }, "$push": { path: element(random) } }),
        46 => plain(doc! { "$set": { OTHER: elements(random, 6) } }),
        _ => plain(doc! { "$push": { path: { "$each": elements(random, 40) } } }),
    }
}

fn pipeline(stage: Document) -> Bson {
    vec![Bson::from(stage)].into()
}

/// The array, empty where there is none.
pub fn whole(path: &str) -> Document {
    doc! { "$ifNull": [format!("${path}"), []] }
}

pub fn size(path: &str) -> Document {
    doc! { "$size": whole(path) }
}
