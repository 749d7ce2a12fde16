//! Documents that a stage keeps in memory, up to the limit of stages.

use super::Documents;
use crate::aggregate::limits::STAGE_MEMORY_BYTES_MAX;
use bson::RawDocumentBuf;
use error::{Code, Error, Result};

/// All documents of the input.
pub fn collect(stage: &str, input: Documents) -> Result<Vec<RawDocumentBuf>> {
    let mut held = Vec::new();
    let mut bytes = 0;
    for document in input {
        let document = document?;
        bytes += document.as_bytes().len();
        check(stage, bytes)?;
        held.push(document);
    }
    Ok(held)
}

pub fn check(stage: &str, bytes: usize) -> Result<()> {
    if bytes > STAGE_MEMORY_BYTES_MAX {
        return Err(exceeded(stage));
    }
    Ok(())
}

pub fn exceeded(stage: &str) -> Error {
    Code::QueryExceededMemoryLimitNoDiskUseAllowed
        .error(format!("{stage} exceeded its memory limit of {STAGE_MEMORY_BYTES_MAX} bytes"))
}
