//! `freeboardBackup`: a copy of the whole store on the server's machine.

use super::{Call, sizes};
use crate::backups;
use crate::operation::WorkProgress;
use command::views::FreeboardBackup;
use command::{Reply, ReplyWriter};
use error::{Code, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let backup = FreeboardBackup::parse(call.request)?;
    let interrupt = call.operation.interrupt.clone();
    let progress =
        Arc::new(WorkProgress { interrupt, what: Some("Backup"), ..WorkProgress::default() });
    // `currentOp` shows it, and `killOp` stops it.
    let _ = call.operation.progress.set(progress.clone());
    let engine = call.engine.clone();
    let name = backup.directory.to_owned();
    let copying = tokio::task::spawn_blocking(move || {
        // The disk has more than is copied: the journal, and what compaction will take away.
        let total = sizes::copied_bytes(&engine.store.view(), &engine.registry.current())?;
        progress.total.store(total, Ordering::Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;
    use bson::{RawDocumentBuf, rawdoc};
    use command::{Client, Request};

    async fn run(engine: &Arc<Engine>, command: RawDocumentBuf) {
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        let client = Arc::new(Client::new(1, address));
        engine.run(Request::from(command), &client).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_total_is_what_is_copied_and_not_what_the_disk_holds() {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::open(&directory.path().join("store")).await.unwrap();
        let index = rawdoc! { "key": { "a": 1 }, "name": "a" };
        run(&engine, rawdoc! { "createIndexes": "c", "$db": "d", "indexes": [index] }).await;
        for batch in 0..20 {
            let mut documents = bson::RawArrayBuf::new();
            for number in 0..100 {
                let id = batch * 100 + number;
                documents.push(rawdoc! { "_id": id, "a": id, "text": "x".repeat(500) });
            }
            run(&engine, rawdoc! { "insert": "c", "$db": "d", "documents": documents }).await;
        }
        // What is deleted stays on the disk for a while.
        let most = rawdoc! { "q": { "_id": { "$gte": 200 } }, "limit": 0 };
        run(&engine, rawdoc! { "delete": "c", "$db": "d", "deletes": [most] }).await;
        let total = sizes::copied_bytes(&engine.store.view(), &engine.registry.current()).unwrap();
        let copied = engine.store.copy_to(&directory.path().join("copy"), |_| Ok(())).unwrap();
        assert!(engine.store.disk_bytes() > 2 * copied, "the disk has much more");
        assert!(total > copied / 2 && total < copied * 2, "{total} of {copied}");
    }
}
