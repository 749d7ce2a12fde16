//! `drop`.

use super::{Call, lookup};
use command::views::Drop;
use command::{Namespace, Reply, ReplyWriter};
use error::{Code, Result};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let drop = Drop::parse(call.request)?;
    let namespace = &drop.namespace;
    lookup::check_uuid(call, namespace, drop.collection_uuid)?;
    if call.engine.registry.get(namespace).is_some() {
        check_system(call, namespace)?;
    }
    if let Some(reply) = kept_empty(call, namespace)? {
        return Ok(reply);
    }
    let mut reply = ReplyWriter::new();
    if let Some(dropped) = call.engine.drop_with_pages(namespace).await? {
        if !dropped.is_view() {
            reply.append("nIndexesWas", dropped.indexes.len() as i32);
        }
        reply.append("ns", &*namespace.to_string());
    }
    Ok(lookup::finish(call, reply))
}

/// What a policy keeps stays for it. Where that holds nothing of its own, to drop it is no
/// error: a client that drops all that it sees, as tests do, comes to an end.
fn kept_empty(call: Call<'_>, namespace: &Namespace) -> Result<Option<Reply>> {
    let engine = call.engine;
    let Some(kept) = engine.registry.get(namespace) else { return Ok(None) };
    let is_empty = kept.is_view() || engine.store.view().counts(kept.id)?.documents == 0;
    if !is_empty || !engine.policies.is_kept(namespace) {
        return Ok(None);
    }
    let mut reply = ReplyWriter::new();
    if !kept.is_view() {
        reply.append("nIndexesWas", kept.indexes.len() as i32);
    }
    reply.append("ns", &*namespace.to_string());
    Ok(Some(lookup::finish(call, reply)))
}

/// The server's own collections stay, but for a profile that is not written to.
fn check_system(call: Call<'_>, namespace: &Namespace) -> Result<()> {
    if namespace.is_profile() {
        if call.engine.profiles.get(&namespace.database).level == 0 {
            return Ok(());
        }
        return Err(Code::IllegalOperation
            .error("turn off profiling before dropping system.profile collection"));
    }
    if namespace.is_system() && &*namespace.collection != "system.js" {
        return Err(
            Code::IllegalOperation.error(format!("can't drop system collection {namespace}"))
        );
    }
    Ok(())
}
