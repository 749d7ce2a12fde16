//! A pipeline explained: the query that the planner takes over, and the stages
//! that remain.

use super::Explaining;
use crate::plan::Audience;
use crate::plan::explain::room;
use crate::run::aggregate::PreparedPipeline;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::views::Verbosity;
use error::Result;
use language::Context;
use language::aggregate::Counted;
use language::aggregate::{Place, stages};
use value::DocumentWriter;
use value::element::{array_elements, elements};

/// The stages that the planner may take over.
const TAKEN: &[&str] = &["$limit", "$match", "$skip", "$sort"];

pub fn explain(
    explaining: Explaining<'_>,
    mut prepared: PreparedPipeline,
    out: &mut DocumentWriter,
) -> Result<()> {
    let namespace = prepared.resolved.namespace.clone();
    let collection = prepared.resolved.collection.clone();
    let counted = match explaining.verbosity >= Verbosity::ExecutionStats {
        true if prepared.pipeline.target().is_none() => {
            prepared.clone().tallies(explaining.call)?
        }
        _ => Vec::new(),
    };
    let mut counted = Figures(counted);
    let mut cursor = None;
    if collection.is_some() && prepared.pipeline.source().is_none() {
        let query = prepared.query(Audience::Client)?;
        if prepared.pipeline.is_empty() {
            return explaining.plan(&namespace, collection.as_ref(), query, None, out);
        }
        let mut inner = DocumentWriter::new();
        explaining.query(&namespace, collection.as_ref(), query, None, &mut inner)?;
        cursor = Some(inner.finish());
    }
    out.append_str("explainVersion", "1");
    out.begin_array("stages");
    if let Some(cursor) = cursor {
        out.begin_next_document();
        room::append("$cursor", &without_version(&cursor), out);
        counted.append("$cursor", out);
        out.end();
    }
    for stage in remaining(&prepared) {
        out.begin_next_document();
        append_stage(stage, &namespace.database, out);
        counted.append(parsed_name(stage, &prepared.context), out);
        out.end();
    }
    out.end();
    explaining.append_server(out);
    explaining.append_command(out);
    Ok(())
}

/// A stage as it was asked for, but for `$out`, whose target is always spelled out.
fn append_stage(stage: &RawDocument, database: &str, out: &mut DocumentWriter) {
    if !room::for_sent_stage(stage, out) {
        return;
    }
    for field in elements(stage) {
        match (field.key, field.value()) {
            ("$out", RawBsonRef::String(target)) => {
                out.begin_document("$out");
                out.append_str("coll", target);
                out.append_str("db", database);
                out.end();
            }
            _ => out.copy(field),
        }
    }
}

/// What stages have counted, each taken once.
struct Figures(Vec<Counted>);

impl Figures {
    fn append(&mut self, name: &str, out: &mut DocumentWriter) {
        let Some(at) = self.0.iter().position(|(stage, _)| *stage == name) else { return };
        let (_, tally) = self.0.remove(at);
        out.append_i64("nReturned", tally.returned() as i64);
        out.append_i64("executionTimeMillisEstimate", tally.time().as_millis() as i64);
    }
}

/// The last of the stages that one as it is written becomes.
fn parsed_name(stage: &RawDocument, context: &Context) -> &'static str {
    let parsed = stages::parse(stage, context, Place::Top, 0).unwrap_or_default();
    parsed.last().map_or("", |last| last.name())
}

/// A cursor's plan does not repeat the version.
fn without_version(cursor: &RawDocument) -> RawDocumentBuf {
    let mut writer = DocumentWriter::new();
    let fields = elements(cursor).filter(|field| field.key != "explainVersion");
    fields.for_each(|field| writer.copy(field));
    writer.finish()
}

/// The stages, as they were written, that the planner has left. It takes from the
/// front, so that those left of the kinds it may take are the last of them.
fn remaining(prepared: &PreparedPipeline) -> Vec<&RawDocument> {
    let written: Vec<&RawDocument> =
        array_elements(&prepared.stages).filter_map(|stage| stage.as_document()).collect();
    let taken = |name: &str| TAKEN.contains(&name);
    let front = written.iter().take_while(|stage| taken(name(stage))).count();
    let left = prepared.pipeline.stages().take_while(|stage| taken(stage.name())).count();
    written.into_iter().skip(front.saturating_sub(left)).collect()
}

fn name(stage: &RawDocument) -> &str {
    elements(stage).next().map_or("", |first| first.key)
}
