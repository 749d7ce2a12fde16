//! One client connection: OP_MSG out, OP_MSG in, nothing added and nothing taken away.
//!
//! The framing is written out here a second time, on purpose: a mistake shared with the server
//! would not show.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, Timestamp};

use crate::Result;

const OP_MSG: i32 = 2013;
const HEADER_BYTES: usize = 16;
const MORE_TO_COME: u32 = 1 << 1;
const EXHAUST_ALLOWED: u32 = 1 << 16;
const REPLY_BYTES_MAX: usize = 48_000_000;
/// Longer than any command waits by itself.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

pub struct Connection {
    stream: TcpStream,
    last_request: i32,
    /// Those of the last reply.
    pub times: Option<Times>,
}

/// The times that end every reply.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub cluster: Timestamp,
    pub operation: Timestamp,
}

/// How a command travels.
#[derive(Debug, Default, Clone, Copy)]
pub struct Manner {
    /// The array of documents goes as a section of its own.
    pub sequence: bool,
    /// Further replies may follow without being asked for.
    pub exhaust: bool,
    /// No reply is wanted.
    pub unacknowledged: bool,
}

impl Connection {
    pub fn open(address: SocketAddr) -> Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
        Ok(Connection { stream, last_request: 0, times: None })
    }

    /// Sends a command and waits for its one reply.
    pub fn command(&mut self, command: &RawDocument) -> Result<RawDocumentBuf> {
        let mut replies = self.converse(command, Manner::default())?;
        replies.pop().ok_or_else(|| "the server sent no reply".into())
    }

    /// Sends a command and takes all its replies: one, none or, when exhaust, several.
    pub fn converse(
        &mut self,
        command: &RawDocument,
        manner: Manner,
    ) -> Result<Vec<RawDocumentBuf>> {
        self.send(command, manner)?;
        if manner.unacknowledged {
            return Ok(Vec::new());
        }
        let mut replies = Vec::new();
        loop {
            let (flags, body) = self.receive()?;
            replies.push(body);
            if flags & MORE_TO_COME == 0 {
                return Ok(replies);
            }
        }
    }

    /// Sends a command; its reply is to be received.
    pub fn send(&mut self, command: &RawDocument, manner: Manner) -> Result<()> {
        self.last_request += 1;
        let message = encode(command, manner, self.last_request)?;
        Ok(self.stream.write_all(&message)?)
    }

    /// The next reply: its flags and its body.
    pub fn receive(&mut self) -> Result<(u32, RawDocumentBuf)> {
        let mut header = [0; HEADER_BYTES];
        self.stream.read_exact(&mut header)?;
        let length = usize::try_from(integer(&header, 0)?)?;
        if !(HEADER_BYTES + 5..=REPLY_BYTES_MAX).contains(&length) {
            return Err(format!("a reply says it has {length} bytes").into());
        }
        if integer(&header, 12)? != OP_MSG {
            return Err(format!("a reply has the opcode {}", integer(&header, 12)?).into());
        }
        let mut rest = vec![0; length - HEADER_BYTES];
        self.stream.read_exact(&mut rest)?;
        let flags = integer(&rest, 0)? as u32;
        if rest.get(4) != Some(&0) {
            return Err("a reply does not begin with its body".into());
        }
        let reply = RawDocumentBuf::from_bytes(rest.split_off(5))?;
        Ok((flags, self.take_times(&reply)?))
    }

    /// A reply without its times, which differ from run to run. Every reply has them, and they
    /// never go back.
    fn take_times(&mut self, reply: &RawDocument) -> Result<RawDocumentBuf> {
        let mut rest = RawDocumentBuf::new();
        let (mut cluster, mut operation) = (None, None);
        for field in reply {
            let (name, value) = field?;
            match (name.as_str(), value) {
                ("$clusterTime", RawBsonRef::Document(time)) => cluster = Some(signed(time)?),
                ("operationTime", RawBsonRef::Timestamp(time)) => operation = Some(time),
                _ => rest.append(name, value),
            }
        }
        let (Some(cluster), Some(operation)) = (cluster, operation) else {
            return Err(format!("a reply without times: {reply:?}").into());
        };
        if operation > cluster || self.times.is_some_and(|before| cluster < before.cluster) {
            return Err(format!("{operation} at {cluster} comes after {:?}", self.times).into());
        }
        self.times = Some(Times { cluster, operation });
        Ok(rest)
    }
}

/// The time of a `$clusterTime` with the signature of a server that has no keys.
fn signed(time: &RawDocument) -> Result<Timestamp> {
    let signature = time.get_document("signature")?;
    if signature.get_binary("hash")?.bytes != [0; 20] || signature.get_i64("keyId")? != 0 {
        return Err(format!("a signature of its own: {time:?}").into());
    }
    Ok(time.get_timestamp("clusterTime")?)
}

fn integer(bytes: &[u8], at: usize) -> Result<i32> {
    let four = bytes.get(at..at + 4).ok_or("a reply is cut short")?;
    Ok(i32::from_le_bytes(four.try_into()?))
}

/// Fields that a driver sends as a section of their own.
const SEQUENCES: [&str; 5] = ["deletes", "documents", "nsInfo", "ops", "updates"];

fn encode(command: &RawDocument, manner: Manner, request: i32) -> Result<Vec<u8>> {
    let mut flags = 0;
    if manner.unacknowledged {
        flags |= MORE_TO_COME;
    }
    if manner.exhaust {
        flags |= EXHAUST_ALLOWED;
    }
    let mut body = RawDocumentBuf::new();
    let mut sections = Vec::new();
    for element in command {
        let (name, value) = element?;
        match value.as_array() {
            Some(documents) if manner.sequence && SEQUENCES.contains(&name.as_str()) => {
                let mut section = name.as_str().as_bytes().to_vec();
                section.push(0);
                for document in documents {
                    let document = document?.as_document().ok_or("a sequence holds documents")?;
                    section.extend_from_slice(document.as_bytes());
                }
                sections.push(1);
                sections.extend_from_slice(&(section.len() as i32 + 4).to_le_bytes());
                sections.extend_from_slice(&section);
            }
            _ => body.append(name, RawBson::from(value)),
        }
    }
    let length = HEADER_BYTES + 4 + 1 + body.as_bytes().len() + sections.len();
    let mut message = Vec::with_capacity(length);
    for number in [length as i32, request, 0, OP_MSG, flags as i32] {
        message.extend_from_slice(&number.to_le_bytes());
    }
    message.push(0);
    message.extend_from_slice(body.as_bytes());
    message.extend_from_slice(&sections);
    Ok(message)
}
