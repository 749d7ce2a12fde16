//! The profiler: which commands of a database are recorded in `system.profile`,
//! and the log of slow commands.

mod entry;

use super::context::context;
use super::{Call, current_op, top};
use crate::Engine;
use crate::catalog::NewCollection;
use crate::plan::Execution;
use crate::writes::Writes;
use bson::{RawDocument, RawDocumentBuf, rawdoc};
use command::views::{Profile, ProfileFilter};
use command::{Command, Namespace, Reply, ReplyWriter};
use error::{Code, Result};
use language::query::Filter;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use write::Insert;

/// What counts as slow, where nobody has said.
const SLOW: Duration = Duration::from_millis(100);

/// The size of `system.profile`.
const PROFILE_BYTES: i64 = 1024 * 1024;

/// How a database's commands are recorded.
#[derive(Debug, Clone)]
pub struct Settings {
    /// 0: none, 1: slow ones, 2: all.
    pub level: i32,
    pub slow: Duration,
    /// The share of slow commands that is recorded.
    pub sample_rate: f64,
    /// Which to record instead of the slow ones.
    pub filter: Option<Arc<ProfiledIf>>,
}

/// A filter over the documents of `system.profile`.
#[derive(Debug)]
pub struct ProfiledIf {
    filter: Filter,
    spec: RawDocumentBuf,
}

impl Settings {
    fn records(&self) -> bool {
        self.level > 0 || self.filter.is_some()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings { level: 0, slow: SLOW, sample_rate: 1.0, filter: None }
    }
}

/// Level and filter are a database's own; what is slow is the same for all.
#[derive(Debug, Default)]
pub struct Profiles {
    /// Whether any database has a level or a filter: where not, nobody looks.
    any: AtomicBool,
    shared: RwLock<Settings>,
    databases: RwLock<BTreeMap<Box<str>, Settings>>,
}

impl Profiles {
    pub fn get(&self, database: &str) -> Settings {
        let shared = self.shared.read().clone();
        if !self.any.load(Ordering::Relaxed) {
            return shared;
        }
        match self.databases.read().get(database) {
            Some(own) => Settings { level: own.level, filter: own.filter.clone(), ..shared },
            None => shared,
        }
    }

    pub fn set(&self, database: &str, settings: Settings) {
        let mut shared = self.shared.write();
        (shared.slow, shared.sample_rate) = (settings.slow, settings.sample_rate);
        let mut databases = self.databases.write();
        databases.insert(database.into(), settings);
        let any = databases.values().any(Settings::records);
        self.any.store(any, Ordering::Relaxed);
    }

    /// A database that is dropped is not recorded any more.
    pub fn forget(&self, database: &str) {
        let mut databases = self.databases.write();
        databases.remove(database);
        let any = databases.values().any(Settings::records);
        self.any.store(any, Ordering::Relaxed);
    }

    /// Whether some database records its commands.
    pub fn is_on(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }
}

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let asked = Profile::parse(call.request)?;
    let database = call.common.database;
    let was = call.engine.profiles.get(database);
    let mut settings = was.clone();
    if let level @ 0..=2 = asked.level {
        settings.level = level as i32;
    }
    if let Some(slow) = asked.slow_ms {
        settings.slow = Duration::from_millis(slow.max(0).unsigned_abs());
    }
    if let Some(rate) = asked.sample_rate {
        settings.sample_rate = rate;
    }
    match asked.filter {
        Some(ProfileFilter::Unset) => settings.filter = None,
        Some(ProfileFilter::Query(spec)) => settings.filter = Some(Arc::new(filter(spec)?)),
        None => {}
    }
    if settings.level > 0 && asked.level >= 0 {
        ensure(call.engine, database).await?;
    }
    call.engine.profiles.set(database, settings);
    let mut reply = ReplyWriter::new();
    reply.append("was", was.level);
    reply.append("slowms", i32::try_from(was.slow.as_millis()).unwrap_or(i32::MAX));
    reply.append("sampleRate", was.sample_rate);
    if let Some(filter) = &was.filter {
        reply.append("filter", &*filter.spec);
        reply.append(
            "note",
            "When a filter expression is set, slowms and sampleRate are not used for profiling \
             and slow-query log lines.",
        );
    }
    Ok(reply.finish())
}

fn filter(spec: &RawDocument) -> Result<ProfiledIf> {
    let filter = Filter::parse(spec, &context(None, None, None)?)?;
    Ok(ProfiledIf { filter, spec: spec.to_owned() })
}

/// `system.profile` of a database, made if there is none.
async fn ensure(engine: &Arc<Engine>, database: &str) -> Result<Namespace> {
    let namespace = Namespace::new(database, "system.profile")?;
    if engine.registry.get(&namespace).is_none() {
        let options = rawdoc! { "capped": true, "size": PROFILE_BYTES };
        let new = NewCollection { namespace: &namespace, options: &options, view: false };
        match engine.create(new).await {
            Err(error) if error.code() == Code::NamespaceExists => {}
            outcome => {
                outcome?;
            }
        }
    }
    Ok(namespace)
}

/// Keeps the figures of a plan for the profiler, if there is one.
pub fn note(call: Call<'_>, execution: &Execution) {
    if call.engine.profiles.is_on() {
        call.operation.note(execution);
    }
}

/// Counts a finished command, and records it if the settings ask for it.
pub async fn record(call: Call<'_>, command: &Command, outcome: &Result<Reply>) {
    let took = call.operation.worked();
    top::count(call, command, took);
    let settings = call.engine.profiles.get(call.common.database);
    if took >= settings.slow {
        tracing::info!(
            command = command.name,
            namespace = current_op::namespace(call.request),
            milliseconds = took.as_millis() as u64,
            ok = outcome.is_ok(),
            "slow command"
        );
    }
    if settings.level == 0 || command.name == "profile" {
        return;
    }
    // The command has done its work: that it could not be recorded is no reason
    // to tell the client otherwise.
    if let Err(error) = write(call, command, outcome, &settings, took).await {
        tracing::warn!(%error, database = call.common.database, "could not write the profile");
    }
}

async fn write(
    call: Call<'_>,
    command: &Command,
    outcome: &Result<Reply>,
    settings: &Settings,
    took: Duration,
) -> Result<()> {
    if settings.level == 1 && settings.filter.is_none() {
        let sampled = settings.sample_rate >= 1.0 || rand::random::<f64>() < settings.sample_rate;
        if took < settings.slow || !sampled {
            return Ok(());
        }
    }
    let document = entry::document(call, command, outcome, took);
    if let Some(profiled) = &settings.filter
        && !profiled.filter.matches(&document)?
    {
        return Ok(());
    }
    let namespace = ensure(call.engine, call.common.database).await?;
    let writes = Writes::new(call.engine.clone());
    let documents: [&RawDocument; 1] = [&document];
    let insert = Insert::own(&namespace, &documents);
    write::insert(&writes, insert, |_, error| Err(error)).await?;
    writes.applied().await
}
