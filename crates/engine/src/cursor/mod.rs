//! Cursors: results that a client fetches batch by batch.
//!
//! A cursor holds a snapshot of its start, so no cursor blocks a writer; idle
//! ones are timed out so that none holds back garbage collection for ever.

mod gone;
mod idle;
mod open;
mod owner;
mod tail;

pub use idle::IdleCursor;
pub use owner::Owner;
pub use tail::Tail;

use crate::Engine;
use crate::changes::Stream;
use crate::operation::Operation;
use crate::plan::{Execution, Interrupt};
use crate::storage::Document;
use crate::storage::SessionId;
use bson::{RawDocumentBuf, Timestamp};
use budget::Kind;
use command::{Client, Namespace};
use error::{Code, Result};
use idle::History;
use open::OpenCursors;
use parking_lot::Mutex;
use rand::Rng;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long a cursor may lie idle unless `cursorTimeoutMillis` says otherwise, as in MongoDB.
pub const CURSOR_IDLE_MAX: Duration = Duration::from_secs(10 * 60);
/// Cursors that may be open at once. What a small one takes is not counted otherwise.
pub const CURSORS_MAX: usize = 50_000;
const SWEEP_INTERVAL: Duration = Duration::from_secs(4);

/// What a cursor still has to give.
pub type Rows = Box<dyn Iterator<Item = Result<Document>> + Send>;

pub struct Cursor {
    pub namespace: Namespace,
    pub owner: Owner,
    pub source: Source,
    pub no_timeout: bool,
    pub interrupt: Interrupt,
    /// A row that did not fit into the last batch.
    pub pending: Option<Document>,
    /// When the snapshot is that it reads, where it is a snapshot read's.
    pub time: Option<Timestamp>,
}

pub enum Source {
    Plan(Box<Execution>),
    Rows(Rows),
    /// A tailable cursor, which outlives its last row.
    Tail(Box<Tail>),
    /// A change stream, which outlives its last event.
    Changes(Box<Stream>),
}

/// How a cursor lies between two commands.
enum Lying {
    Idle(Box<Cursor>),
    /// A command works on it.
    InUse,
    /// Its collection is no more, of which its client has not heard yet.
    Over,
}

pub struct Cursors {
    /// The parameter `cursorTimeoutMillis`.
    pub idle_max_millis: AtomicU32,
    open: Mutex<OpenCursors>,
}

impl Default for Cursors {
    fn default() -> Cursors {
        let idle_max_millis = AtomicU32::new(CURSOR_IDLE_MAX.as_millis() as u32);
        Cursors { idle_max_millis, open: Mutex::default() }
    }
}

struct Slot {
    namespace: Namespace,
    owner: Owner,
    /// Who used it last.
    client: Arc<Client>,
    used: Instant,
    no_timeout: bool,
    /// Whether it ends with its collection; a change stream tells of that end.
    ends_with_collection: bool,
    interrupt: Interrupt,
    state: Lying,
    history: History,
    /// What its pending row takes of the budget.
    memory: budget::Held,
    /// What its command takes as it is parsed.
    _parsed: budget::Held,
}

/// A cursor in use by one command.
pub struct Borrowed<'a> {
    cursors: &'a Cursors,
    pub id: i64,
    cursor: Option<Box<Cursor>>,
    /// Documents that this command has got from it.
    pub given: usize,
}

impl Cursors {
    /// Keeps the cursor of a command for later, after its first batch, and gives it a number.
    pub fn add(&self, cursor: Cursor, operation: &Operation, given: usize) -> Result<i64> {
        let history = History::begin(operation.request.body(), given);
        let mut open = self.open.lock();
        if open.len() >= CURSORS_MAX {
            return Err(Code::ExceededMemoryLimit.error(format!(
                "{CURSORS_MAX} cursors are open, which is the limit; read some to their end, or \
                 end them with killCursors"
            )));
        }
        loop {
            let id = rand::rng().random_range(1..i64::MAX);
            if !open.contains(id) {
                let parsed = operation.hand_over_parsed();
                let client = operation.client.clone();
                open.insert(id, Slot::new(Box::new(cursor), client, history, parsed));
                return Ok(id);
            }
        }
    }

    /// Takes a cursor for a `getMore` of a client.
    pub fn borrow(
        &self,
        id: i64,
        namespace: &Namespace,
        by: Owner,
        client: &Arc<Client>,
    ) -> Result<Borrowed<'_>> {
        let mut open = self.open.lock();
        let slot = open.get_mut(id).ok_or_else(|| not_found(id))?;
        if slot.namespace != *namespace {
            return Err(Code::Unauthorized.error(format!(
                "Requested getMore on namespace '{namespace}', but cursor belongs to a different \
                 namespace {}",
                slot.namespace
            )));
        }
        slot.owner.check(id, by)?;
        match std::mem::replace(&mut slot.state, Lying::InUse) {
            Lying::Idle(cursor) => {
                slot.client = client.clone();
                cursor.interrupt.resume();
                Ok(Borrowed { cursors: self, id, cursor: Some(cursor), given: 0 })
            }
            Lying::InUse => {
                Err(Code::location(12051).error(format!("cursor id {id} is already in use")))
            }
            Lying::Over => {
                open.remove(id);
                Err(Code::QueryPlanKilled
                    .error(format!("collection dropped, replaced or renamed: {namespace}")))
            }
        }
    }

    /// Ends a cursor; false if there is none.
    pub fn kill(&self, id: i64, namespace: &Namespace) -> bool {
        let mut open = self.open.lock();
        match open.get_mut(id) {
            Some(slot) if slot.namespace == *namespace => {
                slot.interrupt.stop(Code::CursorKilled);
                open.remove(id).is_some()
            }
            _ => false,
        }
    }

    /// Ends the cursors of a collection that is no more. The next `getMore` of each hears why.
    pub fn kill_namespace(&self, namespace: &Namespace) {
        self.kill_with_collections(|of| of == namespace);
    }

    /// The same for every collection of a database.
    pub fn kill_database(&self, database: &str) {
        self.kill_with_collections(|of| &*of.database == database);
    }

    fn kill_with_collections(&self, gone: impl Fn(&Namespace) -> bool) {
        let in_use = self.open.lock().take_if(|slot| {
            if !slot.ends_with_collection || !gone(&slot.namespace) {
                return false;
            }
            slot.interrupt.stop(Code::QueryPlanKilled);
            let is_in_use = matches!(slot.state, Lying::InUse);
            slot.state = Lying::Over;
            is_in_use
        });
        drop(in_use);
    }

    /// Ends the cursors of sessions that have ended.
    pub fn kill_sessions(&self, sessions: &FxHashSet<SessionId>) {
        sessions.iter().for_each(|session| self.kill_of(*session, |_| true));
    }

    /// Ends the cursors of a session's transactions.
    pub fn kill_transaction(&self, session: SessionId) {
        self.kill_of(session, |slot| slot.owner.transaction.is_some());
    }

    fn kill_of(&self, session: SessionId, wanted: impl Fn(&Slot) -> bool) {
        let mut open = self.open.lock();
        let theirs = open.of_session(session).filter(|(_, slot)| wanted(slot));
        let ids: Vec<i64> = theirs.map(|(id, _)| id).collect();
        let killed: Vec<Slot> = ids.into_iter().filter_map(|id| open.remove(id)).collect();
        drop(open);
        stop_all(killed, Code::CursorKilled);
    }

    fn kill_if(&self, wanted: impl Fn(&Slot) -> bool, code: Code) {
        let killed = self.open.lock().take_if(|slot| wanted(slot));
        stop_all(killed, code);
    }

    pub fn clear(&self) {
        self.kill_if(|_| true, Code::InterruptedAtShutdown);
    }

    /// How many are open, and how many of them never time out.
    pub fn count(&self) -> (usize, usize) {
        let open = self.open.lock();
        let alive = || open.iter().filter(|(_, slot)| !matches!(slot.state, Lying::Over));
        (alive().count(), alive().filter(|(_, slot)| slot.no_timeout).count())
    }
}

/// Stops cursors that are off the list.
fn stop_all(killed: Vec<Slot>, code: Code) {
    killed.into_iter().for_each(|slot| slot.interrupt.stop(code));
}

impl Slot {
    fn new(
        cursor: Box<Cursor>,
        client: Arc<Client>,
        history: History,
        parsed: budget::Held,
    ) -> Slot {
        // What awaits data has the time that each `getMore` gives it.
        match cursor.awaits() {
            true => cursor.interrupt.lift(),
            false => cursor.interrupt.pause(),
        }
        let mut memory = budget::Held::new(Kind::Work);
        memory.force(cursor.pending_bytes());
        Slot {
            memory,
            _parsed: parsed,
            namespace: cursor.namespace.clone(),
            owner: cursor.owner,
            client,
            used: Instant::now(),
            no_timeout: cursor.no_timeout,
            ends_with_collection: !matches!(cursor.source, Source::Changes(_)),
            interrupt: cursor.interrupt.clone(),
            state: Lying::Idle(cursor),
            history,
        }
    }
}

impl Cursor {
    fn pending_bytes(&self) -> usize {
        self.pending.as_ref().map_or(0, |row| row.as_bytes().len())
    }

    /// What a client resumes after, if this is a change stream.
    pub fn resume_token(&self) -> Option<RawDocumentBuf> {
        match &self.source {
            Source::Changes(stream) => Some(stream.token()),
            _ => None,
        }
    }

    /// Whether it waits for more when it has nothing to give.
    pub fn awaits(&self) -> bool {
        match &self.source {
            Source::Tail(tail) => tail.await_data,
            Source::Changes(_) => true,
            Source::Plan(_) | Source::Rows(_) => false,
        }
    }
}

impl Borrowed<'_> {
    pub fn cursor(&mut self) -> Option<&mut Cursor> {
        self.cursor.as_deref_mut()
    }

    /// The cursor has given everything.
    pub fn finish(mut self) {
        self.cursor = None;
    }
}

impl Drop for Borrowed<'_> {
    /// Back on the shelf, unless it is finished or was killed meanwhile.
    fn drop(&mut self) {
        let mut open = self.cursors.open.lock();
        match self.cursor.take() {
            None => {
                open.remove(self.id);
            }
            Some(cursor) => {
                cursor.interrupt.pause();
                if let Some(slot) = open.get_mut(self.id) {
                    slot.used = Instant::now();
                    slot.history.note(self.given);
                    slot.memory.force(cursor.pending_bytes());
                    slot.state = Lying::Idle(cursor);
                }
            }
        }
    }
}

impl Engine {
    /// Ends cursors that have lain idle too long, until the engine closes.
    pub(crate) async fn expire_cursors(self: Arc<Self>) {
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            let idle_max = self.cursors.idle_max_millis.load(Ordering::Relaxed);
            let idle_max = Duration::from_millis(idle_max.into());
            self.cursors.kill_if(
                |slot| {
                    let may_lie = match slot.state {
                        Lying::Idle(_) => slot.no_timeout,
                        Lying::InUse => true,
                        Lying::Over => false,
                    };
                    !may_lie && slot.used.elapsed() > idle_max
                },
                Code::CursorKilled,
            );
        }
    }
}

pub fn not_found(id: i64) -> error::Error {
    Code::CursorNotFound.error(format!("cursor id {id} not found"))
}
