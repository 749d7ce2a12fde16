//! `freeboardBackup`: a copy of the whole store on the server's machine.

use super::Call;
use crate::backups;
use crate::define::Progress;
use command::views::FreeboardBackup;
use command::{Reply, ReplyWriter};
use error::{Code, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let backup = FreeboardBackup::parse(call.request)?;
    let interrupt = call.operation.interrupt.clone();
    let progress = Arc::new(Progress { interrupt, what: Some("Backup"), ..Progress::default() });
    // `currentOp` shows it, and `killOp` stops it.
    let _ = call.operation.progress.set(progress.clone());
    let engine = call.engine.clone();
    let name = backup.directory.to_owned();
    progress.total.store(engine.store.disk_bytes(), Ordering::Relaxed);
    let copying = tokio::task::spawn_blocking(move || {
        let directory = engine.backups().ok_or_else(backups::none)?.place(&name)?;
        let bytes = engine.store.copy_to(&directory, |bytes| {
            progress.done.fetch_add(bytes, Ordering::Relaxed);
            progress.interrupt.check()
        })?;
        Ok((bytes, directory.to_string_lossy().into_owned()))
    });
    let (bytes, directory) = copying
        .await
        .map_err(|error| Code::InternalError.error(format!("the backup broke off: {error}")))??;
    let mut reply = ReplyWriter::new();
    reply.append("directory", directory.as_str());
    reply.append("bytes", i64::try_from(bytes).unwrap_or(i64::MAX));
    Ok(reply.finish())
}
