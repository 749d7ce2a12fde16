//! Random updates of a guarded array against the same updates of a plain one.

use crate::memory::Memory;
use bson::{Bson, Document, RawArrayBuf, RawBson, RawDocumentBuf, doc};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

const STEPS: usize = 150;

/// An update and its array filters.
struct Step {
    update: Bson,
    filters: Option<Vec<Document>>,
}

#[tokio::test]
async fn guarded_arrays_are_what_plain_ones_are() {
    let mut seed = 0;
    for keep in ["oldest", "newest"] {
        for read in ["head", "merged"] {
            for bounds in [
                doc! { "max": 3, "page": 2, "page_bytes": 4096 },
                doc! { "max": 5, "page": 4, "page_bytes": 160 },
                doc! { "max": 8, "max_bytes": 70, "page": 100, "page_bytes": 200 },
                doc! { "max": 1, "page": 1, "page_bytes": 4096 },
            ] {
                seed += 1;
                history(seed, keep, read, bounds).await;
            }
        }
    }
}

async fn history(seed: u64, keep: &str, read: &str, bounds: Document) {
    let mut rule = doc! { "max": bounds.get_i32("max").unwrap(), "on_limit": "overflow" };
    if let Some(bytes) = bounds.get("max_bytes") {
        rule.insert("max_bytes", bytes.clone());
    }
    let overflow = doc! {
        "into": "pages", "parent_key": "of", "keep": keep, "read": read,
        "page": bounds.get("page").unwrap().clone(),
        "page_bytes": bounds.get("page_bytes").unwrap().clone(),
    };
    rule.insert("overflow", overflow);
    let policy = doc! { "arrays": { "s.a": rule } };
    let memory = Memory::with_policy("guarded", &RawDocumentBuf::try_from(&policy).unwrap());
    let start = doc! { "_id": 1, "s": { "a": [1, 2] }, "n": 0 };
    for collection in ["guarded", "plain"] {
        memory.insert(collection, &RawDocumentBuf::try_from(&start).unwrap()).await.unwrap();
    }
    let mut random = StdRng::seed_from_u64(seed);
    for number in 0..STEPS {
        let len = sequence(&memory.documents("plain")[0]).map_or(0, |items| items.len());
        let step = match read == "merged" && random.random_range(0..6) == 0 {
            true => whole_step(&mut random),
            false => step(&mut random, len),
        };
        let told = format!("seed {seed}, step {number}: {} {:?}", step.update, step.filters);
        let mut outcomes = Vec::new();
        for collection in ["guarded", "plain"] {
            outcomes.push(apply(&memory, collection, &step).await);
        }
        assert_eq!(outcomes[0], outcomes[1], "{told}");
        check(&memory, keep, &bounds, &told);
    }
}

/// The code of the error, or how many were modified.
async fn apply(memory: &Memory, collection: &str, step: &Step) -> Result<u64, i32> {
    let filter = bson::rawdoc! { "_id": 1 };
    let update = RawBson::try_from(step.update.clone()).unwrap();
    let filters = step.filters.as_ref().map(|filters| {
        let filters = filters.iter().map(|it| RawDocumentBuf::try_from(it).unwrap());
        filters.collect::<RawArrayBuf>()
    });
    let updated =
        memory.update(collection, &filter, update.as_raw_bson_ref(), filters.as_deref()).await;
    updated.map(|updated| updated.modified).map_err(|error| error.code().number())
}

fn value(random: &mut StdRng) -> Bson {
    match random.random_range(0..6) {
        0 => Bson::String("x".repeat(random.random_range(0..60))),
        _ => Bson::Int32(random.random_range(0..12)),
    }
}

fn values(random: &mut StdRng, most: usize) -> Vec<Bson> {
    (0..random.random_range(0..=most)).map(|_| value(random)).collect()
}

/// An update of the array as one value, which is the whole of it where it is read so.
fn whole_step(random: &mut StdRng) -> Step {
    let set = |value: Bson| Bson::Array(vec![doc! { "$set": { "s.a": value } }.into()]);
    let update = match random.random_range(0..12) {
        0 => doc! { "$set": { "s.a": values(random, 20) } }.into(),
        1 => doc! { "$set": { "s": { "a": values(random, 20) } } }.into(),
        2 => doc! { "s": { "a": values(random, 20) }, "n": 0 }.into(),
        3 | 4 => doc! { "$max": { "s.a": values(random, 20) } }.into(),
        5 | 6 => doc! { "$min": { "s.a": values(random, 20) } }.into(),
        7 => doc! { "$max": { "s.a": values(random, 2) }, "$inc": { "n": 1 } }.into(),
        8 => set(doc! { "$concatArrays": [values(random, 4), "$s.a", values(random, 4)] }.into()),
        9 => set(doc! { "$slice": ["$s.a", random.random_range(1..9)] }.into()),
        10 => set(doc! { "$size": { "$ifNull": ["$s.a", []] } }.into()),
        _ => set(values(random, 20).into()),
    };
    Step { update, filters: None }
}

fn step(random: &mut StdRng, len: usize) -> Step {
    let mut filters = None;
    let at = random.random_range(0..=len + 2);
    let update = match random.random_range(0..24) {
        0..=5 => doc! { "$push": { "s.a": value(random) } },
        6 | 7 => doc! { "$push": { "s.a": { "$each": values(random, 9) } } },
        8 => {
            doc! { "$push": { "s.a": { "$each": values(random, 3), "$position": at as i32 - 2 } } }
        }
        9 => doc! { "$push": { "s.a": { "$each": values(random, 3), "$sort": 1 } } },
        10 => {
            let slice = random.random_range(-12..20);
            doc! { "$push": { "s.a": { "$each": values(random, 3), "$slice": slice } } }
        }
        11 => doc! { "$pull": { "s.a": value(random) } },
        12 => doc! { "$pull": { "s.a": { "$lt": random.random_range(0..4) } } },
        13 => doc! { "$pullAll": { "s.a": values(random, 3) } },
        14 => doc! { "$pop": { "s.a": 1 } },
        15 => doc! { "$pop": { "s.a": -1 } },
        16 => doc! { "$addToSet": { "s.a": { "$each": values(random, 4) } } },
        17 => doc! { "$set": { "s.a.$[]": value(random) } },
        18 => {
            filters = Some(vec![doc! { "it": { "$gt": random.random_range(4..12) } }]);
            doc! { "$set": { "s.a.$[it]": value(random) }, "$inc": { "n": 1 } }
        }
        19 => doc! { "$set": { format!("s.a.{at}"): value(random) } },
        20 => doc! { "$unset": { format!("s.a.{at}"): 1 }, "$inc": { "n": 1 } },
        21 => {
            doc! { "$set": { "s.a.0": value(random), format!("s.a.{}", at.max(1)): value(random) } }
        }
        22 => doc! { "$inc": { "n": 1, "s.b": 1 } },
        _ => match random.random_range(0..8) {
            0 => doc! { "$set": { "s.a": [] } },
            1 => doc! { "$unset": { "s.a": 1 } },
            2 => doc! { "$unset": { "s": 1 } },
            _ => doc! { "$push": { "s.a": { "$each": values(random, 30) } } },
        },
    };
    Step { update: update.into(), filters }
}

/// The array of a document, if it has one.
fn sequence(document: &RawDocumentBuf) -> Option<Vec<Bson>> {
    let document = Document::try_from(&**document).unwrap();
    document.get_document("s").ok()?.get_array("a").ok().cloned()
}

/// Head and pages make the plain array, and every counter and bound is kept.
fn check(memory: &Memory, keep: &str, bounds: &Document, told: &str) {
    let plain = sequence(&memory.documents("plain")[0]);
    let guarded = memory.documents("guarded").remove(0);
    let pages = memory.documents("pages");
    let mut numbered: Vec<(i32, Vec<Bson>)> = Vec::new();
    for page in &pages {
        let size = page.as_bytes().len();
        let page = Document::try_from(&**page).unwrap();
        let items = page.get_array("a").unwrap().clone();
        assert_eq!(page.get_i32("count").unwrap() as usize, items.len(), "{told}");
        assert!(!items.is_empty() && items.len() <= int(bounds, "page"), "{told}");
        assert!(items.len() == 1 || size <= int(bounds, "page_bytes"), "{told}");
        numbered.push((page.get_i32("page").unwrap(), items));
    }
    numbered.sort_by_key(|(number, _)| *number);
    assert!(numbered.iter().all(|(number, _)| *number > 0), "{told}");
    let head = sequence(&guarded);
    let paged = numbered.into_iter().flat_map(|(_, items)| items);
    let whole: Option<Vec<Bson>> = head.clone().map(|head| match keep {
        "oldest" => head.into_iter().chain(paged).collect(),
        _ => paged.chain(head).collect(),
    });
    assert_eq!(whole, plain, "{told}");
    assert!(head.is_none_or(|head| head.len() <= int(bounds, "max")), "{told}");
    let guarded = Document::try_from(&*guarded).unwrap();
    let counters = guarded.get_document("s").cloned().unwrap_or_default();
    let count = plain.map(|plain| Bson::Int32(plain.len() as i32));
    assert_eq!(counters.get("aCount"), count.as_ref(), "{told}");
    let more = (!pages.is_empty()).then_some(Bson::Boolean(true));
    assert_eq!(counters.get("aHasOverflow"), more.as_ref(), "{told}");
    let number = (!pages.is_empty()).then_some(Bson::Int32(pages.len() as i32));
    assert_eq!(counters.get("aOverflowPages"), number.as_ref(), "{told}");
}

fn int(bounds: &Document, key: &str) -> usize {
    bounds.get_i32(key).unwrap() as usize
}
