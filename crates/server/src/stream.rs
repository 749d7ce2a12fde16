//! The socket of a connection: its task reads and writes, and others may look whether the
//! client is still there while a command runs.

use crate::frames::End;
use crate::pace::Pace;
use bytes::Buf;
use command::Presence;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, IoSlice};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// Pieces that are written in one go.
const SLICES_MAX: usize = 16;

#[derive(Debug)]
pub(crate) struct Stream {
    pub reader: OwnedReadHalf,
    writer: Arc<Writer>,
    /// How long a reply may lie unread.
    stall_max: Duration,
}

#[derive(Debug)]
struct Writer(OwnedWriteHalf);

impl Stream {
    pub fn new(stream: TcpStream, stall_max: Duration) -> Stream {
        let (reader, writer) = stream.into_split();
        Stream { reader, writer: Arc::new(Writer(writer)), stall_max }
    }

    /// What tells whether the client is there, as long as the connection is.
    pub fn presence(&self) -> Weak<dyn Presence> {
        let writer: Weak<Writer> = Arc::downgrade(&self.writer);
        writer
    }

    /// Writes all of a reply, as fast as it is read.
    pub async fn write_all(&self, mut bytes: impl Buf) -> Result<(), End> {
        let writer = &self.writer.0;
        let mut pace: Option<Pace> = None;
        while bytes.has_remaining() {
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let count = bytes.chunks_vectored(&mut slices);
            match writer.try_write_vectored(&slices[..count]) {
                Ok(0) => return Err(End::Io(io::ErrorKind::WriteZero.into())),
                Ok(written) => {
                    bytes.advance(written);
                    if let Some(pace) = &mut pace {
                        pace.advance(written);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let deadline =
                        pace.get_or_insert_with(|| Pace::begin(self.stall_max)).deadline();
                    let writable = tokio::time::timeout_at(deadline, writer.writable()).await;
                    writable.map_err(|_| End::Unread)?.map_err(End::Io)?;
                }
                Err(error) => return Err(End::Io(error)),
            }
        }
        Ok(())
    }
}

impl Presence for Writer {
    /// Looks once and does not wait. What the client sent before it went is no sign of it.
    fn is_there(&self) -> bool {
        let stream: &TcpStream = self.0.as_ref();
        let mut looked = [PollFd::new(stream, PollFlags::RDHUP)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let closed = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        match poll(&mut looked, Some(&now)) {
            Ok(_) => !looked.iter().any(|socket| socket.revents().intersects(closed)),
            // Interrupted by a signal: the next look decides.
            Err(_) => true,
        }
    }
}
