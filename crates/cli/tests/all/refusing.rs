//! A server that shakes hands and refuses everything else.

use bson::{RawDocumentBuf, doc};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// Refuses with a code and a message.
pub fn refuse_everything(code: i32, why: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || refuse(stream, code, why));
        }
    });
    address
}

fn refuse(mut stream: TcpStream, code: i32, why: &str) -> io::Result<()> {
    loop {
        let mut head = [0; 16];
        stream.read_exact(&mut head)?;
        let word = |at: usize| u32::from_le_bytes(*head[at..].first_chunk().unwrap());
        let mut rest = vec![0; word(0) as usize - head.len()];
        stream.read_exact(&mut rest)?;
        let shakes = [&b"hello\0"[..], b"isMaster\0", b"ismaster\0"];
        let hello = shakes.iter().any(|word| rest.windows(word.len()).any(|it| it == *word));
        let reply = match hello {
            true => doc! {
                "ok": 1.0, "helloOk": true, "ismaster": true, "isWritablePrimary": true,
                "minWireVersion": 0, "maxWireVersion": 21, "maxBsonObjectSize": 16 << 20,
                "maxMessageSizeBytes": 48_000_000, "maxWriteBatchSize": 100_000,
            },
            false => doc! { "ok": 0.0, "code": code, "errmsg": why },
        };
        let body = RawDocumentBuf::try_from(&reply).unwrap().into_bytes();
        // An old handshake is answered in the old form.
        let legacy = word(12) == 2004;
        let before: Vec<u8> = match legacy {
            true => [8_u32.to_le_bytes(), [0; 4], [0; 4], [0; 4], 1_u32.to_le_bytes()].concat(),
            false => vec![0; 5],
        };
        let length = (head.len() + before.len() + body.len()) as u32;
        let operation = if legacy { 1_u32 } else { 2013 };
        let head = [length, 0, word(4), operation].map(u32::to_le_bytes).concat();
        stream.write_all(&[head, before, body].concat())?;
    }
}
