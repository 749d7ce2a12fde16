//! The life of one connection: read a message, run its command, write the
//! reply, until the client goes or the server stops.

use crate::answer::Answer;
use crate::counters::Held;
use crate::frames::{End, Frames};
use crate::session::Session;
use crate::stream::Stream;
use crate::{Backend, limits, shared::Shared};
use bytes::Bytes;
use command::{Client, Request};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tracing::{debug, info, warn};
use wire::{Content, Envelope, Incoming, Msg, Outgoing};

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
    pub fn new(stream: TcpStream, client: Client, backend: Arc<B>) -> Self {
        let stream = Stream::new(stream);
        let client = Client { presence: Some(stream.presence()), ..client };
        Connection {
            backend,
            session: Session::new(client),
            stream,
            frames: Frames::default(),
            next_id: 1,
        }
    }

    /// Until the first bytes come this future is all a connection costs, so the
    /// state of running commands is kept apart from it.
    pub async fn serve(mut self, shared: Arc<Shared>) {
        let address = self.session.client.address;
        let _open = Held::new(&shared.counters.connections);
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
            End::Fault(fault) => warn!("closed {address}: {fault}"),
            End::Stalled => warn!("closed {address}: a message began and did not go on"),
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
            self.message(shared, frame).await?;
        }
        Ok(())
    }

    async fn message(&mut self, shared: &Shared, frame: Bytes) -> Result<(), End> {
        let counters = &shared.counters;
        counters.bytes_in.add(frame.len());
        counters.requests.add(1);
        let Incoming { request_id, envelope, more_to_come, content } =
            wire::decode(frame).map_err(End::Fault)?;
        let route = Route { request_id, envelope, silent: more_to_come };
        match content {
            Ok(Content::Msg(msg)) => self.msg(shared, msg, route).await,
            Ok(Content::Query(query)) => {
                let answer = self.query(shared, query).await?;
                let id = self.reply_id();
                self.write(shared, Outgoing::reply(id, request_id, answer.body)).await
            }
            Err(fault) => {
                warn!("refused a message of {}: {fault}", self.session.client.address);
                let answer = Answer::error(&fault.to_error());
                self.reply(shared, &route, request_id, answer).await.map(|_| ())
            }
        }
    }

    /// Runs a command, again and again where the client lets the server stream.
    async fn msg(&mut self, shared: &Shared, msg: Msg, route: Route) -> Result<(), End> {
        let mut request = request(msg.body, msg.sequences);
        let mut response_to = route.request_id;
        let again = msg.exhaust_allowed.then(|| request.clone());
        let _streaming = (msg.exhaust_allowed && request.name() == "hello")
            .then(|| Held::new(&shared.counters.exhaust_hello));
        loop {
            let answer = self.answer(shared, request, msg.exhaust_allowed).await?;
            let more = answer.more;
            response_to = self.reply(shared, &route, response_to, answer).await?;
            match &again {
                Some(again) if more && !shared.stop.is_cancelled() => request = again.clone(),
                _ => return Ok(()),
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
    ) -> Result<i32, End> {
        let id = self.reply_id();
        if !route.silent {
            let Answer { body, more } = answer;
            self.write(shared, Outgoing::msg(route.envelope, id, to, more, body)).await?;
        }
        Ok(id)
    }

    fn reply_id(&mut self) -> i32 {
        let id = self.next_id;
        self.next_id = id.checked_add(1).unwrap_or(1);
        id
    }

    async fn write(&mut self, shared: &Shared, outgoing: Outgoing) -> Result<(), End> {
        shared.counters.bytes_out.add(outgoing.len());
        self.stream.write_all(outgoing.buf()).await.map_err(End::Io)
    }
}

fn request(body: Bytes, sequences: Vec<wire::Sequence>) -> Request {
    let sequences = sequences
        .into_iter()
        .map(|sequence| command::Sequence { name: sequence.name, documents: sequence.documents })
        .collect();
    Request::new(body, sequences)
}
