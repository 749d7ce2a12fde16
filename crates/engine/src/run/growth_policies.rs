//! `getGrowthPolicy`, `listGrowthPolicies` and `dropGrowthPolicy`.

use super::{Call, lookup, reading};
use crate::storage::Document;
use bson::RawDocument;
use command::Namespace;
use command::views::{GrowthPolicy, ListGrowthPolicies};
use command::{Reply, ReplyWriter};
use error::Result;
use guard::policies_of;
use guard::policy::legacy;
use language::Needs;
use std::ops::Bound;
use value::element::get_value;
use value::{DocumentWriter, elements};

pub async fn get(call: Call<'_>) -> Result<Reply> {
    let get = GrowthPolicy::parse(call.request, "getGrowthPolicy")?;
    let stored = call.engine.stored_policy(&get.namespace, &reading::view(call)?)?;
    let mut reply = ReplyWriter::new();
    match stored {
        Some(stored) => append(reply.writer(), &get.namespace, &stored),
        None => reply.writer().append_null("policy"),
    }
    Ok(reply.finish())
}

pub async fn list(call: Call<'_>) -> Result<Reply> {
    ListGrowthPolicies::parse(call.request)?;
    let mut reply = ReplyWriter::new();
    let writer = reply.writer();
    writer.begin_array("policies");
    for stored in stored(call, call.common.database)? {
        writer.begin_next_document();
        let name = get_value(&stored, "_id").and_then(|name| name.as_str()).unwrap_or_default();
        writer.append_str("collection", name);
        let database = call.common.database.into();
        append(writer, &Namespace { database, collection: name.into() }, &stored);
        writer.end();
    }
    writer.end();
    Ok(reply.finish())
}

pub async fn drop(call: Call<'_>) -> Result<Reply> {
    let drop = GrowthPolicy::parse(call.request, "dropGrowthPolicy")?;
    let dropped = call.engine.drop_policy(&drop.namespace).await?;
    let mut reply = ReplyWriter::new();
    reply.append("dropped", dropped);
    Ok(lookup::finish(call, reply))
}

/// The policy as it reads by the defaults of now, and what is known of it.
fn append(writer: &mut DocumentWriter, namespace: &Namespace, stored: &RawDocument) {
    let policy = legacy::explicit(namespace, stored);
    for field in elements(stored).filter(|field| !matches!(field.key, "_id" | legacy::DEFAULTS)) {
        match policy.as_ref().filter(|_| field.key == "policy") {
            Some(policy) => writer.append_document("policy", policy),
            None => writer.copy(field),
        }
    }
}

/// The documents that hold the policies of a database, by collection.
fn stored(call: Call<'_>, database: &str) -> Result<Vec<Document>> {
    let Some(home) = call.engine.registry.get(&policies_of(database)) else {
        return Ok(Vec::new());
    };
    let view = reading::view(call)?;
    let mut stored = Vec::new();
    for record in view.records(home.id, (Bound::Unbounded, Bound::Unbounded)) {
        stored.push(record?.1.load(&view, &Needs::All)?);
    }
    let name = |document: &Document| {
        get_value(document, "_id").and_then(|name| name.as_str()).map(str::to_owned)
    };
    stored.sort_by_key(name);
    Ok(stored)
}
