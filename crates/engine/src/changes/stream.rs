//! A change stream: a cursor over the log that outlives its last event.

use super::event::StoredEvent;
use super::options::{Scope, Start, StreamOptions};
use super::shape::EventShape;
use super::{Token, TokenKind};
use crate::Engine;
use crate::batch::{BATCH_BYTES_MAX, Batch};
use crate::plan::Interrupt;
use crate::storage::clock::time;
use crate::storage::log::Logged;
use crate::storage::{Position, View};
use bson::RawDocumentBuf;
use budget::{Held, Kind};
use command::CursorReply;
use error::{Code, Error, Result};
use fjall::Slice;
use language::aggregate::{Documents, Nowhere, Pipeline};
use parking_lot::Mutex;
use rand::Rng;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;
use value::element::get;

/// Events between two looks at the clock.
const EVENTS_PER_LOOK: usize = 64;
/// What one event may weigh in a reply: a document and room for what tells of it.
const EVENT_BYTES_MAX: usize = 16_793_600;
/// Events that are read at once, by all streams, before it is known how large they are.
const READERS_MAX: usize = 4;
/// A stream has an event as it is stored, as it is shown, and as the pipeline makes it.
const EVENT_COPIES: usize = 3;

/// Turns of those who read, so that many streams that wake up together do not take memory
/// together: each stream waits for one of these.
static READING: [Mutex<()>; READERS_MAX] = [const { Mutex::new(()) }; READERS_MAX];

pub struct Stream {
    scope: Scope,
    options: StreamOptions,
    /// Everything up to here has been looked at.
    position: Position,
    /// What the client resumes after.
    token: Token,
    /// The event that ends the stream, once it has been given out.
    ending: Option<(Position, Slice)>,
    feed: Feed,
    rows: Documents,
    synced: watch::Receiver<u64>,
    /// Which of the turns it waits for.
    turn: &'static Mutex<()>,
    /// What the next event takes, if there was no room for it: it is not read again before
    /// there is.
    awaited_bytes: usize,
}

/// One event on its way into the stream's pipeline.
#[derive(Clone, Default)]
struct Feed(Arc<Mutex<Option<RawDocumentBuf>>>);

impl Iterator for Feed {
    type Item = Result<RawDocumentBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.lock().take().map(Ok)
    }
}

/// An event of the log and its place.
type Entry = (Position, Slice);

/// What became of an event.
enum Outcome {
    Given,
    /// The pipeline let it go.
    Dropped,
    /// It has no room in this batch.
    Left,
    /// The server has no room for it now.
    Crowded,
}

impl Stream {
    /// Opens a stream. The log must be on.
    pub fn open(
        engine: &Engine,
        scope: Scope,
        options: StreamOptions,
        pipeline: Pipeline,
    ) -> Result<Stream> {
        let synced = engine.store.clock().reached();
        let feed = Feed::default();
        let rows = pipeline.run(Box::new(feed.clone()), Arc::new(Nowhere))?;
        let token = match options.start {
            Start::Now => high_water(Position::after(*synced.borrow())),
            Start::At(timestamp) => high_water(Position::before(time(timestamp))),
            Start::After(token) => token,
        };
        let position = token.position;
        let turn = &READING[rand::rng().random_range(..READERS_MAX)];
        let mut stream = Stream {
            scope,
            options,
            position,
            token,
            ending: None,
            feed,
            rows,
            synced,
            turn,
            awaited_bytes: 0,
        };
        let view = engine.store.synced_view();
        stream.check_history(engine)?;
        if token.kind == TokenKind::Event {
            stream.check_present(&view)?;
        }
        Ok(stream)
    }

    /// What is told when there may be more to look at.
    pub fn synced(&self) -> watch::Receiver<u64> {
        self.synced.clone()
    }

    /// `postBatchResumeToken`.
    pub fn token(&self) -> RawDocumentBuf {
        self.token.document()
    }

    /// Adds events to a batch, until it is full, there are no more, or a time
    /// has come.
    pub fn fill(
        &mut self,
        engine: &Engine,
        reply: &mut CursorReply,
        limit: Option<u64>,
        until: Instant,
        interrupt: &Interrupt,
    ) -> Result<Batch> {
        let batch = self.filled(engine, reply, limit, until, interrupt);
        // It may wait for long now, with nothing in it.
        reply.fit();
        batch
    }

    fn filled(
        &mut self,
        engine: &Engine,
        reply: &mut CursorReply,
        limit: Option<u64>,
        until: Instant,
        interrupt: &Interrupt,
    ) -> Result<Batch> {
        // What is synced after this look is told to those who wait.
        self.synced.mark_unchanged();
        let view = engine.store.synced_view();
        // After the view: what was trimmed before it was taken is known by now.
        self.check_history(engine)?;
        let limit = limit.map_or(usize::MAX, |limit| limit as usize);
        let mut looked = 0;
        let mut entries = view.logged_after(self.position);
        let mut memory = Held::new(Kind::Work);
        if !has_room(self.awaited_bytes, reply, &mut memory) {
            return Ok(crowded(reply));
        }
        while self.ending.is_none() && reply.len() < limit {
            let Some(read) = self.read(&mut entries, reply, &mut memory) else { break };
            let Some((position, bytes)) = read? else { return Ok(crowded(reply)) };
            match self.offer(engine, &view, position, bytes, reply, &mut memory)? {
                Outcome::Left => return Ok(Batch::Full),
                Outcome::Crowded => return Ok(crowded(reply)),
                Outcome::Given | Outcome::Dropped => {}
            }
            looked += 1;
            if looked % EVENTS_PER_LOOK == 0 {
                interrupt.check()?;
                if Instant::now() >= until {
                    return Ok(Batch::Paused);
                }
            }
        }
        if reply.len() < limit && self.ending.is_some() {
            return self.end(engine, &view, reply);
        }
        Ok(Batch::Full)
    }

    /// Reads the next event, in turn, and reserves what becomes of it. `Some(Ok(None))` where
    /// there is no room for it.
    fn read(
        &mut self,
        entries: &mut Logged,
        reply: &mut CursorReply,
        memory: &mut Held,
    ) -> Option<Result<Option<Entry>>> {
        let _turn = self.turn.lock();
        Some(entries.next()?.and_then(|entry| {
            let bytes = if self.shows(&StoredEvent::read(&entry.1)?) { entry.1.len() } else { 0 };
            let has_room = has_room(bytes, reply, memory);
            self.awaited_bytes = if has_room { 0 } else { bytes };
            Ok(has_room.then_some(entry))
        }))
    }

    /// Whether an event is one for this stream's pipeline.
    fn shows(&self, stored: &StoredEvent<'_>) -> bool {
        (self.options.expanded || !stored.is_expanded()) && self.scope.covers(stored)
    }

    /// Looks at one event of the log.
    fn offer(
        &mut self,
        engine: &Engine,
        view: &View,
        position: Position,
        bytes: Slice,
        reply: &mut CursorReply,
        memory: &mut Held,
    ) -> Result<Outcome> {
        let stored = StoredEvent::read(&bytes)?;
        let mut outcome = Outcome::Dropped;
        let token = Token { position, kind: TokenKind::Event };
        if self.shows(&stored) {
            let shape = EventShape { engine, view, options: &self.options };
            let mut found = None;
            if shape.looks_up(&stored) {
                let _turn = self.turn.lock();
                found = shape.look_up(&stored)?;
                let found_bytes = found.as_ref().map_or(0, |found| found.as_bytes().len());
                if !has_room(bytes.len() + found_bytes, reply, memory) {
                    self.awaited_bytes = bytes.len() + found_bytes;
                    return Ok(Outcome::Crowded);
                }
            }
            let event = shape.event(&stored, &token, found.as_deref())?;
            outcome = self.give(event, &token, reply)?;
        }
        match outcome {
            Outcome::Left | Outcome::Crowded => return Ok(outcome),
            Outcome::Given => self.token = token,
            Outcome::Dropped => self.token = high_water(position),
        }
        self.position = position;
        if self.scope.is_ended_by(&stored) {
            self.ending = Some((position, bytes));
        }
        Ok(outcome)
    }

    /// Passes an event through the pipeline into the batch.
    fn give(
        &mut self,
        event: RawDocumentBuf,
        token: &Token,
        reply: &mut CursorReply,
    ) -> Result<Outcome> {
        *self.feed.0.lock() = Some(event);
        let Some(event) = self.rows.next() else { return Ok(Outcome::Dropped) };
        let event = event?;
        let id = get(&event, "_id").and_then(|id| id.as_document());
        if id != Some(&*token.document()) {
            return Err(changed_token());
        }
        let size = event.as_bytes().len();
        if size > EVENT_BYTES_MAX {
            return Err(too_large(size));
        }
        if !reply.is_empty() && reply.size_bytes() + size > BATCH_BYTES_MAX {
            return Ok(Outcome::Left);
        }
        if reply.make_room_patiently(size).is_err() {
            return Ok(Outcome::Crowded);
        }
        reply.push(&event);
        Ok(Outcome::Given)
    }

    /// Tells the client that what it watches is no more.
    fn end(&mut self, engine: &Engine, view: &View, reply: &mut CursorReply) -> Result<Batch> {
        let Some((position, bytes)) = self.ending.clone() else { return Ok(Batch::Exhausted) };
        let stored = StoredEvent::read(&bytes)?;
        let token = Token { position, kind: TokenKind::Invalidate };
        let shape = EventShape { engine, view, options: &self.options };
        let event = shape.invalidate(&stored, &token);
        match self.give(event, &token, reply)? {
            Outcome::Left => return Ok(Batch::Full),
            Outcome::Crowded => return Ok(crowded(reply)),
            Outcome::Given | Outcome::Dropped => {}
        }
        self.token = token;
        Ok(Batch::Exhausted)
    }

    /// Refuses a stream whose next events have been trimmed.
    fn check_history(&self, engine: &Engine) -> Result<()> {
        let Position { time, index } = self.position;
        let whole_from = if index == u32::MAX { time.saturating_add(1) } else { time };
        if whole_from < engine.store.log().start() {
            return Err(Code::ChangeStreamHistoryLost.error(
                "Resume of change stream was not possible, as the resume point may no longer be \
                 in the oplog.",
            ));
        }
        Ok(())
    }

    /// A stream resumes only after an event that it would have shown.
    fn check_present(&mut self, view: &View) -> Result<()> {
        let position = self.position;
        let bytes = view.logged_at(position)?;
        let stored = bytes.as_deref().map(StoredEvent::read).transpose()?;
        match (&bytes, stored) {
            (Some(bytes), Some(stored)) if self.scope.covers(&stored) => {
                if self.scope.is_ended_by(&stored) {
                    self.ending = Some((position, bytes.clone()));
                }
                Ok(())
            }
            _ => Err(Code::ChangeStreamFatalError
                .error("cannot resume stream; the resume token was not found.")),
        }
    }
}

/// Reserves what an event of so many bytes takes on its way into a batch.
fn has_room(bytes: usize, reply: &mut CursorReply, memory: &mut Held) -> bool {
    memory.resize_patiently(EVENT_COPIES * bytes).is_ok()
        && reply.make_room_patiently(bytes).is_ok()
}

/// How a batch ends when the server has no room for the next event: the client gets what there
/// is, or the stream waits, as it would for an event.
fn crowded(reply: &CursorReply) -> Batch {
    if reply.is_empty() { Batch::Crowded } else { Batch::Full }
}

fn high_water(position: Position) -> Token {
    Token { position, kind: TokenKind::HighWater }
}

fn changed_token() -> Error {
    Code::ChangeStreamFatalError.error(
        "Encountered an event whose _id field, which contains the resume token, was modified by \
         the pipeline. Modifying the _id field of an event makes it impossible to resume the \
         stream from that point. Only transformations that retain the unmodified _id field are \
         allowed.",
    )
}

fn too_large(size: usize) -> Error {
    Code::BSONObjectTooLarge.error(format!(
        "BSONObj size: {size} (0x{size:X}) is invalid. Size must be between 0 and \
         {EVENT_BYTES_MAX}(16MB)"
    ))
}
