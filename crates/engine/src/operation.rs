//! Commands under way: what `currentOp` shows and `killOp` stops.

use crate::define::Progress;
use crate::plan::{Execution, Interrupt};
use command::{Client, Request};
use error::Code;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

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
    pub progress: OnceLock<Arc<Progress>>,
    /// Microseconds spent waiting for something to come, which is no slowness.
    pub waited: AtomicU64,
    /// Set by commands that run a plan: its summary, for the profiler.
    pub plan: Mutex<Option<PlanFigures>>,
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
            plan: Mutex::new(None),
        });
        self.running.lock().insert(operation.id, operation.clone());
        Running { operations: self, operation }
    }

    pub fn list(&self) -> Vec<Arc<Operation>> {
        self.running.lock().values().cloned().collect()
    }

    /// Asks an operation to stop; an unknown one is none of our business.
    pub fn kill(&self, id: i32) {
        if let Some(operation) = self.running.lock().get(&id) {
            operation.stop(Code::Interrupted);
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

    /// Keeps a plan's figures, added to those of the command's earlier plans.
    pub fn note(&self, execution: &Execution) {
        let stats = execution.stats();
        let mut plan = self.plan.lock();
        let figures = plan.get_or_insert_default();
        figures.summary = execution.plan().summary();
        figures.keys_examined += stats.keys_examined();
        figures.docs_examined += stats.documents_examined();
    }

    /// How long it has been at work.
    pub fn worked(&self) -> Duration {
        let waited = Duration::from_micros(self.waited.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(waited)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.operations.running.lock().remove(&self.operation.id);
    }
}
