//! The rows of a plan, as a pipeline takes them in.

use crate::operation::Operation;
use crate::plan::Execution;
use crate::run::Call;
use bson::RawDocumentBuf;
use error::Result;
use std::sync::Arc;

/// Leaves the plan's figures with the operation, if they are wanted.
pub struct Input {
    rows: Execution,
    noted: Option<Arc<Operation>>,
}

impl Input {
    pub fn new(call: Call<'_>, rows: Execution) -> Input {
        let noted = call.engine.profiles.is_on().then(|| call.operation.clone());
        Input { rows, noted }
    }
}

impl Iterator for Input {
    type Item = Result<RawDocumentBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.rows.next()?.map(|row| row.document.into()))
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        if let Some(operation) = &self.noted {
            operation.note(&self.rows);
        }
    }
}
