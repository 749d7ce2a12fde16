//! Stages whose documents come from the server itself: `$collStats`,
//! `$indexStats`, `$currentOp` …

use super::Call;
use command::Namespace;
use error::{Code, Result};
use language::aggregate::Documents;
use language::aggregate::stages::Source;

pub fn documents(_call: Call<'_>, _namespace: &Namespace, source: &Source) -> Result<Documents> {
    match source.name {
        // The stage holds its documents itself.
        "$documents" => Ok(Box::new(std::iter::empty())),
        name => Err(Code::NotImplemented.error(format!("{name} is not supported yet"))),
    }
}
