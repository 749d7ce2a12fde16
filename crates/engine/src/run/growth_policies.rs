//! `getGrowthPolicy`, `listGrowthPolicies` and `dropGrowthPolicy`.

use super::{Call, lookup, reading};
use crate::batch::BATCH_BYTES_MAX;
use crate::storage::Document;
use bson::RawDocument;
use command::Namespace;
use command::views::{DropGrowthPolicy, GrowthPolicy, ListGrowthPolicies};
use command::{Reply, ReplyWriter};
use error::{Code, Result};
use guard::policies_of;
use guard::policy::legacy;
use language::{Needs, interrupt};
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
        interrupt::check_now()?;
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
    let drop = DropGrowthPolicy::parse(call.request)?;
    let mut reply = ReplyWriter::new();
    let has_policy = |roles: &guard::Roles| roles.has_policy();
    let is_set = call.engine.policies.look(&drop.namespace, has_policy).unwrap_or(false);
    if !drop.restore || !is_set {
        let dropped = call.engine.drop_policy(&drop.namespace).await?;
        reply.append("dropped", dropped);
        return Ok(lookup::finish(call, reply));
    }
    let writes = call.writes();
    let (restored, left) = call.engine.restore_policy(&drop.namespace, &writes).await?;
    writes.acknowledge(call.common.write_concern.as_ref()).await?;
    restored.write(reply.writer());
    left.write(reply.writer());
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
    let (mut stored, mut bytes) = (Vec::new(), 0);
    for record in view.records(home.id, (Bound::Unbounded, Bound::Unbounded)) {
        interrupt::check_now()?;
        let policy = record?.1.load(&view, &Needs::All)?;
        bytes += policy.as_bytes().len();
        if bytes > BATCH_BYTES_MAX {
            return Err(Code::BSONObjectTooLarge.error(format!(
                "the policies of '{database}' are larger than {BATCH_BYTES_MAX} bytes together; \
                 read them one by one with getGrowthPolicy, or with a find in '{}'",
                home.namespace
            )));
        }
        stored.push(policy);
    }
    let name = |document: &Document| {
        get_value(document, "_id").and_then(|name| name.as_str()).map(str::to_owned)
    };
    stored.sort_by_key(name);
    Ok(stored)
}
