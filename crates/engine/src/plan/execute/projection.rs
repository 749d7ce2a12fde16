//! Makes the rows the client sees.

use super::covered::Cover;
use super::{Member, Operator, Running, Shared, Stats, Work, covered, fetch};
use crate::plan::{IndexScan, Query, Shape};
use crate::storage::{Document, RecordId};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use language::query::Matched;
use std::sync::Arc;
use value::DocumentWriter;

pub struct Operation {
    input: Running,
    shape: Shape,
    /// The index scan below, for shapes that are made from its keys.
    scan: Option<Arc<IndexScan>>,
    cover: Option<Cover>,
}

impl Operation {
    pub fn new(input: Running, shape: Shape, scan: Option<Arc<IndexScan>>) -> Operation {
        Operation { input, shape, scan, cover: None }
    }

    fn source(
        &mut self,
        shared: &Shared,
        stats: &mut Stats,
        member: &mut Member,
    ) -> Result<Document> {
        if let (Shape::Covered, Some(scan), Some(entry)) = (self.shape, &self.scan, &member.entry) {
            let cover = self.cover.get_or_insert_with(|| Cover::new(scan, &shared.needs));
            if let Some(document) = cover.certain(entry)? {
                return Ok(Document::Built(document));
            }
            stats.documents_examined += 1;
            let record = shared.view.record(shared.collection, member.record)?;
            return record.ok_or_else(fetch::dangling)?.load(&shared.view, &shared.needs);
        }
        member.document.take().ok_or_else(|| Code::InternalError.error("a row without a document"))
    }

    /// `returnKey`: the key's values under their paths, or nothing without an index.
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
}

impl Operator for Operation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        let mut member = match self.input.work(shared)? {
            Work::Advanced(member) => member,
            other => return Ok(other),
        };
        let document = match self.shape {
            Shape::Key => with_record_id(&shared.query, member.record, self.key(&member)?),
            Shape::Covered | Shape::Document => {
                let source = self.source(shared, stats, &mut member)?;
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

/// The document as the query wants it shown.
pub fn project(query: &Query, record: RecordId, document: Document) -> Result<Document> {
    let Some(projection) = &query.projection else {
        if query.show_record_id {
            return Ok(with_record_id(query, record, document.into()));
        }
        return Ok(document);
    };
    let matched = if projection.needs_match() {
        query.filter.matches_at(&document)?.unwrap_or_default()
    } else {
        Matched::default()
    };
    Ok(with_record_id(query, record, projection.apply(&document, matched)?))
}

fn with_record_id(query: &Query, record: RecordId, document: RawDocumentBuf) -> Document {
    if !query.show_record_id {
        return Document::Built(document);
    }
    let mut writer = DocumentWriter::new();
    let shown: &RawDocument = &document;
    value::elements(shown).for_each(|element| writer.copy(element));
    writer.append("$recordId", RawBsonRef::Int64(record.0 as i64));
    Document::Built(writer.finish())
}
