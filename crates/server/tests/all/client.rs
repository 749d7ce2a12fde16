//! A client that sends what it is told to, sound or not.

use crate::probe::Probe;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use bytes::Bytes;
use server::{Options, Running};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wire::{Content, Envelope, Header, Incoming, Msg};

/// Longer than anything here takes, so that a hang fails and does not hang.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Client {
    pub stream: TcpStream,
    next_id: i32,
}

/// A reply as it came.
pub struct Reply {
    pub length: usize,
    pub request_id: i32,
    pub response_to: i32,
    /// Those of an OP_REPLY.
    pub flags: u32,
    pub more_to_come: bool,
    pub envelope: Envelope,
    pub body: RawDocumentBuf,
}

pub async fn start() -> Running {
    start_with(|_| {}).await
}

pub async fn start_with(change: impl FnOnce(&mut Options)) -> Running {
    let mut options = Options::local();
    change(&mut options);
    server::bind(options).await.unwrap().serve(Probe::default())
}

impl Client {
    pub async fn connect(server: &Running) -> Client {
        Client { stream: TcpStream::connect(server.address).await.unwrap(), next_id: 1 }
    }

    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// Sends an OP_MSG and returns its number.
    pub async fn send(&mut self, msg: &Msg, more_to_come: bool, envelope: Envelope) -> i32 {
        let id = self.next_id;
        self.next_id += 1;
        let frame = wire::encode(msg, id, more_to_come, envelope).unwrap();
        self.send_bytes(&frame).await;
        id
    }

    pub async fn receive(&mut self) -> Reply {
        self.try_receive().await.expect("the server closed the connection")
    }

    /// `None` if the server closed the connection.
    pub async fn try_receive(&mut self) -> Option<Reply> {
        tokio::time::timeout(PATIENCE, self.read()).await.expect("no reply came")
    }

    /// Runs a command on `admin` and returns the body of its reply.
    pub async fn run(&mut self, mut command: RawDocumentBuf) -> RawDocumentBuf {
        command.append(bson::cstr!("$db"), "admin");
        let id = self.send(&msg(command), false, Envelope::default()).await;
        let reply = self.receive().await;
        assert_eq!(reply.response_to, id);
        assert!(!reply.more_to_come);
        reply.body
    }

    /// Runs a command that fails, and returns the code.
    pub async fn code(&mut self, command: RawDocumentBuf) -> i32 {
        let reply = self.run(command).await;
        code(&reply)
    }

    pub async fn ping(&mut self) {
        assert_eq!(self.run(rawdoc! { "ping": 1 }).await, rawdoc! { "ok": 1.0 });
    }

    pub async fn assert_closed(&mut self) {
        assert!(self.try_receive().await.is_none(), "the connection is open");
    }

    async fn read(&mut self) -> Option<Reply> {
        let mut header = [0; 16];
        // A reset is a way to close, too.
        self.stream.read_exact(&mut header).await.ok()?;
        let Header { length, response_to, opcode, .. } = Header::parse(&header).unwrap();
        let mut frame = header.to_vec();
        frame.resize(length, 0);
        self.stream.read_exact(&mut frame[16..]).await.ok()?;
        if opcode == 1 {
            return Some(legacy(frame, response_to));
        }
        let Incoming { request_id, envelope, more_to_come, content } =
            wire::decode(frame.into()).unwrap();
        let Ok(Content::Msg(msg)) = content else { panic!("not an OP_MSG") };
        let body = RawDocumentBuf::from_bytes(msg.body.to_vec()).unwrap();
        Some(Reply { length, request_id, response_to, flags: 0, more_to_come, envelope, body })
    }
}

fn legacy(frame: Vec<u8>, response_to: i32) -> Reply {
    let body = RawDocumentBuf::from_bytes(frame[36..].to_vec()).unwrap();
    Reply {
        length: frame.len(),
        request_id: 0,
        response_to,
        flags: u32::from_le_bytes(frame[16..20].try_into().unwrap()),
        more_to_come: false,
        envelope: Envelope::default(),
        body,
    }
}

pub fn msg(body: RawDocumentBuf) -> Msg {
    Msg { exhaust_allowed: false, body: Bytes::from(body.into_bytes()), sequences: Vec::new() }
}

pub fn code(reply: &RawDocument) -> i32 {
    assert_eq!(reply.get_f64("ok").unwrap(), 0.0, "{reply:?}");
    reply.get_i32("code").unwrap()
}

pub fn keys(document: &RawDocument) -> Vec<String> {
    document.iter().map(|field| field.unwrap().0.to_string()).collect()
}

pub fn value<'a>(document: &'a RawDocument, name: &str) -> RawBsonRef<'a> {
    document.get(name).unwrap().unwrap_or_else(|| panic!("no {name} in {document:?}"))
}
