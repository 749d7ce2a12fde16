//! One client connection. It never retries, so that what was acknowledged is known
//! exactly.

use bson::{Document, doc};
use freeboard_tests::process::Process;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const OP_MSG: i32 = 2013;
const HEADER_BYTES: usize = 16;
/// A server that takes longer than this hangs.
const REPLY_TIMEOUT: Duration = Duration::from_secs(120);

pub struct Connection {
    stream: TcpStream,
}

/// The server is gone, and what became of the command is not known.
#[derive(Debug)]
pub struct Gone;

pub type Answer<T = Document> = Result<T, Gone>;

impl Connection {
    pub fn to(server: &Process) -> Connection {
        let stream = TcpStream::connect(&server.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(REPLY_TIMEOUT)).unwrap();
        Connection { stream }
    }

    /// Runs a command that must succeed.
    pub fn run(&mut self, database: &str, command: Document) -> Answer {
        let shown = shorten(&command);
        let reply = self.send(database, command)?;
        let failed = !matches!(reply.get_f64("ok"), Ok(1.0)) || reply.contains_key("writeErrors");
        assert!(!failed, "{shown} was answered with {reply}");
        Ok(reply)
    }

    /// Runs a command, whatever it answers.
    pub fn send(&mut self, database: &str, mut command: Document) -> Answer {
        command.insert("$db", database);
        let body = command.to_vec().unwrap();
        let length = HEADER_BYTES + 5 + body.len();
        let mut message = Vec::with_capacity(length);
        for number in [length as i32, 1, 0, OP_MSG, 0] {
            message.extend_from_slice(&number.to_le_bytes());
        }
        message.push(0);
        message.extend_from_slice(&body);
        self.stream.write_all(&message).map_err(|_| Gone)?;
        self.receive()
    }

    fn receive(&mut self) -> Answer {
        let mut header = [0; HEADER_BYTES];
        if let Err(error) = self.stream.read_exact(&mut header) {
            assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "the server hangs");
            return Err(Gone);
        }
        let length = i32::from_le_bytes(*header.first_chunk().unwrap());
        let mut rest = vec![0; length as usize - HEADER_BYTES];
        self.stream.read_exact(&mut rest).map_err(|_| Gone)?;
        Ok(Document::from_reader(&rest[5..]).unwrap())
    }

    /// Every document of a collection, by `_id`; none if there is no such collection.
    pub fn all(&mut self, database: &str, collection: &str) -> Vec<Document> {
        let find = doc! { "find": collection, "sort": { "_id": 1 }, "batchSize": 10_000 };
        let mut reply = self.run(database, find).unwrap();
        let mut documents = Vec::new();
        loop {
            let mut cursor = reply.get_document("cursor").unwrap().clone();
            for batch in ["firstBatch", "nextBatch"] {
                if let Some(bson::Bson::Array(batch)) = cursor.remove(batch) {
                    documents
                        .extend(batch.into_iter().map(|one| one.as_document().unwrap().clone()));
                }
            }
            let id = cursor.get_i64("id").unwrap();
            if id == 0 {
                return documents;
            }
            reply = self.run(database, doc! { "getMore": id, "collection": collection }).unwrap();
        }
    }

    /// The names that a listing command gives, sorted.
    pub fn names(&mut self, database: &str, command: Document) -> Vec<String> {
        let reply = self.run(database, command).unwrap();
        let cursor = reply.get_document("cursor").unwrap();
        assert_eq!(cursor.get_i64("id").unwrap(), 0);
        let batch = cursor.get_array("firstBatch").unwrap();
        let name =
            |one: &bson::Bson| one.as_document().unwrap().get_str("name").unwrap().to_owned();
        let mut names: Vec<String> = batch.iter().map(name).collect();
        names.sort();
        names
    }
}

/// A command as a failure shows it.
fn shorten(command: &Document) -> String {
    let shown = command.to_string();
    match shown.char_indices().nth(300) {
        Some((at, _)) => format!("{}…", &shown[..at]),
        None => shown,
    }
}
