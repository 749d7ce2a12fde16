//! The limit of what a stage keeps in memory.

use crate::aggregate::limits::STAGE_MEMORY_BYTES_MAX;
use error::{Code, Error, Result};

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
