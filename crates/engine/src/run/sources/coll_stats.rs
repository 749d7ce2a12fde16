//! `$collStats`.

use crate::catalog::{Activity, Tally};
use crate::run::{Call, coll_stats, lookup, reading};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use command::fields::safe_i32;
use error::{Code, Result};
use value::DocumentWriter;
use value::element::{get, get_value};

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
    if get(options, "latencyStats").is_some() {
        let none = Activity::default();
        latencies(found.as_ref().map_or(&none, |found| &found.state.activity), &mut out);
    }
    if let Some(storage) = get(options, "storageStats") {
        if found.is_none() {
            return Err(not_found(namespace, "storageStats"));
        }
        let scale = storage.as_document().and_then(|of| safe_i32(get_value(of, "scale")?));
        let scale = scale.unwrap_or(1);
        if scale < 1 {
            return Err(Code::BadValue.error("scale has to be >= 1"));
        }
        out.begin_document("storageStats");
        coll_stats::storage(call, namespace, scale, &mut out)?;
        out.end();
    }
    if get(options, "count").is_some() {
        let collection = found.as_ref().ok_or_else(|| not_found(namespace, "count"))?;
        lookup::refuse_view(collection)?;
        let counts = reading::view(call)?.counts(collection.id)?;
        out.append_number("count", counts.documents as i64);
    }
    if get(options, "queryExecStats").is_some() {
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

fn not_found(namespace: &Namespace, figure: &str) -> error::Error {
    Code::NamespaceNotFound
        .error(format!("Collection [{namespace}] not found."))
        .context(&format!("Unable to retrieve {figure} in $collStats stage"))
}

fn latencies(activity: &Activity, out: &mut DocumentWriter) {
    let nothing = Tally::default();
    out.begin_document("latencyStats");
    for (name, tally) in [
        ("reads", &activity.reads),
        ("writes", &activity.writes),
        ("commands", &nothing),
        ("transactions", &nothing),
    ] {
        out.begin_document(name);
        out.append_i64("latency", tally.microseconds() as i64);
        out.append_i64("ops", tally.count() as i64);
        out.append_i64("queryableEncryptionLatencyMicros", 0);
        out.end();
    }
    out.end();
}
