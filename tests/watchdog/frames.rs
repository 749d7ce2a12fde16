//! Clients that send what they like and need not listen.

use bson::{Document, RawDocumentBuf};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;
use wire::{Compressor, Envelope, Msg};

const HEADER_BYTES: usize = 16;
const REPLY_TIMEOUT: Duration = Duration::from_secs(120);

pub type Frame = Vec<u8>;

/// A command as a driver sends it.
pub fn command(command: Document) -> Frame {
    encode(command, false, false, Envelope::default())
}

/// The same of a command that is encoded already; nothing if it fills more than a message.
pub fn raw(command: &RawDocumentBuf) -> Option<Frame> {
    encode_raw(command.clone(), false, false, Envelope::default())
}

/// The same command in one of several databases.
pub fn in_database(command: &RawDocumentBuf, place: usize) -> RawDocumentBuf {
    let mut moved = RawDocumentBuf::new();
    for field in command {
        let (name, value) = field.unwrap();
        match name.as_str() {
            "$db" => moved.append(name, format!("cost{place}")),
            _ => moved.append(name, value),
        }
    }
    moved
}

/// A command that lets the server stream its replies.
pub fn exhaust(command: Document, more_to_come: bool) -> Frame {
    encode(command, true, more_to_come, Envelope::default())
}

pub fn compressed(command: Document) -> Frame {
    let envelope = Envelope { compressor: Some(Compressor::Zstd), checksum: false };
    encode(command, false, false, envelope)
}

fn encode(command: Document, exhaust: bool, more_to_come: bool, envelope: Envelope) -> Frame {
    let command = RawDocumentBuf::try_from(&command).unwrap();
    encode_raw(command, exhaust, more_to_come, envelope).expect("a message that is not too long")
}

fn encode_raw(
    command: RawDocumentBuf,
    exhaust: bool,
    more_to_come: bool,
    envelope: Envelope,
) -> Option<Frame> {
    let body = command.into_bytes().into();
    let msg = Msg { exhaust_allowed: exhaust, body, sequences: Vec::new() };
    wire::encode(&msg, 1, more_to_come, envelope)
}

pub struct Client {
    stream: TcpStream,
}

impl Client {
    pub fn connect(address: &str) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(REPLY_TIMEOUT)).unwrap();
        Client { stream }
    }

    /// Sends frames from a thread of its own, since the server need not read them all, and
    /// reads what comes back, unless it is dropped first.
    pub fn send_from_aside(address: &str, frames: Vec<Frame>) -> Client {
        let client = Client::connect(address);
        let mut writer = client.stream.try_clone().unwrap();
        // Both end when the client is dropped, which shuts the socket down.
        thread::spawn(move || frames.iter().all(|frame| writer.write_all(frame).is_ok()));
        client
    }

    pub fn write(&mut self, frame: &Frame) {
        self.stream.write_all(frame).unwrap();
    }

    pub fn run(&mut self, document: Document) -> Document {
        self.run_raw(&RawDocumentBuf::try_from(&document).unwrap())
    }

    pub fn run_raw(&mut self, document: &RawDocumentBuf) -> Document {
        self.write(&raw(document).expect("a message that is not too long"));
        let mut header = [0; HEADER_BYTES];
        self.stream.read_exact(&mut header).unwrap();
        let length = i32::from_le_bytes(*header.first_chunk().unwrap());
        let mut rest = vec![0; length as usize - HEADER_BYTES];
        self.stream.read_exact(&mut rest).unwrap();
        Document::from_reader(&rest[5..]).unwrap()
    }

    /// Runs a command that must succeed.
    pub fn succeed(&mut self, document: Document) {
        let shown: String = document.to_string().chars().take(200).collect();
        let reply = self.run(document);
        let failed = !matches!(reply.get_f64("ok"), Ok(1.0)) || reply.contains_key("writeErrors");
        assert!(!failed, "{shown} was answered with {reply}");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
