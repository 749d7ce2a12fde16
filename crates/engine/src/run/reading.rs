//! What reads have in common: which view of the store they see, views of
//! collections resolved, batches filled.

use super::{Call, profile};
use crate::batch::{Batch, FIRST_BATCH_DOCUMENTS, fill};
use crate::catalog::{Catalog, Collection, CollectionKind};
use crate::cursor::{Cursor, Source};
use crate::footprint;
use crate::guarded::WithPolicies;
use crate::plan::{Execution, Sort};
use crate::storage::{Document, View};
use bson::{RawArrayBuf, RawDocument, Timestamp};
use command::{CursorReply, Namespace, Reply};
use error::{Code, Result};
use guard::Lease;
use guard::read::ReadPlan;
use language::Needs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use value::Collator;
use value::element::array_elements;

/// How long a light read may run before it makes room for other tasks.
const TURN: Duration = Duration::from_millis(2);
/// How long a change stream looks through the log before it says how far it came.
const LOOK: Duration = Duration::from_secs(1);
/// How many views may stand on each other.
pub const VIEW_DEPTH_MAX: usize = 20;

/// The view of the store that the command's read concern asks for.
pub fn view(call: Call<'_>) -> Result<View> {
    if let Some(statement) = call.statement() {
        return statement.view();
    }
    Ok(match call.moment {
        Some(moment) => moment.view.clone(),
        None => call.engine.store.view(),
    })
}

/// When a snapshot read was, for reads that are to see the same.
pub fn time(call: Call<'_>) -> Option<Timestamp> {
    call.moment.and_then(|moment| moment.time)
}

/// A namespace with its views resolved: the collection at the bottom, if it
/// exists, and the pipeline that the views put on top of it.
#[derive(Clone)]
pub struct Resolved {
    pub namespace: Namespace,
    pub collection: Option<Arc<Collection>>,
    /// Empty unless the namespace is a view.
    pub pipeline: RawArrayBuf,
    pub is_view: bool,
    /// Of what was named: the view's, if it is one.
    pub collator: Option<Arc<Collator>>,
    /// The policy of the collection, if it has one.
    guarded: Option<Lease>,
}

impl Resolved {
    /// A namespace as it is, be it a view or not.
    pub fn itself(namespace: &Namespace, collection: Option<Arc<Collection>>) -> Resolved {
        let namespace = namespace.clone();
        let collator = collection.as_ref().and_then(|collection| collection.collator.clone());
        let pipeline = RawArrayBuf::new();
        Resolved { namespace, collection, pipeline, is_view: false, collator, guarded: None }
    }

    /// The same, with documents as they are stored: of arrays that overflow, their heads.
    pub fn raw(self) -> Resolved {
        Resolved { guarded: None, ..self }
    }

    /// How the documents of the collection are read. All reads go by it.
    pub fn read_plan(&self, projection: Option<&RawDocument>, sort: &Sort) -> ReadPlan {
        let mut needs = Needs::none();
        sort.needs(&mut needs);
        match &self.guarded {
            Some(guarded) => ReadPlan::new(guarded, projection, &needs),
            None => ReadPlan::Stored,
        }
    }
}

/// As `resolve`, for a command that parses what it gets: the views' pipelines are counted as
/// the command is.
pub fn resolve_for(call: Call<'_>, catalog: &Catalog, namespace: &Namespace) -> Result<Resolved> {
    let resolved = resolve(catalog, namespace)?;
    if resolved.is_view {
        call.operation.parses(footprint::of_pipeline(&resolved.pipeline))?;
    }
    Ok(resolved)
}

pub fn resolve(catalog: &Catalog, named: &Namespace) -> Result<Resolved> {
    let mut namespace = named.clone();
    let mut pipelines = Vec::new();
    let mut lowest: Option<Arc<Collection>> = None;
    let collator = catalog.get(&namespace).and_then(|collection| collection.collator.clone());
    loop {
        let collection = catalog.get(&namespace).cloned();
        let Some(CollectionKind::View { on, pipeline }) = collection.as_deref().map(|c| &c.kind)
        else {
            let mut whole = RawArrayBuf::new();
            for pipeline in pipelines.iter().rev() {
                let pipeline: &RawArrayBuf = pipeline;
                array_elements(pipeline).for_each(|stage| whole.push(stage.value()));
            }
            let is_view = !pipelines.is_empty();
            let guarded = match &lowest {
                Some(view) => catalog.roles_below(view, &namespace),
                None => catalog.roles(&namespace).cloned(),
            };
            let pipeline = whole;
            return Ok(Resolved { namespace, collection, pipeline, is_view, collator, guarded });
        };
        if pipelines.len() == VIEW_DEPTH_MAX {
            return Err(Code::ViewDepthLimitExceeded
                .error(format!("View depth limit exceeded; maximum depth is {VIEW_DEPTH_MAX}")));
        }
        pipelines.push(pipeline.clone());
        namespace = Namespace { database: namespace.database, collection: on.clone() };
        lowest = collection;
    }
}

/// The first batch of a new cursor, which is kept if there is more.
pub fn first_batch(
    call: Call<'_>,
    mut cursor: Cursor,
    batch_size: Option<u64>,
    single: bool,
) -> Result<Reply> {
    let mut reply = CursorReply::first().at(cursor.time);
    let limit = batch_size.or(Some(FIRST_BATCH_DOCUMENTS));
    let batch = match limit {
        Some(0) => Batch::Full,
        _ => fill_batch(call, &mut cursor, &mut reply, limit)?,
    };
    let name = cursor.namespace.to_string();
    let token = cursor.resume_token();
    let id = match batch == Batch::Exhausted || single {
        true => 0,
        false => call.engine.cursors.add(cursor, call.operation, reply.len())?,
    };
    Ok(reply.finish_resumable(id, &name, token.as_deref()))
}

/// Fills a batch from a cursor, aside of other tasks if that may take long.
pub fn fill_batch(
    call: Call<'_>,
    cursor: &mut Cursor,
    reply: &mut CursorReply,
    limit: Option<u64>,
) -> Result<Batch> {
    let Cursor { source, pending, interrupt, .. } = cursor;
    interrupt.check()?;
    match source {
        Source::Plan(execution) => {
            let batch = fill_planned(execution, pending, reply, limit);
            profile::note(call, execution);
            batch
        }
        Source::Rows(rows) => turn::aside(|| fill(rows, pending, reply, limit, None)),
        Source::Tail(tail) => {
            let rows = tail.rows(call.engine)?;
            let batch = turn::aside(|| fill(rows, pending, reply, limit, None))?;
            if batch != Batch::Exhausted {
                return Ok(batch);
            }
            tail.rewind();
            Ok(if tail.has_started() { Batch::Full } else { Batch::Exhausted })
        }
        Source::Changes(stream) => {
            let until = Instant::now() + LOOK;
            turn::aside(|| stream.fill(call.engine, reply, limit, until, interrupt))
        }
    }
}

fn fill_planned(
    execution: &mut Execution,
    pending: &mut Option<Document>,
    reply: &mut CursorReply,
    limit: Option<u64>,
) -> Result<Batch> {
    if execution.is_light() {
        let until = Some(Instant::now() + TURN);
        let batch = fill(&mut documents(execution), pending, reply, limit, until)?;
        if batch != Batch::Paused {
            return Ok(batch);
        }
    }
    turn::aside(|| fill(&mut documents(execution), pending, reply, limit, None))
}

fn documents(execution: &mut Execution) -> impl Iterator<Item = Result<Document>> {
    execution.map(|row| row.map(|row| row.document))
}
