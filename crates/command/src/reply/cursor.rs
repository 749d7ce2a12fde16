//! `{cursor: {firstBatch | nextBatch: […], id, ns}, ok: 1.0}`, documents copied
//! straight into the reply.

use bson::{RawBsonRef, RawDocument, Timestamp};
use budget::{Held, Kind};
use error::Result;
use std::sync::Arc;
use value::DocumentWriter;

use super::{REPLY_END_BYTES, Reply};

#[derive(Debug)]
pub struct CursorReply {
    writer: DocumentWriter,
    documents: usize,
    time: Option<Timestamp>,
    /// What the batch takes of the budget, until the reply is handed on.
    held: Held,
}

impl CursorReply {
    /// The reply of a command that opens a cursor.
    pub fn first() -> CursorReply {
        CursorReply::new("firstBatch")
    }

    /// The reply of `getMore`.
    pub fn next() -> CursorReply {
        CursorReply::new("nextBatch")
    }

    fn new(batch: &str) -> CursorReply {
        let mut writer = DocumentWriter::new();
        writer.begin_document("cursor");
        writer.begin_array(batch);
        let held = Held::new(Kind::Traffic);
        CursorReply { writer, documents: 0, time: None, held }
    }

    /// Says when a snapshot read was.
    pub fn at(self, time: Option<Timestamp>) -> CursorReply {
        CursorReply { time, ..self }
    }

    /// Reserves the room that a document of so many bytes takes.
    pub fn make_room(&mut self, bytes: usize) -> Result<()> {
        self.held.resize(self.writer.len() + bytes)
    }

    /// Gives back the room that nothing was put into.
    pub fn fit(&mut self) {
        self.held.force(self.writer.len());
    }

    /// As `make_room`, for a document that can wait.
    pub fn make_room_patiently(&mut self, bytes: usize) -> Result<()> {
        self.held.resize_patiently(self.writer.len() + bytes)
    }

    pub fn push(&mut self, document: &RawDocument) {
        self.writer.reserve(document.as_bytes().len() + REPLY_END_BYTES);
        self.writer.push(RawBsonRef::Document(document));
        self.documents += 1;
    }

    /// Documents in the batch so far.
    pub fn len(&self) -> usize {
        self.documents
    }

    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Bytes written so far.
    pub fn size_bytes(&self) -> usize {
        self.writer.len()
    }

    /// `id` is 0 when the cursor is exhausted.
    pub fn finish(self, id: i64, ns: &str) -> Reply {
        self.finish_resumable(id, ns, None)
    }

    /// As `finish`, with the token that a change stream resumes after.
    pub fn finish_resumable(mut self, id: i64, ns: &str, token: Option<&RawDocument>) -> Reply {
        self.writer.end();
        if let Some(token) = token {
            self.writer.append_document("postBatchResumeToken", token);
        }
        if let Some(time) = self.time {
            self.writer.append("atClusterTime", RawBsonRef::Timestamp(time));
        }
        self.writer.append_i64("id", id);
        self.writer.append_str("ns", ns);
        self.writer.end();
        self.writer.append_f64("ok", 1.0);
        let held = (self.held.bytes() > 0).then(|| Arc::new(self.held));
        Reply { body: self.writer.finish(), held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    /// A copy that grows doubles.
    #[test]
    fn a_large_reply_is_ended_where_it_is() {
        let bytes = 16 * 1024 * 1024;
        let mut reply = CursorReply::first();
        reply.push(&rawdoc! { "_id": 1, "text": "x".repeat(bytes) });
        let reply = reply.at(Some(Timestamp { time: 1, increment: 1 })).finish(7, &"n".repeat(255));
        let begin = reply.body.as_bytes().as_ptr();
        let time = Timestamp { time: 1, increment: 1 };
        let times = crate::Times { cluster: time, operation: time };
        let ended = crate::append_cluster_time(reply, times).body.into_bytes();
        assert_eq!(ended.as_ptr(), begin);
        assert!(ended.capacity() < bytes + 4 * REPLY_END_BYTES, "{}", ended.capacity());
    }

    #[test]
    fn a_batch_is_numbered_and_closed() {
        let mut reply = CursorReply::first();
        for id in 0..3 {
            reply.push(&rawdoc! { "_id": id });
        }
        assert_eq!(reply.len(), 3);
        let expected = rawdoc! {
            "cursor": { "firstBatch": [{ "_id": 0 }, { "_id": 1 }, { "_id": 2 }], "id": 7_i64, "ns": "d.c" },
            "ok": 1.0,
        };
        assert_eq!(reply.finish(7, "d.c").body, expected);
        let empty = rawdoc! { "cursor": { "nextBatch": [], "id": 0_i64, "ns": "d.c" }, "ok": 1.0 };
        assert_eq!(CursorReply::next().finish(0, "d.c").body, empty);
    }
}
