//! `serverStatus`: what the server counts, and the backend's sections. A
//! section is left out with `{serverStatus: 1, name: 0}`; with `none: 1` only
//! those that are named come.

use super::build_info::VERSION;
use super::{Call, reply};
use crate::backend::{Cursors, Figures, Storage};
use crate::counters::{CommandCount, Latency};
use crate::shared::{Shared, now};
use bson::raw::CString;
use bson::{RawDocument, RawDocumentBuf, cstr, rawdoc};
use budget::Kind;
use command::Reply;
use command::fields::is_true;
use error::Result;
use std::fs;
use std::time::Duration;

type Section = (&'static str, fn(&Shared) -> RawDocumentBuf);

/// In the order of the reply, which is alphabetical.
const SECTIONS: &[Section] = &[
    ("asserts", asserts),
    ("connections", connections),
    ("extra_info", extra_info),
    ("globalLock", global_lock),
    ("log", log),
    ("mem", memory),
    ("network", network),
    ("opLatencies", latencies),
    ("opcounters", operations),
];

type BackendSection = (&'static str, fn(&Figures) -> Option<RawDocumentBuf>);

const BACKEND_SECTIONS: &[BackendSection] =
    &[("storageEngine", storage_engine), ("transactions", transactions), ("freeboard", freeboard)];

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let shared = call.shared;
    let mut body = general(shared);
    if let Some(member) = &shared.member
        && wants(call.request.body(), "repl")
    {
        let mut section = member.identity();
        section.append(cstr!("isWritablePrimary"), true);
        body.append(cstr!("repl"), section);
    }
    for (name, section) in SECTIONS {
        if wants(call.request.body(), name)
            && let Ok(name) = CString::try_from(*name)
        {
            body.append(name, section(shared));
        }
    }
    let figures = shared.status.figures();
    if wants(call.request.body(), "metrics") {
        body.append(cstr!("metrics"), metrics(shared, &figures));
    }
    for (name, section) in BACKEND_SECTIONS {
        if wants(call.request.body(), name)
            && let (Ok(name), Some(section)) = (CString::try_from(*name), section(&figures))
        {
            body.append(name, section);
        }
    }
    Ok(reply(body))
}

fn wants(request: &RawDocument, section: &str) -> bool {
    let says = |name| value::element::get(request, name).map(|field| is_true(field.value()));
    says(section).unwrap_or(!says("none").unwrap_or(false))
}

fn general(shared: &Shared) -> RawDocumentBuf {
    let uptime = shared.started.elapsed();
    let (process, service) = match shared.member {
        Some(_) => ("mongod", "shard"),
        None => ("mongos", "router"),
    };
    rawdoc! {
        "host": shared.host_and_port(),
        "version": VERSION,
        "process": process,
        "service": [service],
        "pid": i64::from(std::process::id()),
        "uptime": uptime.as_secs_f64().floor(),
        "uptimeMillis": uptime.as_millis() as i64,
        "uptimeEstimate": uptime.as_secs() as i64,
        "localTime": now(),
    }
}

fn asserts(shared: &Shared) -> RawDocumentBuf {
    rawdoc! {
        "regular": 0,
        "warning": 0,
        "msg": shared.counters.internal_asserts.get() as i32,
        "user": shared.counters.user_asserts.get() as i32,
        "tripwire": 0,
        "rollovers": 0,
    }
}

fn connections(shared: &Shared) -> RawDocumentBuf {
    let counters = &shared.counters;
    let current = counters.connections.get() as i32;
    rawdoc! {
        "current": current,
        "available": (shared.client_connections_max() as i32).saturating_sub(current),
        "totalCreated": counters.connections_created.get() as i32,
        "rejected": counters.connections_rejected.get() as i32,
        "active": counters.active.get() as i32,
        "exhaustIsMaster": 0,
        "exhaustHello": counters.exhaust_hello.get() as i32,
        "awaitingTopologyChanges": counters.awaiting_topology_changes.get() as i32,
    }
}

fn extra_info(_: &Shared) -> RawDocumentBuf {
    let (user, system) = processor_time();
    rawdoc! {
        "note": "fields vary by platform",
        "user_time_us": user.as_micros() as i64,
        "system_time_us": system.as_micros() as i64,
    }
}

fn log(shared: &Shared) -> RawDocumentBuf {
    rawdoc! { "linesDropped": shared.options.recent_lines.dropped() as i64 }
}

/// The processor time of this process, in user mode and in the kernel. Their sum is exact;
/// how it is divided is known to a hundredth of a second.
fn processor_time() -> (Duration, Duration) {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let sum = Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32);
    let figures = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in the second field may hold anything, a space too.
    let behind_name = figures.rsplit_once(')').map_or("", |(_, behind)| behind);
    let mut ticks = behind_name.split_whitespace().skip(11).map_while(|it| it.parse::<f64>().ok());
    let (user, system) = (ticks.next().unwrap_or(1.0), ticks.next().unwrap_or(0.0));
    let system = sum.mul_f64(system / (user + system).max(1.0));
    (sum.saturating_sub(system), system)
}

fn memory(_: &Shared) -> RawDocumentBuf {
    let mut section = RawDocumentBuf::new();
    section.append(cstr!("bits"), usize::BITS as i32);
    let pages = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut pages = pages.split_whitespace().map_while(|number| number.parse::<usize>().ok());
    let megabytes = |pages: usize| (pages * rustix::param::page_size() / (1024 * 1024)) as i32;
    let supported = match (pages.next(), pages.next()) {
        (Some(whole), Some(resident)) => {
            section.append(cstr!("resident"), megabytes(resident));
            section.append(cstr!("virtual"), megabytes(whole));
            true
        }
        _ => false,
    };
    section.append(cstr!("supported"), supported);
    section
}

fn storage_engine(figures: &Figures) -> Option<RawDocumentBuf> {
    figures.storage?;
    Some(rawdoc! { "name": "freeboard", "supportsCommittedReads": true, "persistent": true })
}

fn metrics(shared: &Shared, figures: &Figures) -> RawDocumentBuf {
    let Cursors { open, without_timeout } = figures.cursors;
    let documents = &shared.counters.documents;
    rawdoc! {
        "commands": commands(shared),
        "cursor": { "open": { "total": open as i64, "noTimeout": without_timeout as i64 } },
        "document": {
            "deleted": documents.deleted.get(),
            "inserted": documents.inserted.get(),
            "returned": documents.returned.get(),
            "updated": documents.updated.get(),
        },
        "ttl": { "deletedDocuments": figures.expired_documents as i64 },
    }
}

/// The commands that were run.
fn commands(shared: &Shared) -> RawDocumentBuf {
    let mut section = RawDocumentBuf::new();
    for CommandCount { name, total, failed } in shared.counters.commands() {
        if total.get() > 0
            && let Ok(name) = CString::try_from(*name)
        {
            section.append(name, rawdoc! { "failed": failed.get(), "total": total.get() });
        }
    }
    section
}

/// There is no such lock, and so nobody in its queue; tools look here for who is active.
fn global_lock(shared: &Shared) -> RawDocumentBuf {
    let counters = &shared.counters;
    rawdoc! {
        "totalTime": shared.started.elapsed().as_micros() as i64,
        "currentQueue": { "total": 0, "readers": 0, "writers": 0 },
        "activeClients": {
            "total": counters.active.get() as i32,
            "readers": counters.running_reads.get() as i32,
            "writers": counters.running_writes.get() as i32,
        },
    }
}

fn latencies(shared: &Shared) -> RawDocumentBuf {
    let told = |latency: &Latency| {
        rawdoc! { "latency": latency.microseconds.get(), "ops": latency.operations.get() }
    };
    let latencies = &shared.counters.latencies;
    rawdoc! {
        "reads": told(&latencies.reads),
        "writes": told(&latencies.writes),
        "commands": told(&latencies.commands),
        "transactions": told(&latencies.transactions),
    }
}

fn transactions(figures: &Figures) -> Option<RawDocumentBuf> {
    let transactions = &figures.transactions;
    Some(rawdoc! {
        "retriedCommandsCount": transactions.retried_commands as i64,
        "retriedStatementsCount": transactions.retried_statements as i64,
        "currentOpen": transactions.open as i64,
        "totalStarted": transactions.started as i64,
        "totalCommitted": transactions.committed as i64,
        "totalAborted": transactions.aborted as i64,
    })
}

fn freeboard(figures: &Figures) -> Option<RawDocumentBuf> {
    let mut section = RawDocumentBuf::new();
    if let Some(Storage { commits, .. }) = &figures.storage {
        section.append(
            cstr!("commits"),
            rawdoc! {
                "commits": commits.commits as i64,
                "writes": commits.writes as i64,
                "groups": commits.groups as i64,
                "fsyncs": commits.syncs as i64,
            },
        );
    }
    section.append(cstr!("memory"), budgets());
    if let Some(storage) = &figures.storage {
        section.append(cstr!("journal"), rawdoc! { "bytes": storage.journaled_bytes as i64 });
        section.append(
            cstr!("background"),
            rawdoc! {
                "flushes": storage.flushes as i64,
                "compactions": storage.compactions as i64,
                "purges": storage.purges as i64,
            },
        );
    }
    Some(section)
}

/// The budget of the process, and what is taken of it.
fn budgets() -> RawDocumentBuf {
    let memory = budget::process();
    rawdoc! {
        "budgetBytes": memory.memory_bytes() as i64,
        "requestsBytes": memory.limit_bytes() as i64,
        "trafficBytes": memory.held_bytes(Kind::Traffic) as i64,
        "workBytes": memory.held_bytes(Kind::Work) as i64,
        "definitionsBytes": memory.held_bytes(Kind::Definitions) as i64,
    }
}

fn network(shared: &Shared) -> RawDocumentBuf {
    let counters = &shared.counters;
    rawdoc! {
        "bytesIn": counters.bytes_in.get(),
        "bytesOut": counters.bytes_out.get(),
        "physicalBytesIn": counters.bytes_in.get(),
        "physicalBytesOut": counters.bytes_out.get(),
        "numRequests": counters.requests.get(),
    }
}

fn operations(shared: &Shared) -> RawDocumentBuf {
    let operations = &shared.counters.operations;
    rawdoc! {
        "insert": operations.insert.get(),
        "query": operations.query.get(),
        "update": operations.update.get(),
        "delete": operations.delete.get(),
        "getmore": operations.getmore.get(),
        "command": operations.command.get(),
    }
}
