//! A pipeline explained: the query that the planner takes over, and the stages
//! that remain.

use super::Explaining;
use crate::run::aggregate::{Prepared, take_front};
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use value::DocumentWriter;
use value::element::{array_elements, elements};

/// The stages that the planner may take over.
const TAKEN: &[&str] = &["$limit", "$match", "$skip", "$sort"];

pub fn explain(
    explaining: Explaining<'_>,
    mut prepared: Prepared,
    out: &mut DocumentWriter,
) -> Result<()> {
    let namespace = prepared.resolved.namespace.clone();
    let collection = prepared.resolved.collection.clone();
    let mut cursor = None;
    if let Some(of) = &collection
        && prepared.pipeline.source().is_none()
    {
        let hint = prepared.hint.take();
        let query = take_front(&mut prepared.pipeline, &prepared.context, hint, of)?;
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
        out.append_document("$cursor", &without_version(&cursor));
        out.end();
    }
    for stage in remaining(&prepared) {
        out.push(bson::RawBsonRef::Document(stage));
    }
    out.end();
    explaining.append_server(out);
    explaining.append_command(out);
    Ok(())
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
fn remaining(prepared: &Prepared) -> Vec<&RawDocument> {
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
