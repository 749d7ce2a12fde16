//! Makes the rows the client sees.

use super::covered::Cover;
use super::{Member, Operator, Running, Shared, Stats, Work, covered, fetch};
use crate::plan::{IndexScan, Query, Shape};
use crate::storage::{Document, RecordId};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use guard::patterns::place;
use language::query::Matched;
use language::{Metadatum, metadata};
use std::sync::Arc;
use value::{DocumentWriter, Element};
use write::limits::DOCUMENT_BYTES_MAX;

pub struct ProjectionOperation {
    input: Running,
    shape: Shape,
    /// The index scan below, for shapes that are made from its keys.
    scan: Option<Arc<IndexScan>>,
    cover: Option<Cover>,
}

impl ProjectionOperation {
    pub fn new(input: Running, shape: Shape, scan: Option<Arc<IndexScan>>) -> ProjectionOperation {
        ProjectionOperation { input, shape, scan, cover: None }
    }

    fn source(
        &mut self,
        shared: &Shared,
        stats: &mut Stats,
        member: &mut Member,
    ) -> Result<Document> {
        if let (Shape::Covered, Some(scan), Some(entry)) = (self.shape, &self.scan, &member.entry) {
            let cover = self.cover.get_or_insert_with(|| Cover::new(scan, &shared.query.shown()));
            if let Some(document) = cover.certain(entry)? {
                return Ok(Document::Built(document));
            }
            stats.documents_examined += 1;
            let record = shared.view.record(shared.collection, member.record)?;
            return record.ok_or_else(fetch::dangling)?.load(&shared.view, &shared.needs);
        }
        member.document.take().ok_or_else(|| Code::InternalError.error("a row without a document"))
    }

    /// The key's values under their paths, or nothing without an index.
    fn key(&self, member: &Member) -> Result<RawDocumentBuf> {
        let mut writer = DocumentWriter::new();
        if let (Some(scan), Some(entry)) = (&self.scan, &member.entry)
            && scan.holds_values()
        {
            let values = covered::values(scan, &scan.directions(), entry)?;
            for (field, value) in scan.index.fields.iter().zip(values) {
                writer.append(field.path.as_str(), value.as_raw_bson_ref());
            }
        }
        Ok(writer.finish())
    }

    /// The document with the metadata that is asked for.
    fn with_metadata(
        &self,
        query: &Query,
        member: &Member,
        document: Document,
    ) -> Result<Document> {
        if !query.metadata.any() {
            return Ok(document);
        }
        let key = match (query.metadata.has(Metadatum::IndexKey), &member.entry) {
            (true, Some(_)) => Some(self.key(member)?),
            _ => None,
        };
        Ok(attach(query, member.record, key.as_deref(), &document))
    }
}

impl Operator for ProjectionOperation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        let mut member = match self.input.work(shared)? {
            Work::Advanced(member) => member,
            other => return Ok(other),
        };
        let document = match self.shape {
            Shape::Key => Document::Built(self.key(&member)?),
            Shape::Covered | Shape::Document => {
                let source = self.source(shared, stats, &mut member)?;
                let source = self.with_metadata(&shared.query, &member, source)?;
                project(&shared.query, member.record, source)?
            }
        };
        member.document = Some(document);
        Ok(Work::Advanced(member))
    }

    fn inputs(&self) -> Vec<&Running> {
        vec![&self.input]
    }
}

/// The document with its metadata, as far as a query asks for it.
pub fn attach(
    query: &Query,
    record: RecordId,
    index_key: Option<&RawDocument>,
    document: &RawDocument,
) -> Document {
    let sort = query.sort.pattern().filter(|_| query.metadata.has(Metadatum::SortKey));
    let sort_key = sort.map(|sort| sort.values(document, query.collator.as_deref()));
    let record = query.metadata.has(Metadatum::RecordId).then_some(record.0 as i64);
    let found = [
        record.map(|record| (Metadatum::RecordId, RawBsonRef::Int64(record))),
        sort_key.as_ref().map(|key| (Metadatum::SortKey, RawBsonRef::Array(key))),
        index_key.map(|key| (Metadatum::IndexKey, RawBsonRef::Document(key))),
    ];
    Document::Built(metadata::attach(document, found.into_iter().flatten()))
}

/// The document as the query wants it shown. Metadata stays only where there is no
/// projection that it was asked for by.
pub fn project(query: &Query, record: RecordId, document: Document) -> Result<Document> {
    let Some(projection) = &query.projection else {
        return Ok(match query.show_record_id {
            true => Document::Built(with_record_id(record, &document)),
            false => document,
        });
    };
    let matched = if projection.needs_match() {
        query.filter.matches_at(&document)?.unwrap_or_default()
    } else {
        Matched::default()
    };
    let mut projected = projection.apply(&document, matched)?;
    if query.metadata.any() {
        projected = metadata::detach(&projected, query.metadata);
    }
    if projected.as_bytes().len() > DOCUMENT_BYTES_MAX {
        projected = fitted(query, &document, projected)?;
    }
    if query.show_record_id {
        projected = with_record_id(record, &projected);
    }
    Ok(Document::Built(projected))
}

/// The document with as much of its arrays as heads hold, where they are as they were before
/// the projection.
fn fitted(
    query: &Query,
    document: &RawDocument,
    mut projected: RawDocumentBuf,
) -> Result<RawDocumentBuf> {
    for array in query.paged.iter().flat_map(|paged| &paged.arrays) {
        let whole = place::find(document, &array.rule.path);
        let is_whole =
            |array: Element<'_>| whole.is_some_and(|whole| place::identical(&whole, &array));
        projected = guard::read::fit(&array.rule, &projected, is_whole)?.unwrap_or(projected);
    }
    Ok(projected)
}

/// The document with the number of its record.
fn with_record_id(record: RecordId, document: &RawDocument) -> RawDocumentBuf {
    let mut writer = DocumentWriter::with_capacity(document.as_bytes().len() + 32);
    writer.copy_all(document);
    writer.append_i64("$recordId", record.0 as i64);
    writer.finish()
}
