//! Bytes to messages and back: the only place with byte framing.
//!
//! A frame is a whole message as it came, sixteen bytes of header first. The
//! reader takes its length from [`Header::parse`], and [`decode`] turns it into
//! an [`Incoming`] whose documents are slices of the frame, each checked once.
//! [`Outgoing`] is a reply: a short head, the body as it was built, and nothing
//! copied in between.

mod compress;
mod decode;
mod encode;
mod fault;
mod header;
mod message;

pub use compress::Compressor;
pub use decode::{decode, plain_bytes, unpacked_bytes, wants_reply};
pub use encode::{Outgoing, encode};
pub use fault::Fault;
pub use header::{HEADER_BYTES, Header, MESSAGE_BYTES_MAX, Opcode};
pub use message::{Content, Envelope, Incoming, Msg, Query, Sequence};

/// How deep the documents of a message may nest. A stored document may be 180
/// deep, and the command around it takes some levels too.
pub const DEPTH_MAX: usize = 200;
