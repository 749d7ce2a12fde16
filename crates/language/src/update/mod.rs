//! Updates: operators, replacements and pipelines, applied to raw documents.
//!
//! Operators become a tree of path components (`tree`), which is merged with the
//! document in one walk (`walk`); the walk records edits of the document's bytes
//! (`edits`), and the new document is assembled from them. What a change stream
//! tells of an update is worked out afterwards (`difference`).

mod array_filter;
mod difference;
mod edits;
mod operator;
pub mod operators;
mod part;
mod pipeline;
mod place;
mod reach;
mod replacement;
mod set_of_operators;
mod sources;
mod stored;
mod target;
mod tree;
mod upsert;
mod walk;

#[cfg(test)]
mod tests;

use crate::query::{Filter, Matched};
use crate::{Context, Needs};
use bson::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf, Timestamp};
pub use difference::{Difference, Manner, difference, difference_of_cut};
use error::{Code, Result};
pub use operator::{Ends, Scope};
pub use part::Part;
use pipeline::UpdatePipeline;
use replacement::Replacement;
use set_of_operators::Operators;
pub use target::Target;
use value::element::KeyLengths;
use value::{Path, elements};

/// A value at least this large may equal one that is kept out of line, so the old value is needed
/// to see whether anything changes. Smaller ones are never kept out of line.
const COMPARED_BYTES_MIN: usize = 512;

/// A parsed update.
#[derive(Debug)]
pub struct Update {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Operators(Operators),
    Replacement(Replacement),
    Pipeline(UpdatePipeline),
}

impl Update {
    /// `update` is a document of operators, a replacement, or a pipeline (array).
    pub fn parse(
        update: RawBsonRef<'_>,
        array_filters: Option<&RawArray>,
        context: &Context,
    ) -> Result<Update> {
        let filters = array_filter::parse(array_filters, context)?;
        let kind = match update {
            RawBsonRef::Document(update) if is_operators(update) => {
                Kind::Operators(Operators::parse(update, &filters, context)?)
            }
            RawBsonRef::Document(update) => Kind::Replacement(Replacement::new(update, context)),
            RawBsonRef::Array(_) if !filters.is_empty() => {
                return Err(Code::FailedToParse
                    .error("arrayFilters may not be specified for pipeline-syle updates"));
            }
            RawBsonRef::Array(stages) => Kind::Pipeline(UpdatePipeline::parse(stages, context)?),
            _ => {
                return Err(Code::FailedToParse
                    .error("Update argument must be either an object or an array"));
            }
        };
        Ok(Update { kind })
    }

    pub fn is_replacement(&self) -> bool {
        matches!(self.kind, Kind::Replacement(_))
    }

    pub fn is_pipeline(&self) -> bool {
        matches!(self.kind, Kind::Pipeline(_))
    }

    /// Whether it is a pipeline with an expression that looks at what stands at a path.
    pub fn computes_from(&self, path: &Path) -> bool {
        matches!(&self.kind, Kind::Pipeline(pipeline) if pipeline.computes_from(path))
    }

    /// Whether it is a pipeline with a stage that changes what stands at a path by something
    /// below it: of an array, by parts of its elements.
    pub fn goes_below(&self, path: &Path) -> bool {
        matches!(&self.kind, Kind::Pipeline(pipeline) if pipeline.goes_below(path))
    }

    /// How the update writes, for `difference`.
    pub fn manner(&self) -> Manner {
        match &self.kind {
            Kind::Operators(operators) => Manner::Operators(operators.targets()),
            Kind::Replacement(_) => Manner::Replacement,
            Kind::Pipeline(_) => Manner::Pipeline,
        }
    }

    /// Whether `apply` needs to know which array element matched, for `$`.
    pub fn needs_match(&self) -> bool {
        matches!(&self.kind, Kind::Operators(operators) if operators.is_positional())
    }

    /// Whether what stands at a path of field names may change: a value, or the
    /// values there in the elements of arrays on the way.
    pub fn touches(&self, path: &Path) -> bool {
        match &self.kind {
            Kind::Operators(operators) => operators.touches(path),
            Kind::Replacement(_) | Kind::Pipeline(_) => true,
        }
    }

    /// Whether a field of the document itself may change whose name is one of such lengths.
    pub fn touches_names(&self, lengths: KeyLengths) -> bool {
        match &self.kind {
            Kind::Operators(operators) => {
                let mut fields = operators.root().children().iter();
                fields.any(|(name, _)| lengths.has(name.as_bytes()))
            }
            Kind::Replacement(_) | Kind::Pipeline(_) => true,
        }
    }

    /// Whether nothing but what stands at a path of field names may change.
    pub fn touches_only(&self, path: &Path) -> bool {
        matches!(&self.kind, Kind::Operators(operators) if operators.touches_only(path))
    }

    /// How many elements it appends to the array at a path of field names, if it does nothing
    /// else.
    pub fn appended(&self, path: &Path) -> Option<usize> {
        match &self.kind {
            Kind::Operators(operators) => operators.appended(path),
            Kind::Replacement(_) | Kind::Pipeline(_) => None,
        }
    }

    /// The document after the update, or `None` if nothing changes (a no-op).
    /// Fields the update does not touch are copied as bytes, in place and order.
    pub fn apply(&self, before: &RawDocument, matched: Matched) -> Result<Option<RawDocumentBuf>> {
        match &self.kind {
            Kind::Operators(operators) => operators.apply(before, matched),
            Kind::Replacement(replacement) => replacement.apply(before),
            Kind::Pipeline(pipeline) => pipeline.apply(before),
        }
    }

    /// The document an upsert inserts: values from the filter's equalities, then
    /// the update, `$setOnInsert` included. Without an `_id` there, none is made.
    pub fn upsert(&self, filter: &Filter) -> Result<RawDocumentBuf> {
        let only_id = self.is_replacement();
        let found = upsert::document_of(filter, only_id)?;
        let made = match &self.kind {
            Kind::Operators(operators) => operators.insert_into(&found)?,
            Kind::Replacement(replacement) => Some(replacement.insert_into(&found)?),
            Kind::Pipeline(pipeline) => pipeline.apply(&found)?,
        };
        let document = stored::id_first(made.unwrap_or(found));
        stored::check(&document)?;
        Ok(document)
    }

    /// The paths that are read or written. `All` for pipelines whose needs are
    /// unknown. A replacement needs nothing but the `_id`; values that are not
    /// needed are copied as they are, or dropped.
    pub fn needs(&self, needs: &mut Needs) {
        match &self.kind {
            Kind::Operators(operators) => operators.needs(needs),
            Kind::Replacement(replacement) => replacement.needs(needs),
            Kind::Pipeline(pipeline) => pipeline.needs(needs),
        }
    }
}

fn is_operators(update: &RawDocument) -> bool {
    elements(update).next().is_some_and(|first| first.key.starts_with('$'))
}

/// The command's time as a timestamp.
fn timestamp(context: &Context) -> Timestamp {
    let seconds = context.now.timestamp_millis().div_euclid(1000);
    Timestamp { time: u32::try_from(seconds).unwrap_or(u32::MAX), increment: 1 }
}
