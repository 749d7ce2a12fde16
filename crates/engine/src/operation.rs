//! Commands under way: what `currentOp` shows and `killOp` stops.

use crate::Engine;
use crate::plan::{Execution, Interrupt};
use crate::storage::Ticket;
use budget::Held;
use command::table::Kind;
use command::{Client, Request};
use error::{Code, Result};
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use tracing::debug;

/// How long a command runs before anyone looks whether its client is still there, and how
/// often from then on.
const CLIENT_LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// How often one who waits for others looks whether it is to stop.
pub const STOP_LOOK_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug, Default)]
pub struct Operations {
    next: AtomicI32,
    running: Mutex<BTreeMap<i32, Arc<Operation>>>,
}

/// One command under way.
#[derive(Debug)]
pub struct Operation {
    pub id: i32,
    pub started: Instant,
    pub request: Request,
    pub client: Arc<Client>,
    pub interrupt: Interrupt,
    /// Set by `getMore`: what stops the cursor it works on.
    pub cursor: OnceLock<Interrupt>,
    /// Set by commands that take long: index builds.
    pub progress: OnceLock<Arc<WorkProgress>>,
    /// Microseconds spent waiting for something to come, which is no slowness.
    pub waited: AtomicU64,
    /// Whether it waits for what others hold now.
    pub is_held_up: AtomicBool,
    /// Set by commands that run a plan: its summary, for the profiler.
    pub plan: Mutex<Option<PlanFigures>>,
    /// What the command takes of the budget as it is parsed, until its cursor takes that over.
    pub parsed: Mutex<Held>,
}

/// How far a build, or other long work, has come, for `currentOp`.
#[derive(Debug, Default)]
pub struct WorkProgress {
    pub done: AtomicU64,
    pub total: AtomicU64,
    pub interrupt: Interrupt,
    /// What it is, if it is no build.
    pub what: Option<&'static str>,
}

impl WorkProgress {
    /// That of work which stops with the command that it is done for.
    pub fn of_command() -> WorkProgress {
        WorkProgress { interrupt: interrupt(), ..WorkProgress::default() }
    }
}

/// What the profiler and the log of slow commands say of a plan.
#[derive(Debug, Clone, Default)]
pub struct PlanFigures {
    pub summary: String,
    pub keys_examined: u64,
    pub docs_examined: u64,
}

/// A running operation; dropping it takes it off the list.
pub struct Running<'a> {
    operations: &'a Operations,
    pub operation: Arc<Operation>,
}

impl Operations {
    pub fn begin(
        &self,
        request: Request,
        client: &Arc<Client>,
        limit: Option<Duration>,
    ) -> Running<'_> {
        let started = Instant::now();
        let operation = Arc::new(Operation {
            id: self.next.fetch_add(1, Ordering::Relaxed),
            started,
            request,
            client: client.clone(),
            interrupt: Interrupt::with_deadline(limit.map(|limit| started + limit)),
            cursor: OnceLock::new(),
            progress: OnceLock::new(),
            waited: AtomicU64::new(0),
            is_held_up: AtomicBool::new(false),
            plan: Mutex::new(None),
            parsed: Mutex::new(Held::new(budget::Kind::Work)),
        });
        self.running.lock().insert(operation.id, operation.clone());
        Running { operations: self, operation }
    }

    pub fn list(&self) -> Vec<Arc<Operation>> {
        self.running.lock().values().cloned().collect()
    }

    /// Those that have been running for so long.
    fn older_than(&self, age: Duration) -> Vec<Arc<Operation>> {
        let running = self.running.lock();
        running.values().filter(|operation| operation.started.elapsed() >= age).cloned().collect()
    }

    /// Asks all operations to stop.
    pub fn stop_all(&self, code: Code) {
        for operation in self.list() {
            operation.stop(code);
        }
    }

    /// Asks an operation to stop; an unknown one is none of our business.
    pub fn kill(&self, id: i32) {
        if let Some(operation) = self.running.lock().get(&id) {
            operation.stop(Code::Interrupted);
        }
    }
}

impl Engine {
    /// Stops what nobody waits for any more. Changes of definition end as they would have.
    pub(crate) async fn watch_clients(self: Arc<Self>) {
        loop {
            tokio::time::sleep(CLIENT_LOOK_INTERVAL).await;
            for operation in self.operations.older_than(CLIENT_LOOK_INTERVAL) {
                if operation.is_awaited() && operation.client.is_gone() {
                    let name = operation.request.name();
                    debug!("stopped {name} of {}: it has gone", operation.client.address);
                    operation.stop(Code::ClientDisconnect);
                }
            }
        }
    }
}

impl Operation {
    pub fn stop(&self, code: Code) {
        self.interrupt.stop(code);
        if let Some(cursor) = self.cursor.get() {
            cursor.stop(code);
        }
        if let Some(progress) = self.progress.get() {
            progress.interrupt.stop(code);
        }
    }

    /// Whether it is of use only to a client that waits for the reply: a read, a look at the
    /// server, or a write that is to be acknowledged.
    fn is_awaited(&self) -> bool {
        match command::command(self.request.name()).map(|row| row.kind) {
            Some(Kind::Read | Kind::Server) => true,
            Some(Kind::Write) => !self.is_unacknowledged(),
            _ => false,
        }
    }

    fn is_unacknowledged(&self) -> bool {
        let concern = value::element::get(self.request.body(), "writeConcern");
        let concern = concern.and_then(|concern| concern.value().as_document());
        let acknowledgements = concern.and_then(|concern| value::element::get(concern, "w"));
        acknowledgements.is_some_and(|w| command::fields::safe_i64(w.value()) == Some(0))
    }

    /// Keeps a plan's figures, added to those of the command's earlier plans.
    pub fn note(&self, execution: &Execution) {
        let stats = execution.stats();
        let mut plan = self.plan.lock();
        let figures = plan.get_or_insert_default();
        figures.summary = execution.plan().summary();
        figures.keys_examined += stats.keys_examined();
        figures.docs_examined += stats.documents_examined();
    }

    /// Reserves what is parsed beside the command, such as the pipeline of a view.
    pub fn parses(&self, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let mut parsed = self.parsed.lock();
        let before = parsed.bytes() as usize;
        parsed.resize(before + bytes)
    }

    /// Hands over what the command takes of the budget, to a cursor that outlives it.
    pub fn hand_over_parsed(&self) -> Held {
        std::mem::replace(&mut self.parsed.lock(), Held::new(budget::Kind::Work))
    }

    /// How long it has been at work.
    pub fn worked(&self) -> Duration {
        let waited = Duration::from_micros(self.waited.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(waited)
    }
}

thread_local! {
    /// The operation that the thread is at work on.
    static CURRENT: RefCell<Option<Arc<Operation>>> = const { RefCell::new(None) };
}

/// While this lives, the thread is at work on an operation.
pub struct Entered(Option<Arc<Operation>>);

pub fn enter(operation: Arc<Operation>) -> Entered {
    Entered(CURRENT.replace(Some(operation)))
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// What stops the operation at work; nothing does where there is none.
pub fn interrupt() -> Interrupt {
    CURRENT.with_borrow(|current| {
        current.as_ref().map_or_else(Interrupt::default, |operation| operation.interrupt.clone())
    })
}

/// Notes the time of a commit for the reply of the operation at work.
pub fn note_commit(engine: &Engine, ticket: Ticket) {
    CURRENT.with_borrow(|current| {
        if let Some(operation) = current {
            note_commit_of(engine, &operation.client, ticket);
        }
    });
}

/// Notes the time of a client's last commit, for its reply.
pub fn note_commit_of(engine: &Engine, client: &Client, ticket: Ticket) {
    if let Some(time) = engine.store.time_of(ticket) {
        client.commit_time.store(time, Ordering::Relaxed);
    }
}

/// Waits for what other clients hold: meanwhile `currentOp` says so of the operation at work.
/// Turns that last no longer than a commit are no such thing.
pub async fn held_up<F: Future>(what: F) -> F::Output {
    let mut what = pin!(what);
    // What is free holds nobody up.
    if let Poll::Ready(done) = poll_fn(|context| Poll::Ready(what.as_mut().poll(context))).await {
        return done;
    }
    let _held_up = CURRENT.with_borrow(Option::clone).map(HeldUp::begin);
    what.await
}

/// Waits for something that may as well not come about, and ends with the command at work if
/// that is to stop.
pub async fn unless_stopped<F: Future>(what: F) -> Result<F::Output> {
    let mut what = pin!(what);
    loop {
        match tokio::time::timeout(STOP_LOOK_INTERVAL, what.as_mut()).await {
            Ok(outcome) => return Ok(outcome),
            Err(_) => language::interrupt::check_now()?,
        }
    }
}

/// An operation that waits, until this is dropped.
struct HeldUp(Arc<Operation>);

impl HeldUp {
    fn begin(operation: Arc<Operation>) -> HeldUp {
        operation.is_held_up.store(true, Ordering::Relaxed);
        HeldUp(operation)
    }
}

impl Drop for HeldUp {
    fn drop(&mut self) {
        self.0.is_held_up.store(false, Ordering::Relaxed);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.operations.running.lock().remove(&self.operation.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{RawDocumentBuf, rawdoc};
    use command::{Presence, Reply};
    use std::net::{Ipv4Addr, SocketAddr};

    #[derive(Debug)]
    struct Away(AtomicBool);

    impl Presence for Away {
        fn is_there(&self) -> bool {
            !self.0.load(Ordering::Relaxed)
        }
    }

    async fn run(
        engine: &Arc<Engine>,
        client: &Arc<Client>,
        command: &RawDocumentBuf,
    ) -> Result<Reply> {
        let request = Request::new(command.as_bytes().to_vec().into(), Vec::new());
        engine.run(request, client).await
    }

    /// On threads of its own, so that the work does not keep those who look from looking.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_read_ends_once_its_client_has_gone() {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::open(directory.path()).await.unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let away = Arc::new(Away(AtomicBool::new(false)));
        let presence: std::sync::Weak<dyn Presence> = Arc::downgrade(&(away.clone() as _));
        let client = Arc::new(Client { presence: Some(presence), ..Client::new(1, address) });
        let insert = rawdoc! { "insert": "c", "documents": [{ "_id": 1 }], "$db": "a" };
        run(&engine, &client, &insert).await.unwrap();

        away.0.store(true, Ordering::Relaxed);
        let million = rawdoc! { "$range": [0, 1_000_000] };
        let inner = rawdoc! { "$map": { "input": million.clone(), "in": 1 } };
        let endless = rawdoc! { "$map": { "input": million, "in": { "$size": inner } } };
        let aggregate = rawdoc! {
            "aggregate": "c", "pipeline": [{ "$project": { "x": endless } }], "cursor": {},
            "$db": "a",
        };
        let stopped = run(&engine, &client, &aggregate).await.unwrap_err();
        assert_eq!(stopped.code(), Code::ClientDisconnect);

        drop(away);
        let stopped = run(&engine, &client, &aggregate).await.unwrap_err();
        assert_eq!(stopped.code(), Code::ClientDisconnect, "the connection is gone altogether");
        engine.close().await;
    }
}
