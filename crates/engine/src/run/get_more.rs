//! `getMore`.

use super::Call;
use super::reading::fill_batch;
use crate::batch::Batch;
use crate::cursor::Source;
use command::labels::stream_labelled;
use command::views::GetMore;
use command::{CursorReply, Reply};
use error::{Code, Result};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// How long an awaiting cursor waits, where the client does not say.
const AWAIT_DATA: Duration = Duration::from_secs(1);

/// How long a change stream waits for the server to have room for its next event, before it
/// looks again.
const ROOM_WAIT: Duration = Duration::from_millis(50);

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let more = GetMore::parse(call.request)?;
    let namespace = &more.namespace;
    let (cursors, client) = (&call.engine.cursors, &call.operation.client);
    let mut borrowed = cursors.borrow(more.cursor_id, namespace, call.owner(), client)?;
    if let Some(cursor) = borrowed.cursor() {
        // A command sets this once, for the one cursor it works on.
        let _ = call.operation.cursor.set(cursor.interrupt.clone());
        if call.common.max_time_ms.is_some() && !cursor.awaits() {
            return Err(Code::BadValue
                .error("cannot set maxTimeMS on getMore command for a non-awaitData cursor"));
        }
    }
    let deadline = Instant::now()
        + call.common.max_time_ms.map_or(AWAIT_DATA, |ms| Duration::from_millis(ms.into()));
    let mut reply = CursorReply::next().at(borrowed.cursor().and_then(|cursor| cursor.time));
    loop {
        let Some(cursor) = borrowed.cursor() else {
            return Err(crate::cursor::not_found(more.cursor_id));
        };
        let state = match &cursor.source {
            Source::Tail(tail) if tail.await_data => Some(tail.inserted()),
            _ => None,
        };
        // Before the look, so that nothing that comes after it is missed.
        let inserted = state.as_ref().map(|state| state.inserted.notified());
        // The size of the first batch says nothing of the next ones.
        let limit = more.batch_size.map(i64::unsigned_abs).filter(|size| *size > 0);
        let batch = match fill_batch(call, cursor, &mut reply, limit) {
            Ok(batch) => batch,
            Err(error) => {
                let watches = matches!(cursor.source, Source::Changes(_));
                borrowed.finish();
                return Err(if watches { stream_labelled(error) } else { error });
            }
        };
        let token = cursor.resume_token();
        if batch == Batch::Exhausted {
            borrowed.finish();
            return Ok(reply.finish_resumable(0, &namespace.to_string(), token.as_deref()));
        }
        let waits = cursor.awaits() && reply.is_empty() && Instant::now() < deadline;
        if !waits {
            let name = namespace.to_string();
            borrowed.given = reply.len();
            return Ok(reply.finish_resumable(more.cursor_id, &name, token.as_deref()));
        }
        let waiting = Instant::now();
        let interrupt = cursor.interrupt.clone();
        let synced = match &cursor.source {
            Source::Changes(stream) if batch == Batch::Full => Some(stream.synced()),
            _ => None,
        };
        let something = async {
            if batch == Batch::Crowded {
                tokio::time::sleep(ROOM_WAIT).await;
            } else if let Some(inserted) = inserted {
                inserted.await;
            } else if let Some(mut synced) = synced {
                // The log ends with the server, and then this ends too.
                let _ = synced.changed().await;
            }
        };
        // Whatever it is that ends the wait, there is another look.
        tokio::select! {
            () = something => {}
            () = interrupt.stopped() => {}
            () = tokio::time::sleep_until(deadline) => {}
        }
        let waited = waiting.elapsed().as_micros() as u64;
        call.operation.waited.fetch_add(waited, Ordering::Relaxed);
        call.operation.interrupt.check()?;
    }
}
