//! Small writes under one setting or another.

use bson::doc;
use futures::future::BoxFuture;

use super::setting::{Setting, document, documents, prepare};
use crate::Error;
use crate::lane::Lane;
use crate::workloads::{Counts, Workload};

/// One workload: a name, what stands over its collection, and what it does.
macro_rules! write {
    ($name:literal, $setting:ident, $run:ident) => {
        Workload {
            name: $name,
            help: "a small write (j: false)",
            counts: Counts::Operations,
            costs: true,
            on_demand: true,
            prepare: |site| Box::pin(prepare(site, $name, Setting::$setting)),
            run: |lane| $run(lane, $name),
        }
    };
}

pub const INSERT: Workload = write!("small_insert", Plain, insert);
pub const INSERT_GUARDED: Workload = write!("small_insert_guarded", Guarded, insert);
pub const INSERT_SCHEMA: Workload = write!("small_insert_schema", Schema, insert);
pub const INC: Workload = write!("small_inc", Plain, inc);
pub const INC_GUARDED: Workload = write!("small_inc_guarded", Guarded, inc);
pub const INC_SCHEMA: Workload = write!("small_inc_schema", Schema, inc);
pub const INC_BESIDE: Workload = write!("small_inc_beside", Plain, inc);
pub const INSERT_COUNTED: Workload = write!("small_insert_counted", Plain, insert);
pub const INC_COUNTED: Workload = write!("small_inc_counted", Plain, inc);
pub const PUSH_COUNTED: Workload = write!("small_push_counted", Plain, push);
pub const PUSH: Workload = write!("small_push", Plain, push);
pub const PUSH_GUARDED: Workload = write!("small_push_guarded", Guarded, push);
pub const PUSH_SCHEMA: Workload = write!("small_push_schema", Schema, push);

type Run = BoxFuture<'static, Result<Lane, Error>>;

fn insert(mut lane: Lane, name: &'static str) -> Run {
    Box::pin(async move {
        let collection = lane.site.collection_with_journal(name, false);
        // Numbers that no other client has, and no document that is there.
        let first = documents(&lane.site) as i64 + ((lane.number as i64) << 40);
        while let Some(start) = lane.begin() {
            let id = first + lane.number();
            collection.insert_one(document(id)).await?;
            lane.end(start, 1);
        }
        Ok(lane)
    })
}

fn inc(mut lane: Lane, name: &'static str) -> Run {
    Box::pin(async move {
        let collection = lane.site.collection_with_journal(name, false);
        while let Some(start) = lane.begin() {
            let id = lane.random(documents(&lane.site)) as i64;
            let update = doc! { "$inc": { "n": 1_i64 } };
            let result = collection.update_one(doc! { "_id": id }, update).await?;
            lane.end(start, result.modified_count);
        }
        Ok(lane)
    })
}

fn push(mut lane: Lane, name: &'static str) -> Run {
    Box::pin(async move {
        let collection = lane.site.collection_with_journal(name, false);
        while let Some(start) = lane.begin() {
            let id = lane.random(documents(&lane.site)) as i64;
            let update = doc! { "$push": { "entries": { "at": id, "kind": "visit" } } };
            let result = collection.update_one(doc! { "_id": id }, update).await?;
            lane.end(start, result.modified_count);
        }
        Ok(lane)
    })
}
