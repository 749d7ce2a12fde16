//! The life of one connection: read a message, run its command, write the
//! reply, until the client goes or the server stops.

use crate::answer::Answer;
use crate::counters;
use crate::frames::{End, Frame, Frames, Refused};
use crate::limits::LARGE_MESSAGE_BYTES;
use crate::session::Session;
use crate::stream::Stream;
use crate::{Backend, limits, shared::Shared};
use budget::{Held, Kind};
use bytes::Bytes;
use command::{Client, Request};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tracing::{debug, info, warn};
use wire::{Content, Envelope, Fault, Header, Incoming, Msg, Opcode, Outgoing};

/// What a browser on the port of drivers gets to see.
const HTTP_ANSWER: &[u8] = b"HTTP/1.0 400 Bad Request\r\nConnection: close\r\n\
    Content-Type: text/plain\r\n\r\n\
    This port is for MongoDB drivers; HTTP is on the port of --http.\r\n";

pub(crate) struct Connection<B> {
    pub backend: Arc<B>,
    pub session: Session,
    stream: Stream,
    frames: Frames,
    /// Numbers the replies.
    next_id: i32,
}

/// How an answered message was sent.
struct Route {
    request_id: i32,
    envelope: Envelope,
    /// The client waits for no reply.
    silent: bool,
}

impl<B: Backend> Connection<B> {
    pub fn new(stream: TcpStream, client: Client, backend: Arc<B>, stall_max: Duration) -> Self {
        let stream = Stream::new(stream, stall_max);
        let client = Client { presence: Some(stream.presence()), ..client };
        Connection {
            backend,
            session: Session::new(client),
            stream,
            frames: Frames::new(stall_max),
            next_id: 1,
        }
    }

    /// Until the first bytes come this future is all a connection costs, so the
    /// state of running commands is kept apart from it.
    pub async fn serve(mut self, shared: Arc<Shared>) {
        let address = self.session.client.address;
        let _open = counters::Held::new(&shared.counters.connections);
        let mut first = [0; 1];
        tokio::select! {
            // Looking is surer than `readable`, which a new socket is said to be.
            looked = self.stream.reader.peek(&mut first) => {
                if matches!(looked, Ok(1..)) {
                    Box::pin(self.talk(&shared)).await;
                }
            }
            () = shared.stop.cancelled() => {}
            () = tokio::time::sleep(limits::FIRST_MESSAGE_WAIT_MAX) => {
                info!("closed {address}: it said nothing");
            }
        }
    }

    async fn talk(mut self, shared: &Shared) {
        let address = self.session.client.address;
        let Err(end) = self.messages(shared).await else { return };
        match end {
            End::Closed => {}
            End::Io(error) => debug!("lost {address}: {error}"),
            End::Fault(fault) => {
                warn!("closed {address}: {fault}");
                if fault == Fault::Http {
                    // It goes as it came: one who does not read it is closed all the same.
                    let _ = self.stream.write_all(HTTP_ANSWER).await;
                }
            }
            End::Stalled => warn!("closed {address}: a message began and came too slowly"),
            End::Unread => warn!("closed {address}: a reply was read too slowly"),
        }
    }

    async fn messages(&mut self, shared: &Shared) -> Result<(), End> {
        // Of its own, so that connections do not meet at one lock.
        let stop = shared.stop.child_token();
        while !stop.is_cancelled() {
            let frame = tokio::select! {
                biased;
                frame = self.frames.next(&mut self.stream.reader) => frame?,
                () = stop.cancelled() => return Ok(()),
            };
            match frame {
                Frame::Whole(frame) => self.message(shared, frame).await?,
                Frame::Refused(refused) => self.refuse(shared, refused).await?,
            }
            // A client that sends ahead keeps nobody else waiting.
            if turn::is_over() {
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    async fn message(&mut self, shared: &Shared, frame: Bytes) -> Result<(), End> {
        let counters = &shared.counters;
        counters.bytes_in.add(frame.len());
        counters.requests.add(1);
        let mut unpacked = Held::new(Kind::Traffic);
        if let Err(error) = unpacked.resize(wire::unpacked_bytes(&frame)) {
            return match frame.first_chunk().map(Header::parse) {
                Some(Ok(header)) => {
                    self.refuse(shared, Refused { header, wants_reply: None, error }).await
                }
                _ => Err(End::Fault(Fault::Truncated)),
            };
        }
        let Incoming { request_id, envelope, more_to_come, content } =
            decode(shared, frame).await.map_err(End::Fault)?;
        let route = Route { request_id, envelope, silent: more_to_come };
        match content {
            Ok(Content::Msg(msg)) => self.msg(shared, msg, route).await,
            Ok(Content::Query(query)) => {
                let reply = self.query(shared, query, request_id).await?;
                self.write(shared, reply, None).await
            }
            Err(fault) => {
                warn!("refused a message of {}: {fault}", self.session.client.address);
                let answer = self.refusal(&fault.to_error());
                self.reply(shared, &route, request_id, answer, false).await.map(|_| ())
            }
        }
    }

    /// Answers a message for which there was no room. Where nobody knows whether its sender
    /// waits for a reply, the connection ends with it.
    async fn refuse(&mut self, shared: &Shared, refused: Refused) -> Result<(), End> {
        let Refused { header, wants_reply, error } = refused;
        shared.counters.user_asserts.add(1);
        debug!("refused a message of {}: {error}", self.session.client.address);
        let (id, body) = (self.reply_id(), self.refusal(&error).body);
        let reply = match Opcode::from_number(header.opcode) {
            _ if wants_reply == Some(false) => return Ok(()),
            Some(Opcode::Query) => Outgoing::reply(id, header.request_id, body),
            _ => Outgoing::msg(Envelope::default(), id, header.request_id, false, body),
        };
        self.write(shared, reply, None).await?;
        wants_reply.map(|_| ()).ok_or(End::Closed)
    }

    /// Runs a command, again and again where the client lets the server stream.
    async fn msg(&mut self, shared: &Shared, msg: Msg, route: Route) -> Result<(), End> {
        let mut request = request(msg.body, msg.sequences);
        let mut response_to = route.request_id;
        // A client that waits for no reply is sent no stream of them.
        let exhaust = msg.exhaust_allowed && !route.silent;
        let _streaming = (exhaust && request.name() == "hello")
            .then(|| counters::Held::new(&shared.counters.exhaust_hello));
        loop {
            let mut answer = self.answer(shared, request, exhaust).await?;
            let next = answer.next.take_if(|_| !shared.stop.is_cancelled());
            response_to = self.reply(shared, &route, response_to, answer, next.is_some()).await?;
            match next {
                Some(next) => request = next,
                None => return Ok(()),
            }
            if turn::is_over() {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Waits for `time`, or until the server stops. Ends if the client does.
    pub async fn pause(&mut self, shared: &Shared, time: Duration) -> Result<(), End> {
        let wait = async {
            tokio::select! {
                () = tokio::time::sleep(time) => {}
                () = shared.stop.cancelled() => {}
            }
        };
        tokio::pin!(wait);
        tokio::select! {
            () = &mut wait => return Ok(()),
            changed = self.frames.changed(&mut self.stream.reader) => changed?,
        }
        // It sent the next command already; that one waits its turn.
        wait.await;
        Ok(())
    }

    /// Writes a reply, unless the client waits for none, and returns its number.
    async fn reply(
        &mut self,
        shared: &Shared,
        route: &Route,
        to: i32,
        answer: Answer,
        more: bool,
    ) -> Result<i32, End> {
        let id = self.reply_id();
        if !route.silent {
            let large = !route.envelope.is_plain() && answer.body.len() >= LARGE_MESSAGE_BYTES;
            let encode = || Outgoing::msg(route.envelope, id, to, more, answer.body);
            let outgoing = if large { turn::aside(encode) } else { encode() };
            self.write(shared, outgoing, answer.held).await?;
        }
        Ok(id)
    }

    pub fn reply_id(&mut self) -> i32 {
        let id = self.next_id;
        self.next_id = id.checked_add(1).unwrap_or(1);
        id
    }

    /// Writes a reply. What was reserved for it stays so until it is read.
    async fn write(
        &mut self,
        shared: &Shared,
        outgoing: Outgoing,
        reserved: Option<Arc<Held>>,
    ) -> Result<(), End> {
        shared.counters.bytes_out.add(outgoing.len());
        let mut held = Held::new(Kind::Traffic);
        if reserved.is_none() {
            held.force(outgoing.len());
        }
        self.stream.write_all(outgoing.buf()).await
    }
}

/// A large message is checked aside, and few of them at once: it costs the client nothing to
/// send one, before any login.
async fn decode(shared: &Shared, frame: Bytes) -> Result<Incoming, Fault> {
    if wire::plain_bytes(&frame) < LARGE_MESSAGE_BYTES {
        return wire::decode(frame);
    }
    // It is never closed.
    let _permit = shared.decoding.acquire().await;
    turn::aside(|| wire::decode(frame))
}

fn request(body: Bytes, sequences: Vec<wire::Sequence>) -> Request {
    let sequences = sequences
        .into_iter()
        .map(|sequence| command::Sequence { name: sequence.name, documents: sequence.documents })
        .collect();
    Request::new(body, sequences)
}
