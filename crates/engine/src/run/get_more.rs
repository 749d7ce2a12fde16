//! `getMore`.

use super::Call;
use super::reading::fill_batch;
use crate::cursor::{Batch, Borrowed, Source};
use command::views::GetMore;
use command::{CursorReply, Reply};
use error::{Code, Result};
use std::time::Duration;
use tokio::time::Instant;

/// How long an awaiting cursor waits, where the client does not say.
const AWAIT_DATA: Duration = Duration::from_secs(1);

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let more = GetMore::parse(call.request)?;
    let namespace = &more.namespace;
    let mut borrowed = call.engine.cursors.borrow(more.cursor_id, namespace, call.owner())?;
    if let Some(cursor) = borrowed.cursor() {
        // A command sets this once, for the one cursor it works on.
        let _ = call.operation.cursor.set(cursor.interrupt.clone());
    }
    if call.common.max_time_ms.is_some() && !awaits(&mut borrowed) {
        return Err(Code::BadValue
            .error("cannot set maxTimeMS on getMore command for a non-awaitData cursor"));
    }
    let deadline = Instant::now()
        + call.common.max_time_ms.map_or(AWAIT_DATA, |ms| Duration::from_millis(ms.into()));
    let mut reply = CursorReply::next();
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
        let limit =
            more.batch_size.map(i64::unsigned_abs).or(cursor.batch_size).filter(|size| *size > 0);
        let batch = fill_batch(call, cursor, &mut reply, limit)?;
        if batch == Batch::Exhausted {
            borrowed.finish();
            return Ok(reply.finish(0, &namespace.to_string()));
        }
        let waits = inserted.filter(|_| reply.is_empty() && Instant::now() < deadline);
        let Some(inserted) = waits else {
            return Ok(reply.finish(more.cursor_id, &namespace.to_string()));
        };
        // Either way there is another look.
        let _ = tokio::time::timeout_at(deadline, inserted).await;
        call.operation.interrupt.check()?;
    }
}

fn awaits(borrowed: &mut Borrowed<'_>) -> bool {
    borrowed.cursor().is_some_and(|cursor| match &cursor.source {
        Source::Tail(tail) => tail.await_data,
        _ => false,
    })
}
