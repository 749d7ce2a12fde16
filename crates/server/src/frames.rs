//! Frames off a stream.
//!
//! A connection that talks keeps a small buffer. While the frame of the last
//! command is gone by the time the next comes, as is usual, the same memory is
//! used again. A larger message reserves its room as it arrives; one for which
//! there is none is read to its end, kept nowhere, and answered with an error.

use crate::limits::{BUFFER_KEPT_BYTES_MAX, READ_AHEAD_BYTES_MAX, READ_BYTES};
use crate::pace::Pace;
use budget::{Held, Kind};
use bytes::{BufMut, Bytes, BytesMut};
use error::Error;
use std::io;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::tcp::OwnedReadHalf;
use wire::{Fault, Header};

#[derive(Debug)]
pub(crate) struct Frames {
    buffer: BytesMut,
    /// Length of the last frame: what this client has shown that it sends.
    last: usize,
    /// What the buffer takes of the budget.
    held: Held,
    stall_max: Duration,
    /// Of the message that has begun.
    pace: Option<Pace>,
    /// The message that is being skipped.
    skipped: Option<Skipped>,
}

/// A message as it came.
#[derive(Debug)]
pub(crate) enum Frame {
    Whole(Bytes),
    Refused(Refused),
}

/// A message for which there was no room.
#[derive(Debug)]
pub(crate) struct Refused {
    pub header: Header,
    /// Whether its sender waits for a reply, where that is known.
    pub wants_reply: Option<bool>,
    pub error: Error,
}

#[derive(Debug)]
struct Skipped {
    refused: Refused,
    left: usize,
}

/// Why there is no next frame.
#[derive(Debug)]
pub(crate) enum End {
    /// The client closed the connection between messages.
    Closed,
    Io(io::Error),
    Fault(Fault),
    /// A message began and did not go on, or too slowly.
    Stalled,
    /// A reply was not read, or too slowly.
    Unread,
}

impl Frames {
    /// A message that has begun must go on within a time.
    pub fn new(stall_max: Duration) -> Frames {
        Frames {
            buffer: BytesMut::new(),
            last: 0,
            held: Held::new(Kind::Traffic),
            stall_max,
            pace: None,
            skipped: None,
        }
    }

    /// The next whole message. Dropping the future loses nothing.
    pub async fn next(&mut self, stream: &mut OwnedReadHalf) -> Result<Frame, End> {
        self.give_back();
        // What came ahead of its turn has had to wait.
        self.pace = None;
        loop {
            if let Some(skipped) = self.skipped.take_if(|skipped| skipped.left == 0) {
                return Ok(Frame::Refused(skipped.refused));
            }
            if self.skipped.is_some() {
                self.skip_some(stream).await?;
                continue;
            }
            match self.buffer.first_chunk() {
                Some(header) => {
                    let header = Header::parse(header).map_err(End::Fault)?;
                    let missing = header.length.saturating_sub(self.buffer.len());
                    if missing == 0 {
                        self.last = header.length;
                        return Ok(Frame::Whole(self.buffer.split_to(header.length).freeze()));
                    }
                    if let Err(error) = self.make_room(missing) {
                        self.skip(header, error);
                        continue;
                    }
                }
                None => self.buffer.reserve(READ_BYTES),
            }
            self.read(stream).await?;
        }
    }

    /// Reads a little of a message that nobody keeps.
    async fn skip_some(&mut self, stream: &mut OwnedReadHalf) -> Result<(), End> {
        let Some(skipped) = &mut self.skipped else { return Ok(()) };
        self.buffer.reserve(BUFFER_KEPT_BYTES_MAX);
        let mut room = (&mut self.buffer).limit(skipped.left);
        let pace = self.pace.get_or_insert_with(|| Pace::begin(self.stall_max));
        skipped.left -= paced(stream.read_buf(&mut room), Some(pace)).await?;
        self.buffer.clear();
        Ok(())
    }

    /// Waits until the client closes the connection or sends more.
    pub async fn changed(&mut self, stream: &mut OwnedReadHalf) -> Result<(), End> {
        self.buffer.reserve(READ_BYTES);
        self.read(stream).await
    }

    async fn read(&mut self, stream: &mut OwnedReadHalf) -> Result<(), End> {
        let begun = !self.buffer.is_empty();
        let stall_max = self.stall_max;
        let pace = begun.then(|| self.pace.get_or_insert_with(|| Pace::begin(stall_max)));
        paced(stream.read_buf(&mut self.buffer), pace).await.map(|_| ())
    }

    /// Makes room for what comes next of a message. As much comes as is free without a
    /// reservation, whatever the budget says.
    fn make_room(&mut self, missing: usize) -> Result<(), Error> {
        let length = self.buffer.len();
        let ahead = READ_AHEAD_BYTES_MAX.max(self.last).max(length);
        let mut more = missing.min(ahead);
        if (length + more) as u64 > self.held.bytes()
            && let Err(error) = self.held.resize(length + more)
        {
            let free = BUFFER_KEPT_BYTES_MAX.saturating_sub(length);
            if free == 0 {
                return Err(error);
            }
            more = more.min(free);
        }
        self.buffer.reserve(more);
        Ok(())
    }

    /// Lets go of a message that has begun; what is still to come of it is thrown away.
    fn skip(&mut self, header: Header, error: Error) {
        let wants_reply = wire::wants_reply(&self.buffer);
        let left = header.length - self.buffer.len();
        self.skipped = Some(Skipped { refused: Refused { header, wants_reply, error }, left });
        self.buffer = BytesMut::new();
        self.last = 0;
        self.held.clear();
    }

    fn give_back(&mut self) {
        if self.last > BUFFER_KEPT_BYTES_MAX && self.buffer.is_empty() {
            self.buffer = BytesMut::new();
            self.held.clear();
        }
    }
}

/// Reads some bytes: of a message that has begun, where there is a pace, or of the next.
async fn paced(
    read: impl Future<Output = io::Result<usize>>,
    pace: Option<&mut Pace>,
) -> Result<usize, End> {
    let begun = pace.is_some();
    let count = match pace {
        Some(pace) => {
            let read = tokio::time::timeout_at(pace.deadline(), read);
            let count = read.await.map_err(|_| End::Stalled)?;
            pace.advance(*count.as_ref().unwrap_or(&0));
            count
        }
        None => read.await,
    };
    match count {
        Ok(0) if begun => Err(End::Io(io::ErrorKind::UnexpectedEof.into())),
        Ok(0) => Err(End::Closed),
        Ok(count) => Ok(count),
        Err(error) => Err(End::Io(error)),
    }
}
