//! Stages, one file each, and their table.

mod add_fields;
mod bucket;
mod bucket_auto;
mod count;
mod densify;
mod documents;
mod facet;
mod fill;
mod granularity;
mod graph_lookup;
mod group;
mod held;
mod limit;
mod lookup;
mod match_;
mod merge;
mod nested;
mod options;
mod out;
mod project;
mod redact;
mod replace_root;
mod reshape;
mod sample;
mod set_window_fields;
mod skip;
mod sort;
mod sort_by_count;
mod sorter;
mod source;
mod target;
#[cfg(test)]
pub mod testing;
mod union_with;
mod unset;
mod unwind;

pub use group::Group;
pub use limit::Limit;
pub use lookup::Lookup;

pub use match_::Match;
pub use project::Project;
pub use skip::Skip;
pub use sort::Sort;
pub use source::Source;
pub use target::{Target, WhenMatched, WhenNotMatched};
pub use union_with::UnionWith;
pub use unwind::Unwind;

use super::{Documents, Foreign, Place};
use crate::{Context, Needs};
use bson::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::any::Any;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::Path;
use value::element::{array_elements, elements};

/// One step of a pipeline.
pub trait Stage: Any + std::fmt::Debug + Send + Sync {
    fn name(&self) -> &'static str;

    /// Pulls documents through the stage.
    fn run(self: Arc<Self>, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents>;

    /// Adds what the stage reads. `Break` says that later stages see nothing of
    /// the input beside that.
    fn needs(&self, needs: &mut Needs) -> ControlFlow<()>;

    /// The paths that the stage changes, where it lets each document through by
    /// itself; a filter on other paths may then go before it.
    fn changes(&self) -> Option<Vec<Path>> {
        None
    }

    /// Whether a filter that reads this may as well go before the stage.
    fn lets_pass(&self, read: &Needs) -> bool {
        match self.changes() {
            Some(changed) => !read.contains_any(&changed),
            None => false,
        }
    }

    /// Where the value at a path stood before the stage, which has only given it another name.
    fn source_of(&self, path: &Path) -> Option<Path> {
        let _ = path;
        None
    }

    /// The stage as a function of one document, if it is one.
    fn transform(&self) -> Option<&dyn Transform> {
        None
    }

    fn source(&self) -> Option<&Source> {
        None
    }

    fn target(&self) -> Option<&Target> {
        None
    }

    fn foreign_collections(&self) -> Vec<&str> {
        Vec::new()
    }
}

/// A stage that turns one document into one.
pub trait Transform: Send + Sync {
    fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf>;

    /// What `apply` must see, where values that only pass through may be
    /// stand-ins for what is not loaded.
    fn reads(&self, needs: &mut Needs);

    /// What its expressions compute from; fields that are named as places only are no
    /// part of it.
    fn computes_from(&self, needs: &mut Needs);

    /// Whether it changes what stands at a path by something below it: of an array, by parts
    /// of its elements.
    fn goes_below(&self, path: &Path) -> bool {
        let _ = path;
        false
    }
}

/// A stage as it is written, and what surrounds it.
#[derive(Debug, Clone, Copy)]
pub struct Specification<'a> {
    pub name: &'static str,
    pub value: RawBsonRef<'a>,
    pub context: &'a Context,
    /// How many pipelines this one is inside of.
    pub depth: usize,
}

/// Parses a stage, or the several that it is short for.
pub type Parse = fn(Specification<'_>) -> Result<Vec<Box<dyn Stage>>>;

/// One row of the table.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub parse: Parse,
    pub help: &'static str,
}

const fn row(name: &'static str, parse: Parse, help: &'static str) -> Row {
    Row { name, parse, help }
}

pub const ROWS: &[Row] = &[
    row("$addFields", add_fields::parse, "adds or replaces fields"),
    row("$bucket", bucket::parse, "groups by ranges of a value"),
    row("$bucketAuto", bucket_auto::parse, "groups into ranges of even size"),
    row("$changeStream", source::parse, "changes as they happen"),
    row("$collStats", source::parse, "statistics of the collection"),
    row("$count", count::parse, "counts documents"),
    row("$currentOp", source::parse, "operations that are running"),
    row("$densify", densify::parse, "fills gaps in a sequence"),
    row("$documents", documents::parse, "documents that are written in the pipeline"),
    row("$facet", facet::parse, "several pipelines over the same documents"),
    row("$fill", fill::parse, "fills missing values"),
    row("$graphLookup", graph_lookup::parse, "follows references between documents"),
    row("$group", group::parse, "groups documents and accumulates over each group"),
    row("$indexStats", source::parse, "use of the collection's indexes"),
    row("$limit", limit::parse, "at most so many documents"),
    row("$listCatalog", source::parse, "collections and indexes"),
    row("$listLocalSessions", source::parse, "sessions of this server"),
    row("$listSessions", source::parse, "sessions"),
    row("$lookup", lookup::parse, "joins documents of another collection"),
    row("$match", match_::parse, "documents that match a filter"),
    row("$merge", merge::parse, "writes the documents into a collection"),
    row("$out", out::parse, "replaces a collection by the documents"),
    row("$planCacheStats", source::parse, "the plan cache"),
    row("$project", project::parse, "includes, excludes and computes fields"),
    row("$redact", redact::parse, "keeps or prunes parts of documents"),
    row("$replaceRoot", replace_root::parse, "replaces each document"),
    row("$replaceWith", replace_root::parse, "replaces each document"),
    row("$sample", sample::parse, "random documents"),
    row("$set", add_fields::parse, "adds or replaces fields"),
    row("$setWindowFields", set_window_fields::parse, "computes over windows of documents"),
    row("$skip", skip::parse, "leaves out the first documents"),
    row("$sort", sort::parse, "sorts documents"),
    row("$sortByCount", sort_by_count::parse, "groups by a value, the commonest first"),
    row("$unionWith", union_with::parse, "adds the documents of another collection"),
    row("$unset", unset::parse, "removes fields"),
    row("$unwind", unwind::parse, "one document for each element of an array"),
];

const NO_SEARCH: &str = "it requires Atlas Search, which is not here";

/// Stages that exist and are not supported, and why.
pub const REFUSED: &[(&str, &str)] = &[
    ("$changeStreamSplitLargeEvent", "events of change streams are not split"),
    ("$geoNear", "geospatial queries are not supported"),
    ("$listClusterCatalog", "there is no cluster"),
    ("$listMqlEntities", "docs/compatibility.md lists them"),
    ("$listSampledQueries", "queries are not sampled"),
    ("$listSearchIndexes", NO_SEARCH),
    ("$querySettings", "queries have no settings of their own"),
    ("$queryStats", "query statistics are not kept"),
    ("$rankFusion", "search is not supported"),
    ("$score", "search is not supported"),
    ("$scoreFusion", "search is not supported"),
    ("$search", NO_SEARCH),
    ("$searchMeta", NO_SEARCH),
    ("$setVariableFromSubPipeline", "search is not supported"),
    ("$shardedDataDistribution", "there are no shards"),
    ("$vectorSearch", NO_SEARCH),
];

/// Parses one stage of those that `check_names` has let through.
pub fn parse(
    stage: &RawDocument,
    context: &Context,
    place: Place,
    depth: usize,
) -> Result<Vec<Box<dyn Stage>>> {
    let Some(element) = elements(stage).next() else { return Ok(Vec::new()) };
    let row = find(element.key)?;
    let parsed =
        (row.parse)(Specification { name: row.name, value: element.value(), context, depth })?;
    check_place(row.name, &parsed, place)?;
    Ok(parsed)
}

/// Checks that each stage is a document that names one stage: this is done for
/// all of a pipeline before any of it is read further.
pub fn check_names(stages: &RawArray) -> Result<()> {
    for element in array_elements(stages) {
        let RawBsonRef::Document(stage) = element.value() else {
            return Err(
                Code::TypeMismatch.error("Each element of the 'pipeline' array must be an object")
            );
        };
        check_name(stage)?;
    }
    Ok(())
}

/// Checks that a document names one stage.
pub fn check_name(stage: &RawDocument) -> Result<()> {
    let mut fields = elements(stage);
    let (Some(named), None) = (fields.next(), fields.next()) else {
        return Err(Code::location(40323)
            .error("A pipeline stage specification object must contain exactly one field."));
    };
    find(named.key).map(|_| ())
}

fn find(name: &str) -> Result<&'static Row> {
    if let Some(row) = ROWS.iter().find(|row| row.name == name) {
        return Ok(row);
    }
    Err(match REFUSED.iter().find(|(refused, _)| *refused == name) {
        // Clients know this code of a MongoDB that has no search beside it.
        Some((name, NO_SEARCH)) => {
            Code::SearchNotEnabled.error(format!("{name} is not supported: {NO_SEARCH}"))
        }
        Some((name, why)) => {
            Code::CommandNotSupported.error(format!("{name} is not supported: {why}"))
        }
        None => Code::location(40324).error(format!("Unrecognized pipeline stage name: '{name}'")),
    })
}

fn check_place(name: &str, parsed: &[Box<dyn Stage>], place: Place) -> Result<()> {
    let writes = parsed.iter().any(|stage| stage.target().is_some());
    let source = parsed.iter().any(|stage| stage.source().is_some());
    let outside = writes || ["$changeStream", "$currentOp"].contains(&name);
    match place {
        Place::Facet if writes || source || name == "$facet" => Err(Code::location(40600)
            .error(format!("{name} is not allowed to be used within a $facet stage"))),
        Place::Lookup if outside => Err(Code::location(51047)
            .error(format!("{name} is not allowed within a $lookup's sub-pipeline"))),
        Place::UnionWith if outside => Err(Code::location(31441)
            .error(format!("{name} is not allowed within a $unionWith's sub-pipeline"))),
        Place::Update if parsed.iter().any(|stage| stage.transform().is_none()) => {
            Err(Code::InvalidOptions
                .error(format!("{name} is not allowed to be used within an update")))
        }
        _ => Ok(()),
    }
}

/// Checks that the documents come from elsewhere than a collection.
pub fn check_database(stages: &[Box<dyn Stage>]) -> Result<()> {
    let Some(first) = stages.first() else {
        return Err(
            Code::InvalidNamespace.error("{aggregate: 1} is not valid for an empty pipeline.")
        );
    };
    if first.source().is_some_and(Source::is_collectionless) {
        return Ok(());
    }
    Err(Code::InvalidNamespace.error(format!(
        "{{aggregate: 1}} is not valid for '{}'; a collection is required.",
        first.name()
    )))
}

/// Checks that sources are first and targets last.
pub fn check_positions(stages: &[Box<dyn Stage>]) -> Result<()> {
    for (at, stage) in stages.iter().enumerate() {
        if stage.source().is_some() && at > 0 {
            return Err(Code::location(40602).error(format!(
                "{} is only valid as the first stage in a pipeline.",
                stage.name()
            )));
        }
        if stage.target().is_some() && at + 1 < stages.len() {
            return Err(Code::location(40601)
                .error(format!("{} can only be the final stage in the pipeline", stage.name())));
        }
    }
    Ok(())
}

/// Runs a stage that turns one document into one.
fn map<T: Transform + 'static>(input: Documents, transform: Arc<T>) -> Result<Documents> {
    Ok(Box::new(input.map(move |document| transform.apply(&document?))))
}

fn one(stage: impl Stage) -> Result<Vec<Box<dyn Stage>>> {
    Ok(vec![Box::new(stage)])
}

#[cfg(test)]
mod tests;
