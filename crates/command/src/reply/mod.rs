//! Replies, written as bytes.

mod cluster_time;
mod cursor;
mod error;
mod failures;
mod write;

use crate::table::Command;
use bson::{RawBsonRef, RawDocumentBuf};
use budget::Held;
use std::sync::Arc;
use value::DocumentWriter;

pub use cluster_time::{Times, append_cluster_time};
pub use cursor::CursorReply;
pub use error::{error_reply, query_failure};
pub use failures::{Failure, Failures, FailuresRoom};
pub use write::{WriteReply, append_write_concern_error, write_concern_error};

/// What may follow the documents of a reply: the cursor, errors of the write concern, `ok` and
/// the times. Whatever writes a large document reserves as much behind it, since to grow a
/// reply is to copy it.
pub const REPLY_END_BYTES: usize = 1024 + cluster_time::BYTES;

/// The reply's body, `ok` included.
#[derive(Debug, Clone)]
pub struct Reply {
    pub body: RawDocumentBuf,
    /// What it takes of the budget, where that was reserved before it was written: it stays
    /// reserved until the reply is read.
    pub held: Option<Arc<Held>>,
}

impl Reply {
    pub fn new(body: RawDocumentBuf) -> Reply {
        Reply { body, held: None }
    }

    /// `{ok: 1.0}`.
    pub fn ok() -> Reply {
        ReplyWriter::new().finish()
    }

    /// What a command does, in the place of doing it: the answer to `help: true`.
    pub fn help(command: &Command) -> Reply {
        let text = format!("help for: {} {}", command.name, command.help);
        let mut writer = ReplyWriter::new();
        writer.append("help", &*text);
        writer.finish()
    }
}

/// Appends fields; `finish` adds `ok: 1.0` as the last of them.
#[derive(Debug, Default)]
pub struct ReplyWriter {
    writer: DocumentWriter,
}

impl ReplyWriter {
    pub fn new() -> ReplyWriter {
        ReplyWriter { writer: DocumentWriter::new() }
    }

    pub fn append<'v>(&mut self, name: &str, value: impl Into<RawBsonRef<'v>>) -> &mut Self {
        self.writer.append(name, value.into());
        self
    }

    /// For what `append` cannot say: sub-documents in place, copied elements.
    pub fn writer(&mut self) -> &mut DocumentWriter {
        &mut self.writer
    }

    pub fn finish(mut self) -> Reply {
        self.writer.append_f64("ok", 1.0);
        Reply::new(self.writer.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn ok_is_a_double_and_last() {
        assert_eq!(Reply::ok().body, rawdoc! { "ok": 1.0 });
        let mut writer = ReplyWriter::new();
        writer.append("n", 3).append("name", "x");
        assert_eq!(writer.finish().body, rawdoc! { "n": 3, "name": "x", "ok": 1.0 });
    }
}
