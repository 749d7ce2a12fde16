//! `migrateGrowth`: documents that are over the bounds of their policy brought
//! into them, a batch at a time and a transaction a document.
//!
//! What is to be done shows in the documents themselves, so a migration that was
//! broken off is gone on with by starting anew; `after` only saves the way. A dry run
//! settles the same documents in a transaction that is never committed.

mod rehearsal;

use super::writes::Writes;
use super::{Call, figures, lookup, reading, writing};
use crate::policies::survey::Survey;
use bson::{RawBson, RawDocument};
use command::views::MigrateGrowth;
use command::{Reply, ReplyWriter};
use error::{Code, Error, Result};
use guard::Policy;
use guard::adopt::{Aim, Cost, Over, Settled, rehearse, settle};
use rehearsal::Rehearsal;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use value::DocumentWriter;
use value::element::get_value;

/// How long one command looks for documents to settle.
const LOOK_MAX: Duration = Duration::from_secs(1);
/// What one command moves, unless a single document moves more.
const MOVED_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Documents that are told one by one; the rest are counted.
const TOLD_MAX: usize = 100;

/// What a command has done, or would do.
#[derive(Default)]
struct Batch {
    examined: u64,
    /// Documents settled.
    documents: u64,
    cost: Cost,
    /// Index entries that would be added and removed; of a dry run alone.
    entries: Option<u64>,
    /// What is over its bounds still.
    over: Vec<(RawBson, Over)>,
    over_documents: u64,
    failed: Vec<(RawBson, Error)>,
    /// The `_id` of the last document looked at, if there are more.
    next: Option<RawBson>,
}

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let migrate = MigrateGrowth::parse(call.request)?;
    let guarded = call.engine.policies.get(&migrate.namespace);
    let policy: Cow<'_, Policy> = match (migrate.policy, &guarded) {
        (Some(policy), _) => {
            let policy = Policy::parse(&migrate.namespace, policy)?;
            call.engine.policies.current().check(&policy)?;
            Cow::Owned(policy.with_counted(false))
        }
        (None, Some(guarded)) => Cow::Borrowed(guarded.rules()?),
        (None, None) => return Err(no_policy(&migrate)),
    };
    let mut batch = Batch::default();
    let writes = Writes::of(call);
    if let Some(collection) = call.engine.registry.get(&migrate.namespace) {
        lookup::refuse_view(&collection)?;
        let survey = Survey {
            policy: &policy,
            catalog: call.engine.registry.current(),
            collection: Some(collection),
            view: reading::view(call)?,
            interrupt: call.operation.interrupt.clone(),
            costs: true,
        };
        let work = turn::aside(|| batch.look(&survey, &migrate))?;
        let (namespace, aim) = (&migrate.namespace, Aim::Bounds);
        let table = call.engine.policies.current();
        let mut rehearsal = Rehearsal::new(&survey, &table, call.engine.store.secret())?;
        for id in work {
            let settled = match migrate.dry_run {
                true => {
                    rehearsal.clear();
                    rehearse(&mut rehearsal, namespace, id.as_raw_bson_ref(), aim).await
                }
                false => settle(&writes, namespace, id.as_raw_bson_ref(), aim).await,
            };
            batch.note(call, id, settled)?;
        }
        batch.entries = migrate.dry_run.then_some(rehearsal.entries);
        if !migrate.dry_run && batch.next.is_none() && !policy.is_counted() {
            let interrupt = &call.operation.interrupt;
            call.engine.adopt(&migrate.namespace, &writes, None, interrupt).await?;
        }
    }
    writes.acknowledge(call.common.write_concern.as_ref()).await?;
    Ok(lookup::finish(call, batch.reply()))
}

fn no_policy(migrate: &MigrateGrowth<'_>) -> Error {
    Code::BadValue.error(format!(
        "'{}' has no growth policy; set one with setGrowthPolicy or 'freeboard apply'",
        migrate.namespace
    ))
}

impl Batch {
    /// Looks for documents to settle, and gives back their `_id`s.
    fn look(&mut self, survey: &Survey<'_>, migrate: &MigrateGrowth<'_>) -> Result<Vec<RawBson>> {
        let started = Instant::now();
        let mut work = Vec::new();
        let mut found_bytes = 0;
        survey.each(migrate.after, &mut |document, need| {
            self.examined += 1;
            found_bytes += need.bytes;
            match need.is_work() {
                true => work.extend(get_value(document, "_id").map(RawBson::from)),
                false => self.leave(document, need.over),
            }
            let full = work.len() >= migrate.limit || found_bytes >= MOVED_BYTES_MAX;
            match full || started.elapsed() >= LOOK_MAX {
                true => {
                    self.next = get_value(document, "_id").map(RawBson::from);
                    ControlFlow::Break(())
                }
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(work)
    }

    /// Notes what a document is over.
    fn leave(&mut self, document: &RawDocument, over: Vec<Over>) {
        let id = get_value(document, "_id").map_or(RawBson::Null, RawBson::from);
        self.leave_id(&id, over);
    }

    fn leave_id(&mut self, id: &RawBson, over: Vec<Over>) {
        self.over_documents += u64::from(!over.is_empty());
        let room = TOLD_MAX.saturating_sub(self.over.len());
        self.over.extend(over.into_iter().take(room).map(|over| (id.clone(), over)));
    }

    /// Notes what has become of a document, or would.
    fn note(
        &mut self,
        call: Call<'_>,
        id: RawBson,
        settled: Result<Option<Settled>>,
    ) -> Result<()> {
        match settled {
            Ok(Some(settled)) => {
                self.documents += u64::from(settled.changed);
                self.cost.add(settled.cost);
                self.leave_id(&id, settled.over);
            }
            // Deleted meanwhile.
            Ok(None) => {}
            Err(error) => self
                .failed
                .push((id, writing::of_statement(call.statement().map(|it| &**it), error)?)),
        }
        Ok(())
    }

    fn reply(self) -> ReplyWriter {
        let mut reply = ReplyWriter::new();
        let out = reply.writer();
        figures::append(out, "examined", self.examined);
        figures::append(out, "documents", self.documents);
        figures::append(out, "elements", self.cost.elements);
        figures::append(out, "pages", self.cost.pages);
        figures::append(out, "bytes", self.cost.bytes);
        figures::append(out, "dropped", self.cost.dropped);
        if let Some(entries) = self.entries {
            figures::append(out, "indexEntries", entries);
        }
        figures::append(out, "stillOver", self.over_documents);
        out.begin_array("over");
        for (id, over) in &self.over {
            append_id(out, id);
            over.write(out);
            out.end();
        }
        out.end();
        figures::append(out, "failures", self.failed.len() as u64);
        out.begin_array("failed");
        for (id, error) in self.failed.iter().take(TOLD_MAX) {
            append_id(out, id);
            out.append_i32("code", error.code().number());
            out.append_str("errmsg", error.message());
            out.end();
        }
        out.end();
        if let Some(next) = &self.next {
            out.append("next", next.as_raw_bson_ref());
        }
        reply
    }
}

/// Begins an item of a list with the `_id` of the document it is about.
fn append_id(out: &mut DocumentWriter, id: &RawBson) {
    out.begin_next_document();
    guard::verify::append_id(out, "_id", id.as_raw_bson_ref());
}
