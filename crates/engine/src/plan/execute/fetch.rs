//! Reads the document of each row and checks what the index could not.

use super::{Operator, Running, Shared, Stats, Work};
use crate::plan::Residual;
use crate::storage::{Document, Record};
use error::{Code, Result};
use std::sync::Arc;

pub struct FetchOperation {
    input: Running,
    filter: Option<Arc<Residual>>,
}

impl FetchOperation {
    pub fn new(input: Running, filter: Option<Arc<Residual>>) -> FetchOperation {
        FetchOperation { input, filter }
    }
}

impl Operator for FetchOperation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        let mut member = match self.input.work(shared)? {
            Work::Advanced(member) => member,
            other => return Ok(other),
        };
        member.document = match member.document {
            Some(document) => check(document, self.filter.as_deref())?,
            None => {
                stats.documents_examined += 1;
                let record = shared.view.record(shared.collection, member.record)?;
                load(shared, &record.ok_or_else(dangling)?, self.filter.as_deref())?
            }
        };
        Ok(if member.document.is_some() { Work::Advanced(member) } else { Work::Pending })
    }

    fn inputs(&self) -> Vec<&Running> {
        vec![&self.input]
    }
}

/// The document, if it matches. Large values that only a match needs are loaded
/// once it has matched.
pub fn load(
    shared: &Shared,
    record: &Record,
    filter: Option<&Residual>,
) -> Result<Option<Document>> {
    if let Some(filter) = filter {
        let document = record.load(&shared.view, &filter.needs)?;
        if !filter.matches(&document)? {
            return Ok(None);
        }
        if filter.needs == shared.needs {
            return Ok(Some(document));
        }
    }
    record.load(&shared.view, &shared.needs).map(Some)
}

fn check(document: Document, filter: Option<&Residual>) -> Result<Option<Document>> {
    let matches = match filter {
        Some(filter) => filter.matches(&document)?,
        None => true,
    };
    Ok(matches.then_some(document))
}

/// Entries and records are of one commit, so this is damage.
pub fn dangling() -> error::Error {
    Code::DataCorruptionDetected.error("an index entry points to a record that does not exist")
}
