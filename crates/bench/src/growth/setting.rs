//! What stands over a collection that is written to: nothing, a policy or a validator, none
//! of them at its limit.

use bson::{Document, RawArrayBuf, RawDocumentBuf, doc, rawdoc};

use crate::Error;
use crate::data::pad;
use crate::site::Site;

/// Documents of 1 KB that are written to: so few that they stay in memory, so many that
/// their arrays do not grow much.
const DOCUMENTS_MAX: u64 = 10_000;
const DOCUMENT_BYTES: usize = 1024;
const BATCH_DOCUMENTS: u64 = 1000;
const ENTRIES_MAX: i32 = 1000;
const TAGS_MAX: i32 = 100;
/// A collection that has nothing to do with the others.
const ELSEWHERE: &str = "elsewhere";

#[derive(Debug, Clone, Copy)]
pub enum Setting {
    Plain,
    /// A growth policy on both arrays and on the document.
    Guarded,
    /// A `$jsonSchema` with two `maxItems`.
    Schema,
}

/// Makes a collection and its documents.
pub async fn prepare(site: Site, name: &'static str, setting: Setting) -> Result<(), Error> {
    match setting {
        Setting::Plain => {}
        Setting::Guarded => set_policy(&site, name).await?,
        Setting::Schema => {
            site.database.run_command(doc! { "create": name, "validator": schema() }).await?;
        }
    }
    let collection = site.collection_with_journal(name, false);
    let mut first = 0;
    while first < documents(&site) {
        let end = (first + BATCH_DOCUMENTS).min(documents(&site));
        let batch: Vec<_> = (first..end).map(|number| document(number as i64)).collect();
        collection.insert_many(&batch).await?;
        first = end;
    }
    Ok(())
}

pub fn documents(site: &Site) -> u64 {
    site.documents.min(DOCUMENTS_MAX)
}

/// Gives another collection a policy, or takes it away.
pub async fn elsewhere(site: Site, there: bool) -> Result<(), Error> {
    if there {
        // Without overflow, so that nothing is left to clean up when it goes.
        let policy = doc! { "arrays": { "tags": { "max": TAGS_MAX, "on_limit": "reject" } } };
        site.database.run_command(doc! { "setGrowthPolicy": ELSEWHERE, "policy": policy }).await?;
        return Ok(());
    }
    // The first time there is none.
    let _ = site.database.run_command(doc! { "dropGrowthPolicy": ELSEWHERE }).await;
    Ok(())
}

/// Has the figures of `growthStats` kept up, or not.
pub async fn growth_stats(site: Site, on: bool) -> Result<(), Error> {
    let admin = site.database.client().database("admin");
    admin.run_command(doc! { "setParameter": 1, "growthStats": on }).await?;
    Ok(())
}

async fn set_policy(site: &Site, name: &str) -> Result<(), Error> {
    let policy = doc! {
        "document": { "warn_bytes": "1MB", "max_bytes": "8MB" },
        "arrays": {
            "entries": { "max": ENTRIES_MAX, "on_limit": "overflow" },
            "tags": { "max": TAGS_MAX, "on_limit": "reject" },
        },
    };
    site.database.run_command(doc! { "setGrowthPolicy": name, "policy": policy }).await?;
    Ok(())
}

fn schema() -> Document {
    let array = |max: i32| doc! { "bsonType": "array", "maxItems": max };
    let properties = doc! { "entries": array(ENTRIES_MAX), "tags": array(TAGS_MAX) };
    doc! { "$jsonSchema": { "properties": properties } }
}

/// A document with two arrays.
pub fn document(id: i64) -> RawDocumentBuf {
    let mut entries = RawArrayBuf::new();
    (0..10).for_each(|at| entries.push(rawdoc! { "at": at, "kind": "visit" }));
    let mut tags = RawArrayBuf::new();
    ["new", "large", "green"].iter().for_each(|tag| tags.push(*tag));
    let mut document = rawdoc! {
        "_id": id,
        "n": 0_i64,
        "name": "a small field",
        "entries": entries,
        "tags": tags,
    };
    pad(&mut document, DOCUMENT_BYTES);
    document
}
