//! `$collStats`.

use crate::catalog::{Activity, Latencies, Tally};
use crate::run::{Call, coll_stats, lookup, reading};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use command::fields::safe_i32;
use error::{Code, Result};
use value::element::{get, get_value};
use value::{ArrayWriter, DocumentWriter};

pub fn document(
    call: Call<'_>,
    namespace: &Namespace,
    options: &RawDocument,
) -> Result<RawDocumentBuf> {
    let found = call.engine.registry.get(namespace);
    let mut out = DocumentWriter::new();
    out.append_str("ns", &namespace.to_string());
    out.append_str("host", &call.engine.identity().host_and_port());
    out.append("localTime", RawBsonRef::DateTime(bson::DateTime::now()));
    if let Some(asked) = get_document(options, "latencyStats") {
        let none = Activity::default();
        let activity = found.as_ref().map_or(&none, |found| &found.state.activity);
        let histograms = get_value(asked, "histograms") == Some(RawBsonRef::Boolean(true));
        latencies(activity, histograms, &mut out);
    }
    if let Some(storage) = get_document(options, "storageStats") {
        if found.is_none() {
            return Err(not_found(namespace, "storageStats"));
        }
        let scale = get_value(storage, "scale").and_then(safe_i32);
        let scale = scale.unwrap_or(1);
        if scale < 1 {
            return Err(Code::BadValue.error("scale has to be >= 1"));
        }
        out.begin_document("storageStats");
        coll_stats::storage(call, namespace, scale, &mut out)?;
        out.end();
    }
    if get_document(options, "count").is_some() {
        let collection = found.as_ref().ok_or_else(|| not_found(namespace, "count"))?;
        lookup::refuse_view(collection)?;
        let counts = reading::view(call)?.counts(collection.id)?;
        out.append_number("count", counts.documents as i64);
    }
    if get_document(options, "queryExecStats").is_some() {
        let collection = found.as_ref().ok_or_else(|| not_found(namespace, "queryExecStats"))?;
        let scans = collection.state.activity.collection_scans() as i64;
        out.begin_document("queryExecStats");
        out.begin_document("collectionScans");
        out.append_i64("total", scans);
        out.append_i64("nonTailable", scans);
        out.end();
        out.end();
    }
    Ok(out.finish())
}

/// An option that is given: a null is none.
fn get_document<'a>(options: &'a RawDocument, name: &str) -> Option<&'a RawDocument> {
    get(options, name)?.as_document()
}

fn not_found(namespace: &Namespace, figure: &str) -> error::Error {
    Code::NamespaceNotFound
        .error(format!("Collection [{namespace}] not found."))
        .context(&format!("Unable to retrieve {figure} in $collStats stage"))
}

fn latencies(activity: &Activity, histograms: bool, out: &mut DocumentWriter) {
    let (nothing, none) = (Tally::default(), Latencies::default());
    out.begin_document("latencyStats");
    for (name, tally, latencies) in [
        ("reads", &activity.reads, &activity.read_latencies),
        ("writes", &activity.writes, &activity.write_latencies),
        ("commands", &nothing, &none),
        ("transactions", &nothing, &none),
    ] {
        out.begin_document(name);
        if histograms {
            histogram(latencies, out);
        }
        out.append_i64("latency", tally.microseconds() as i64);
        out.append_i64("ops", tally.count() as i64);
        out.append_i64("queryableEncryptionLatencyMicros", 0);
        out.end();
    }
    out.end();
}

fn histogram(latencies: &Latencies, out: &mut DocumentWriter) {
    let mut buckets = ArrayWriter::new();
    for (micros, count) in latencies.buckets() {
        let mut bucket = DocumentWriter::new();
        bucket.append_i64("micros", micros as i64);
        bucket.append_i64("count", count as i64);
        buckets.push(RawBsonRef::Document(&bucket.finish()));
    }
    buckets.finish_into(out, "histogram");
}
