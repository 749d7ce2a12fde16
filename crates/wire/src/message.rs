//! Messages as they are handed on: documents checked, still in their frame.

use crate::{Compressor, Fault};
use bytes::Bytes;

/// A message that came in a sound frame. Its content may still be refused; then
/// the rest says how to answer.
#[derive(Debug, Clone)]
pub struct Incoming {
    pub request_id: i32,
    pub envelope: Envelope,
    /// The sender waits for no reply.
    pub more_to_come: bool,
    pub content: Result<Content, Fault>,
}

/// How a message was wrapped; its reply is wrapped alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Envelope {
    pub compressor: Option<Compressor>,
    /// It ends in a checksum. A compressed message has none.
    pub checksum: bool,
}

impl Envelope {
    /// Whether wrapping takes no work.
    pub fn is_plain(self) -> bool {
        self == Envelope::default()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Msg(Msg),
    Query(Query),
}

/// OP_MSG.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Msg {
    /// The sender would take several replies to this one message.
    pub exhaust_allowed: bool,
    pub body: Bytes,
    pub sequences: Vec<Sequence>,
}

/// A kind-1 section of OP_MSG.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: String,
    /// Documents back to back, each checked.
    pub documents: Bytes,
}

/// OP_QUERY, which drivers send once, as their first hello.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// `database.$cmd`.
    pub collection: String,
    pub body: Bytes,
}
