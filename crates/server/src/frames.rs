//! Frames off a stream.
//!
//! A connection that talks keeps a small buffer. While the frame of the last
//! command is gone by the time the next comes, as is usual, the same memory is
//! used again.

use crate::limits::{BUFFER_KEPT_BYTES_MAX, MESSAGE_STALL_MAX, READ_AHEAD_BYTES_MAX, READ_BYTES};
use bytes::{Bytes, BytesMut};
use std::io;
use tokio::io::AsyncReadExt;
use tokio::net::tcp::OwnedReadHalf;
use wire::{Fault, Header};

#[derive(Debug, Default)]
pub(crate) struct Frames {
    buffer: BytesMut,
    /// Length of the last frame: what this client has shown that it sends.
    last: usize,
}

/// Why there is no next frame.
#[derive(Debug)]
pub(crate) enum End {
    /// The client closed the connection between messages.
    Closed,
    Io(io::Error),
    Fault(Fault),
    /// A message began and did not go on.
    Stalled,
}

impl Frames {
    /// The next whole message. Dropping the future loses nothing.
    pub async fn next(&mut self, stream: &mut OwnedReadHalf) -> Result<Bytes, End> {
        self.give_back();
        loop {
            let missing = match self.buffer.first_chunk() {
                Some(header) => {
                    let header = Header::parse(header).map_err(End::Fault)?;
                    if let Some(missing) = header.length.checked_sub(self.buffer.len())
                        && missing > 0
                    {
                        missing
                    } else {
                        self.last = header.length;
                        return Ok(self.buffer.split_to(header.length).freeze());
                    }
                }
                None => READ_BYTES,
            };
            self.read(stream, missing).await?;
        }
    }

    /// Waits until the client closes the connection or sends more.
    pub async fn changed(&mut self, stream: &mut OwnedReadHalf) -> Result<(), End> {
        self.read(stream, READ_BYTES).await
    }

    async fn read(&mut self, stream: &mut OwnedReadHalf, missing: usize) -> Result<(), End> {
        let ahead = READ_AHEAD_BYTES_MAX.max(self.last).max(self.buffer.len());
        self.buffer.reserve(missing.min(ahead));
        let begun = !self.buffer.is_empty();
        let read = stream.read_buf(&mut self.buffer);
        let count = if begun {
            tokio::time::timeout(MESSAGE_STALL_MAX, read).await.map_err(|_| End::Stalled)?
        } else {
            read.await
        };
        match count {
            Ok(0) if begun => Err(End::Io(io::ErrorKind::UnexpectedEof.into())),
            Ok(0) => Err(End::Closed),
            Ok(_) => Ok(()),
            Err(error) => Err(End::Io(error)),
        }
    }

    fn give_back(&mut self) {
        if self.last > BUFFER_KEPT_BYTES_MAX && self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
    }
}
