//! Where a pipeline's documents are written: `$out` and `$merge`.

use super::Call;
use command::views::Aggregate;
use command::{Namespace, Reply};
use error::{Code, Result};
use language::aggregate::Documents;
use language::aggregate::stages::Target;

pub async fn write(
    _call: Call<'_>,
    _aggregate: &Aggregate<'_>,
    _namespace: &Namespace,
    target: Target,
    _documents: Documents,
) -> Result<Reply> {
    let name = match target {
        Target::Out { .. } => "$out",
        Target::Merge { .. } => "$merge",
    };
    Err(Code::NotImplemented.error(format!("{name} is not supported yet")))
}
