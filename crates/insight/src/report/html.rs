//! The report as one self-contained page.

use crate::{Error, Report};

pub fn render(_report: &Report) -> Result<String, Error> {
    Err(not_yet())
}

pub fn not_yet() -> Error {
    Error::Use("--format html is not supported by this version yet; use text or json".to_owned())
}
