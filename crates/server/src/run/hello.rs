//! `hello`: what this server is, what it takes, and who the client is. It
//! answers as a mongos, so that drivers use sessions, retryable writes and
//! transactions, and look for no other hosts; or as the primary of a replica set of one.
//!
//! A driver's monitor sends the topology version it knows and waits: the answer
//! comes when the topology changes, which happens once, when the server stops.

use super::{Call, append_all, reply};
use crate::limits::{
    DOCUMENT_BYTES_MAX, HELLO_STREAM_INTERVAL_MIN, SESSION_TIMEOUT_MINUTES, WIRE_VERSION_MAX,
    WRITE_BATCH_MAX,
};
use crate::metadata;
use crate::shared::now;
use bson::{
    RawArray, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, cstr, oid::ObjectId,
    spec::ElementType,
};
use command::fields::{Fields, Scope};
use command::{Reply, Request};
use error::{Code, Result};
use std::sync::Arc;
use std::time::Duration;
use value::DocumentWriter;
use wire::{Compressor, MESSAGE_BYTES_MAX};

const TOPOLOGY_VERSION: &str = "topologyVersion";

/// The fields of a hello that mean something here.
#[derive(Default)]
struct Hello<'a> {
    hello_ok: bool,
    topology: Option<Topology>,
    await_ms: Option<i64>,
    client: Option<&'a RawDocument>,
    compression: Option<&'a RawArray>,
}

#[derive(Clone, Copy)]
struct Topology {
    process_id: ObjectId,
    counter: i64,
}

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    answer(call, "isWritablePrimary")
}

/// How long a monitor wants to wait: not at all unless it knows the current
/// topology.
pub(super) fn wait(call: &Call<'_>) -> Result<Option<Duration>> {
    let hello = parse(call)?;
    let (known, await_ms) = match (hello.topology, hello.await_ms) {
        (Some(known), Some(await_ms)) => (known, await_ms),
        (None, None) if call.exhaust => {
            return Err(Code::location(51763)
                .error("A hello/isMaster request with exhaust must specify 'maxAwaitTimeMS'"));
        }
        (None, None) => return Ok(None),
        (Some(_), None) => {
            return Err(Code::location(51760)
                .error("A request with a 'topologyVersion' must include 'maxAwaitTimeMS'"));
        }
        (None, Some(_)) => {
            return Err(Code::location(51760)
                .error("A request with 'maxAwaitTimeMS' must include a 'topologyVersion'"));
        }
    };
    if known.counter < 0 {
        return Err(Code::location(51758).error("topologyVersion must have a non-negative counter"));
    }
    let Ok(await_ms) = u64::try_from(await_ms) else {
        return Err(Code::location(51759).error("maxAwaitTimeMS must be a non-negative integer"));
    };
    let current = call.shared.topology_counter();
    if known.process_id != call.shared.process_id || known.counter < current {
        return Ok(None);
    }
    if known.counter > current {
        return Err(Code::location(51761).error(format!(
            "Received a topology version with counter: {} which is greater than the {} topology \
             version counter: {current}",
            known.counter,
            if call.shared.member.is_some() { "server" } else { "mongos" }
        )));
    }
    let least = if call.exhaust { HELLO_STREAM_INTERVAL_MIN } else { Duration::ZERO };
    Ok(Some(Duration::from_millis(await_ms).max(least)))
}

/// The request that a stream of hellos goes on with: as if the client had sent the topology
/// version it was just given, so that the next reply waits for a change.
pub(crate) fn again(request: &Request, reply: &RawDocument) -> Request {
    let mut command = DocumentWriter::new();
    let given = value::element::get(reply, TOPOLOGY_VERSION);
    for field in value::elements(request.body()) {
        match given {
            Some(given) if field.key == TOPOLOGY_VERSION => command.copy(given),
            _ => command.copy(field),
        }
    }
    Request::from(command.finish())
}

pub(super) fn answer(call: &mut Call<'_>, primary: &str) -> Result<Reply> {
    if call.shared.stop.is_cancelled() {
        let who = if call.shared.member.is_some() { "The server" } else { "Mongos" };
        return Err(Code::ShutdownInProgress
            .error(format!("{who} is in quiesce mode and will shut down"))
            .detail("topologyVersion", call.shared.topology_version())
            .detail("remainingQuiesceTimeMillis", 0_i64));
    }
    let hello = parse(call)?;
    let greeting = match hello.client {
        Some(_) if call.session.greeted => {
            return Err(Code::ClientMetadataCannotBeMutated
                .error("The client metadata document may only be sent in the first hello"));
        }
        Some(client) => Some((metadata::application(client)?, client.to_owned())),
        None => None,
    };
    if let Some(offered) = hello.compression {
        call.session.compressors = negotiate(offered);
    }
    let hello_ok = hello.hello_ok;
    if let Some((application, metadata)) = greeting {
        let client = Arc::make_mut(&mut call.session.client);
        client.application = application;
        client.metadata = Some(metadata);
    }
    let mut body = RawDocumentBuf::new();
    let primary =
        if primary == "ismaster" { cstr!("ismaster") } else { cstr!("isWritablePrimary") };
    body.append(primary, true);
    match &call.shared.member {
        Some(member) => append_all(&mut body, &member.hello(call.shared)),
        None => body.append(cstr!("msg"), "isdbgrid"),
    }
    body.append(cstr!("topologyVersion"), call.shared.topology_version());
    if hello_ok {
        body.append(cstr!("helloOk"), true);
    }
    body.append(cstr!("maxBsonObjectSize"), DOCUMENT_BYTES_MAX);
    body.append(cstr!("maxMessageSizeBytes"), MESSAGE_BYTES_MAX as i32);
    body.append(cstr!("maxWriteBatchSize"), WRITE_BATCH_MAX);
    body.append(cstr!("localTime"), now());
    body.append(cstr!("logicalSessionTimeoutMinutes"), SESSION_TIMEOUT_MINUTES);
    body.append(cstr!("connectionId"), call.session.client.connection_id);
    body.append(cstr!("minWireVersion"), 0);
    body.append(cstr!("maxWireVersion"), WIRE_VERSION_MAX);
    if !call.session.compressors.is_empty() {
        let names: RawArrayBuf = call.session.compressors.iter().map(|c| c.name()).collect();
        body.append(cstr!("compression"), names);
    }
    if call.shared.member.is_some() {
        body.append(cstr!("readOnly"), false);
    }
    Ok(reply(body))
}

/// Fields that are not known are passed over, as drivers send more with each
/// version.
fn parse<'a>(call: &Call<'a>) -> Result<Hello<'a>> {
    let mut hello = Hello::default();
    let mut fields = Fields::of_command(call.request, "hello")?;
    while let Some(field) = fields.next()? {
        match field.name() {
            "helloOk" => hello.hello_ok = field.boolean()?.is_some(),
            "topologyVersion" => {
                hello.topology = match field.object()? {
                    Some(document) => Some(topology(document, field.scope())?),
                    None => None,
                };
            }
            "maxAwaitTimeMS" => hello.await_ms = field.safe_int64()?,
            "client" => {
                hello.client = match field.value() {
                    RawBsonRef::Document(client) => Some(client),
                    _ => {
                        return Err(Code::TypeMismatch
                            .error("The client metadata document must be a document"));
                    }
                }
            }
            "compression" => hello.compression = field.array()?,
            "saslSupportedMechs" => user(field.string()?)?,
            "loadBalanced" | "forShell" => {
                field.safe_bool()?;
            }
            "hostInfo" => {
                field.string()?;
            }
            "speculativeAuthenticate" => {
                field.object()?;
            }
            _ => {}
        }
    }
    Ok(hello)
}

fn topology(document: &RawDocument, scope: Scope<'_>) -> Result<Topology> {
    let mut process_id = None;
    let mut counter = None;
    let mut fields = Fields::of_document(document, scope);
    while let Some(field) = fields.next()? {
        match field.name() {
            "processId" => match field.value() {
                RawBsonRef::ObjectId(id) => process_id = Some(id),
                _ => return Err(field.wrong_type(&[ElementType::ObjectId])),
            },
            "counter" => counter = field.long()?,
            _ => return Err(field.unknown()),
        }
    }
    Ok(Topology {
        process_id: fields.required(process_id, "processId")?,
        counter: fields.required(counter, "counter")?,
    })
}

/// What both sides speak, in the client's order. Other names are passed over.
fn negotiate(offered: &RawArray) -> Vec<Compressor> {
    let mut agreed = Vec::new();
    for name in offered.into_iter().flatten().filter_map(|name| name.as_str()) {
        let known = Compressor::NEGOTIABLE.into_iter().find(|known| known.name() == name);
        agreed.extend(known.filter(|known| !agreed.contains(known)));
    }
    agreed
}

/// There are no users, so none has mechanisms to tell; only the form is checked.
fn user(name: Option<&str>) -> Result<()> {
    match name {
        Some(name) if !name.contains('.') => {
            Err(Code::BadValue.error("UserName must contain a '.' separated database.user pair"))
        }
        _ => Ok(()),
    }
}
