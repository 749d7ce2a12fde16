//! A view's definition, checked before it is kept.

use crate::catalog::{Catalog, Collection, CollectionKind};
use crate::run::context::context;
use crate::run::reading::VIEW_DEPTH_MAX;
use bson::{RawArray, RawArrayBuf, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Result};
use language::aggregate::Pipeline;
use std::collections::BTreeSet;
use value::element::{get, get_value};
use value::{ArrayWriter, DocumentWriter};

/// A view's options as they are listed.
pub fn options(
    on: &str,
    pipeline: &[&RawDocument],
    collation: Option<&RawDocument>,
) -> RawDocumentBuf {
    let mut stages = ArrayWriter::new();
    pipeline.iter().for_each(|stage| stages.push(bson::RawBsonRef::Document(stage)));
    let mut options = DocumentWriter::new();
    options.append_str("viewOn", on);
    stages.finish_into(&mut options, "pipeline");
    if let Some(collation) = collation {
        options.append_document("collation", collation);
    }
    options.finish()
}

/// Checks the pipeline, and that the view does not come to stand on itself.
pub fn check(catalog: &Catalog, namespace: &Namespace, options: &RawDocument) -> Result<()> {
    let on = get_value(options, "viewOn").and_then(|on| on.as_str()).unwrap_or_default();
    let on = Namespace::new(&namespace.database, on)?;
    let stages = pipeline_of(options);
    let pipeline = parse(&stages, get(options, "collation").and_then(|it| it.as_document()))?;
    if let Some(target) = pipeline.target() {
        let name = target.stage_name();
        return Err(Code::OptionNotSupportedOnView.error(format!(
            "The aggregation stage {name} in location {} of the pipeline cannot be used in the \
             view definition of {namespace} because it writes to disk",
            pipeline.stages().len().saturating_sub(1)
        )));
    }
    if let Some(source) = pipeline.source() {
        return Err(match source.name {
            "$changeStream" => Code::OptionNotSupportedOnView
                .error("$changeStream cannot be used in a view definition"),
            name => Code::InvalidNamespace
                .error(format!("'{name}' cannot be used in a view definition")),
        });
    }
    let mut below = names(&namespace.database, &pipeline);
    below.insert(0, on);
    Graph { catalog, top: namespace, collation: collation_bytes(options) }.walk(&below)
}

fn parse(stages: &RawArray, collation: Option<&RawDocument>) -> Result<Pipeline> {
    Pipeline::parse(stages, &context(None, collation, None)?)
}

fn pipeline_of(options: &RawDocument) -> RawArrayBuf {
    let pipeline = get_value(options, "pipeline").and_then(|pipeline| pipeline.as_array());
    pipeline.map(ToOwned::to_owned).unwrap_or_default()
}

fn names(database: &str, pipeline: &Pipeline) -> Vec<Namespace> {
    let names = pipeline.foreign_collections().into_iter();
    names.filter_map(|name| Namespace::new(database, name).ok()).collect()
}

fn collation_bytes(options: &RawDocument) -> Option<&[u8]> {
    get(options, "collation").map(|collation| collation.bytes)
}

/// The views below a view that is to be made.
struct Graph<'a> {
    catalog: &'a Catalog,
    top: &'a Namespace,
    collation: Option<&'a [u8]>,
}

impl Graph<'_> {
    fn walk(&self, below: &[Namespace]) -> Result<()> {
        let mut level: BTreeSet<Namespace> = below.iter().cloned().collect();
        let mut depth = 1;
        while !level.is_empty() {
            if level.contains(self.top) {
                return Err(Code::GraphContainsCycle
                    .error(format!("View cycle detected: {} stands on itself", self.top)));
            }
            if depth > VIEW_DEPTH_MAX {
                return Err(Code::ViewDepthLimitExceeded.error(format!(
                    "View depth limit exceeded; maximum depth is {VIEW_DEPTH_MAX}"
                )));
            }
            let mut next = BTreeSet::new();
            for view in level.iter().filter_map(|name| self.catalog.get(name)) {
                next.extend(self.below(view)?);
            }
            level = next;
            depth += 1;
        }
        Ok(())
    }

    fn below(&self, view: &Collection) -> Result<Vec<Namespace>> {
        let CollectionKind::View { on, pipeline } = &view.kind else { return Ok(Vec::new()) };
        if collation_bytes(&view.options) != self.collation {
            return Err(Code::OptionNotSupportedOnView.error(format!(
                "View {} has conflicting collation with view {}",
                self.top, view.namespace
            )));
        }
        let collation = get(&view.options, "collation").and_then(|it| it.as_document());
        let database = &view.namespace.database;
        let mut below = names(database, &parse(pipeline, collation)?);
        below.push(Namespace { database: database.clone(), collection: on.clone() });
        Ok(below)
    }
}
