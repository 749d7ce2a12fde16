//! Why bytes were not taken as a message.

use crate::{HEADER_BYTES, MESSAGE_BYTES_MAX};
use error::{Code, Error};

#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// The header's length is out of bounds.
    Length(i32),
    /// The sender speaks TLS,
    Tls,
    /// or HTTP.
    Http,
    /// The frame is not as long as its header says.
    FrameLength {
        header: usize,
        frame: usize,
    },
    /// An opcode not spoken here.
    Opcode(i32),
    /// Required flag bits that nobody defined.
    Flags(u32),
    Checksum,
    /// More document sequences than any command has.
    TooManySequences,
    /// The message ends inside a field.
    Truncated,
    /// An OP_COMPRESSED that does not decompress to what it announces.
    Compressed(&'static str),
    UnknownCompressor(u8),
    TwoBodies,
    NoBody,
    SectionKind(u8),
    SequenceLength(i32),
    /// The name of a sequence, or the namespace of an OP_QUERY, is not UTF-8.
    Name,
    DuplicateSequence(String),
    SequenceInBody(String),
    /// A document is malformed or too deep.
    Document(Error),
}

impl Fault {
    /// Whether the connection ends here. The stream can be trusted no more, or
    /// the sender speaks another protocol; the others are answered with an error.
    pub fn is_fatal(&self) -> bool {
        matches!(
            self,
            Fault::Length(_)
                | Fault::Tls
                | Fault::Http
                | Fault::FrameLength { .. }
                | Fault::Opcode(_)
                | Fault::Flags(_)
                | Fault::Checksum
                | Fault::TooManySequences
                | Fault::Compressed(_)
                | Fault::UnknownCompressor(_)
        )
    }

    /// The error as the sender sees it.
    pub fn to_error(&self) -> Error {
        let code = match self {
            Fault::Flags(_) => Code::IllegalOpMsgFlag,
            Fault::Checksum => Code::ChecksumMismatch,
            Fault::TooManySequences => Code::TooManyDocumentSequences,
            Fault::TwoBodies => Code::location(40430),
            Fault::DuplicateSequence(_) => Code::location(40431),
            Fault::SectionKind(_) => Code::location(40432),
            Fault::SequenceInBody(_) => Code::location(40433),
            Fault::NoBody => Code::location(40587),
            Fault::Truncated | Fault::SequenceLength(_) => Code::Overflow,
            Fault::Name => Code::BadValue,
            Fault::Length(_)
            | Fault::Tls
            | Fault::Http
            | Fault::FrameLength { .. }
            | Fault::Opcode(_) => Code::ProtocolError,
            Fault::Compressed(_) => Code::BadValue,
            Fault::UnknownCompressor(_) => Code::InternalError,
            Fault::Document(error) => return error.clone(),
        };
        code.error(self.to_string())
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Length(length) => write!(
                f,
                "message length {length} is not between {HEADER_BYTES} and {MESSAGE_BYTES_MAX}"
            ),
            Fault::Tls => f.write_str(
                "the client speaks TLS, which this server does not; connect without tls=true",
            ),
            Fault::Http => f.write_str("the client speaks HTTP on the port of drivers"),
            Fault::FrameLength { header, frame } => {
                write!(f, "a message of {frame} bytes says that it has {header}")
            }
            Fault::Opcode(opcode) => write!(f, "opcode {opcode} is not supported"),
            Fault::Flags(flags) => {
                write!(f, "Message contains illegal flags value: Ob{flags:032b}")
            }
            Fault::Checksum => f.write_str("OP_MSG checksum does not match contents"),
            Fault::TooManySequences => f.write_str("Too many document sequences in OP_MSG"),
            Fault::Truncated => f.write_str("the message ends inside a field"),
            Fault::Compressed(what) => f.write_str(what),
            Fault::UnknownCompressor(id) => write!(
                f,
                "Compression algorithm specified in message is not available: number {id}"
            ),
            Fault::TwoBodies => f.write_str("Multiple body sections in message"),
            Fault::NoBody => f.write_str("OP_MSG messages must have a body"),
            Fault::SectionKind(kind) => write!(f, "Unknown section kind {kind}"),
            Fault::SequenceLength(length) => {
                write!(f, "a document sequence cannot be {length} bytes long here")
            }
            Fault::Name => f.write_str("a name in the message is not UTF-8"),
            Fault::DuplicateSequence(name) => write!(f, "Duplicate document sequence: {name}"),
            Fault::SequenceInBody(name) => {
                write!(f, "Duplicate field between body and document sequence {name}")
            }
            Fault::Document(error) => f.write_str(error.message()),
        }
    }
}

impl std::error::Error for Fault {}
