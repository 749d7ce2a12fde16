//! Stages whose documents come from the server itself: `$collStats`,
//! `$indexStats`, `$currentOp` …

mod coll_stats;
mod index_stats;
mod list_catalog;
mod list_sessions;

use super::{Call, current_op};
use bson::RawDocumentBuf;
use command::Namespace;
use error::{Code, Result};
use language::aggregate::Documents;
use language::aggregate::stages::Source;
use value::element::get_value;

/// Where sessions are listed.
const SESSIONS: &str = "config.system.sessions";

pub fn documents(call: Call<'_>, namespace: &Namespace, source: &Source) -> Result<Documents> {
    Ok(match source.name {
        // The stage holds its documents itself.
        "$documents" => ready(Vec::new()),
        "$collStats" => ready(vec![coll_stats::document(call, namespace, &source.options)?]),
        "$currentOp" => {
            current_op::check_stage(call.common.database, namespace.is_collectionless())?;
            let asked = |name| get_value(&source.options, name).and_then(|it| it.as_bool());
            let truncates = asked("truncateOps").unwrap_or(false);
            let listed = current_op::ListedOperation {
                sessions: asked("idleSessions").unwrap_or(true),
                cursors: asked("idleCursors").unwrap_or(false),
                command_bytes_max: match truncates {
                    true => current_op::COMMAND_BYTES,
                    false => current_op::WHOLE_COMMAND_BYTES,
                },
            };
            ready(current_op::operations(call, listed))
        }
        "$indexStats" => ready(index_stats::documents(call, namespace)?),
        "$listCatalog" => ready(list_catalog::documents(call, namespace)?),
        "$listSessions" if namespace.to_string() != SESSIONS => {
            return Err(Code::InvalidNamespace
                .error(format!("$listSessions may only be run against {SESSIONS}")));
        }
        "$listLocalSessions" | "$listSessions" => list_sessions::documents(call)?,
        // There is no plan cache: plans are chosen anew for each query.
        "$planCacheStats" => ready(Vec::new()),
        name => return Err(Code::NotImplemented.error(format!("{name} is not supported"))),
    })
}

fn ready(documents: Vec<RawDocumentBuf>) -> Documents {
    Box::new(documents.into_iter().map(Ok))
}
