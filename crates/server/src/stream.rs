//! The socket of a connection: its task reads and writes, and others may look whether the
//! client is still there while a command runs.

use bytes::Buf;
use command::Presence;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// Pieces that are written in one go.
const SLICES_MAX: usize = 16;

#[derive(Debug)]
pub(crate) struct Stream {
    pub reader: OwnedReadHalf,
    writer: Arc<Writer>,
}

#[derive(Debug)]
struct Writer(OwnedWriteHalf);

impl Stream {
    pub fn new(stream: TcpStream) -> Stream {
        let (reader, writer) = stream.into_split();
        Stream { reader, writer: Arc::new(Writer(writer)) }
    }

    /// What tells whether the client is there, as long as the connection is.
    pub fn presence(&self) -> Weak<dyn Presence> {
        let writer: Weak<Writer> = Arc::downgrade(&self.writer);
        writer
    }

    pub async fn write_all(&self, mut bytes: impl Buf) -> io::Result<()> {
        let writer = &self.writer.0;
        while bytes.has_remaining() {
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let count = bytes.chunks_vectored(&mut slices);
            match writer.try_write_vectored(&slices[..count]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes.advance(written),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    writer.writable().await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Presence for Writer {
    /// Looks once and does not wait. A client that has sent more before it went counts as
    /// there.
    fn is_there(&self) -> bool {
        let mut byte = [0];
        let stream: &TcpStream = self.0.as_ref();
        let look = pin!(stream.peek(&mut byte));
        let looked = look.poll(&mut Context::from_waker(Waker::noop()));
        !matches!(looked, Poll::Ready(Ok(0) | Err(_)))
    }
}
