//! Where a pipeline's documents are written: `$out` and `$merge`.

mod merge;
mod out;

use super::Call;
use crate::run::writing;
use bson::{RawDocument, RawDocumentBuf};
use budget::{Held, Kind};
use command::views::Aggregate;
use command::{CursorReply, Namespace, Reply, append_write_concern_error};
use error::{Code, Result};
use language::aggregate::Documents;
use language::aggregate::stages::Target;
use value::DocumentWriter;

/// Documents and bytes that are taken from the pipeline before they are written.
const BATCH_DOCUMENTS_MAX: usize = 1_000;
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;

pub async fn write(
    call: Call<'_>,
    aggregate: &Aggregate<'_>,
    namespace: &Namespace,
    target: Target,
    documents: Documents,
) -> Result<Reply> {
    let (Target::Out { database, collection, .. } | Target::Merge { database, collection, .. }) =
        &target;
    let own = &*namespace.database;
    let into = Namespace::new(database.as_deref().unwrap_or(own), collection)?;
    into.check_create()?;
    check_database(&target, &into)?;
    if call.engine.registry.get(&into).is_some_and(|into| into.is_view()) {
        return Err(Code::CommandNotSupportedOnView
            .error(format!("Namespace {into} is a view, not a collection")));
    }
    match target {
        Target::Out { timeseries: Some(_), .. } => {
            return Err(Code::CommandNotSupported
                .error("$out into a time series collection is not supported by this server"));
        }
        Target::Out { .. } => out::write(call, aggregate, &into, documents).await?,
        Target::Merge { on, on_given, when_matched, when_not_matched, .. } => {
            let merge = merge::Merge { on, on_given, when_matched, when_not_matched };
            merge.write(call, aggregate, &into, documents).await?;
        }
    }
    Ok(reply(call, namespace))
}

/// The pipeline's own database may be an internal one too.
fn check_database(target: &Target, into: &Namespace) -> Result<()> {
    if !matches!(&*into.database, "admin" | "config" | "local") {
        return Ok(());
    }
    let (code, name) = match target {
        Target::Out { .. } => (31321, "$out"),
        Target::Merge { .. } => (31320, "$merge"),
    };
    Err(Code::location(code).error(format!("Can't {name} to internal database: {}", into.database)))
}

/// A cursor without documents.
fn reply(call: Call<'_>, namespace: &Namespace) -> Reply {
    let reply = CursorReply::first().finish(0, &namespace.to_string());
    let Some(error) = writing::concern_error(call) else { return reply };
    let mut out = DocumentWriter::new();
    let fields = value::elements(&reply.body);
    fields.filter(|field| field.key != "ok").for_each(|field| out.copy(field));
    append_write_concern_error(&mut out, &error);
    out.append_f64("ok", 1.0);
    Reply::new(out.finish())
}

/// Documents on their way into a target.
pub struct TargetBatch {
    pub documents: Vec<RawDocumentBuf>,
    /// What they take of the budget.
    _memory: Held,
}

impl TargetBatch {
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The documents as an insert takes them.
    pub fn borrowed(&self) -> Vec<&RawDocument> {
        self.documents.iter().map(|document| &**document).collect()
    }
}

/// The next documents of a pipeline; none when it has no more. Where memory is short there are
/// fewer of them.
pub fn next_batch(documents: &mut Documents) -> Result<TargetBatch> {
    turn::aside(|| {
        let mut batch = Vec::new();
        let mut memory = Held::new(Kind::Work);
        let mut bytes = 0;
        while batch.len() < BATCH_DOCUMENTS_MAX && bytes < BATCH_BYTES_MAX {
            let Some(document) = documents.next() else { break };
            let document = document?;
            bytes += document.as_bytes().len();
            batch.push(document);
            if memory.resize(bytes).is_err() {
                memory.force(bytes);
                break;
            }
        }
        Ok(TargetBatch { documents: batch, _memory: memory })
    })
}
