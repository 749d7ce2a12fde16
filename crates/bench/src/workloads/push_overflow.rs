//! `$push` on an array that has overflowed, at a length of a thousand and of a million
//! elements, each client its own document: the length should make no difference. Under
//! `keep: newest` the document itself changes at both ends of its array.

use std::sync::LazyLock;

use bson::{Document, RawArrayBuf, doc, rawdoc};
use futures::future::try_join_all;

use super::{Counts, Workload};
use crate::Error;
use crate::lane::Lane;
use crate::site::Site;

const NAME_1K: &str = "push_overflow_1k";
const NAME_1M: &str = "push_overflow_1m";
const NAME_NEWEST_1K: &str = "push_newest_1k";
const NAME_NEWEST_1M: &str = "push_newest_1m";
const ELEMENTS_1K: u64 = 1000;
/// What makes an element of 150 bytes.
const TEXT_BYTES: usize = 106;
const NOISE_BYTES: usize = 1 << 16;
/// What the documents themselves keep.
const HEAD_ELEMENTS: i32 = 1000;
/// What one `$push` adds while documents are filled.
const FILL_ELEMENTS: u64 = 10_000;

pub const ON_1K: Workload = Workload {
    name: NAME_1K,
    help: "$push of 150 bytes on an overflowed array of 1,000 elements (j: false)",
    counts: Counts::Operations,
    costs: true,
    on_demand: true,
    prepare: |site| Box::pin(prepare(site, NAME_1K, "oldest", ELEMENTS_1K)),
    run: |lane| Box::pin(run(lane, NAME_1K)),
};

pub const ON_1M: Workload = Workload {
    name: NAME_1M,
    help: "$push of 150 bytes on an overflowed array of --elements elements (j: false)",
    counts: Counts::Operations,
    costs: true,
    on_demand: true,
    prepare: |site| {
        let elements = site.elements;
        Box::pin(prepare(site, NAME_1M, "oldest", elements))
    },
    run: |lane| Box::pin(run(lane, NAME_1M)),
};

pub const NEWEST_ON_1K: Workload = Workload {
    name: NAME_NEWEST_1K,
    help: "the same of 1,000 elements where the newest are kept",
    prepare: |site| Box::pin(prepare(site, NAME_NEWEST_1K, "newest", ELEMENTS_1K)),
    run: |lane| Box::pin(run(lane, NAME_NEWEST_1K)),
    ..ON_1K
};

pub const NEWEST_ON_1M: Workload = Workload {
    name: NAME_NEWEST_1M,
    help: "the same of --elements elements where the newest are kept",
    prepare: |site| {
        let elements = site.elements;
        Box::pin(prepare(site, NAME_NEWEST_1M, "newest", elements))
    },
    run: |lane| Box::pin(run(lane, NAME_NEWEST_1M)),
    ..ON_1M
};

/// Lets an array of a collection overflow; `keep` is the end that its documents keep.
pub async fn guard(site: &Site, name: &str, keep: &str) -> Result<(), Error> {
    let rule = doc! { "max": HEAD_ELEMENTS, "on_limit": "overflow", "overflow": { "keep": keep } };
    let policy = doc! { "arrays": { "entries": rule } };
    site.database.run_command(doc! { "setGrowthPolicy": name, "policy": policy }).await?;
    Ok(())
}

async fn prepare(site: Site, name: &str, keep: &str, elements: u64) -> Result<(), Error> {
    guard(&site, name, keep).await?;
    try_join_all((0..site.clients).map(|client| fill(&site, name, client as i64, elements)))
        .await?;
    Ok(())
}

/// Makes a document whose array has so many elements.
pub async fn fill(site: &Site, name: &str, id: i64, elements: u64) -> Result<(), Error> {
    let collection = site.collection_with_journal(name, false);
    collection.insert_one(rawdoc! { "_id": id, "entries": [] }).await?;
    let mut first = 0;
    while first < elements {
        let end = (first + FILL_ELEMENTS).min(elements);
        let mut entries = RawArrayBuf::new();
        for at in first..end {
            entries.push(rawdoc! { "at": at as i64, "kind": "visit", "text": text(at) });
        }
        let push = rawdoc! { "$push": { "entries": { "$each": entries } } };
        let update = rawdoc! {
            "update": name,
            "updates": [{ "q": { "_id": id }, "u": push }],
            "writeConcern": { "w": 1, "j": false },
        };
        site.database.run_raw_command(update).await?;
        first = end;
    }
    Ok(())
}

/// Element `at`, of 150 bytes.
fn element(at: u64) -> Document {
    doc! { "at": at as i64, "kind": "visit", "text": text(at) }
}

/// A text that does not compress well, as little as what people write.
fn text(at: u64) -> &'static str {
    static NOISE: LazyLock<String> = LazyLock::new(|| {
        let mut random = 1_u64;
        let letter = |_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'0' + (random >> 33) as u8 % 64)
        };
        (0..NOISE_BYTES).map(letter).collect()
    });
    let start = at as usize * 31 % (NOISE_BYTES - TEXT_BYTES);
    NOISE.get(start..start + TEXT_BYTES).unwrap_or_default()
}

async fn run(mut lane: Lane, name: &str) -> Result<Lane, Error> {
    let id = lane.number as i64;
    push(&mut lane, name, id).await?;
    Ok(lane)
}

/// Pushes to a document until the round is over.
pub async fn push(lane: &mut Lane, name: &str, id: i64) -> Result<(), Error> {
    let collection = lane.site.collection_with_journal(name, false);
    while let Some(start) = lane.begin() {
        let push = doc! { "$push": { "entries": element(lane.done()) } };
        let result = collection.update_one(doc! { "_id": id }, push).await?;
        lane.end(start, result.modified_count);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_the_size_they_say() {
        assert_eq!(element(999_999).to_vec().unwrap().len(), 150);
    }
}
