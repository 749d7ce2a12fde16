//! The end of transactions and of sessions.

use super::state::OpenPhase;
use super::{Session, SessionId};
use crate::Engine;
use command::common::session_of;
use error::Code;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Session {
    /// Aborts the open transaction, if there is one.
    pub(super) fn abort(&self, engine: &Engine, code: Code) {
        let ended = self.state.lock().abort();
        if let Some(running) = ended.as_ref().and_then(|open| open.running.as_ref()) {
            running.interrupt.stop(code);
        }
        self.discard(engine, ended);
    }

    /// Lets go of what an aborted transaction held.
    pub(super) fn discard(&self, engine: &Engine, ended: Option<Box<OpenPhase>>) {
        let Some(open) = ended else { return };
        engine.sessions.figures.aborted.fetch_add(1, Ordering::Relaxed);
        self.close(engine);
        drop(open);
    }

    /// After a commit or an abort: nothing of the transaction is open any more.
    pub(super) fn close(&self, engine: &Engine) {
        engine.sessions.open.lock().remove(&self.id);
        engine.cursors.kill_transaction(self.id);
    }
}

impl Engine {
    /// Ends sessions: their transactions, their cursors, what we know of them.
    pub fn end_sessions(&self, ids: &FxHashSet<SessionId>) {
        self.abort_all(&self.sessions.take_these(ids));
        // A cursor may outlive what is known of its session.
        self.cursors.kill_sessions(ids);
    }

    /// Ends sessions whoever uses them: what they are doing is stopped, too.
    pub fn kill_sessions(&self, wanted: Option<&FxHashSet<SessionId>>) {
        let is_wanted = |id: &SessionId| wanted.is_none_or(|wanted| wanted.contains(id));
        for operation in self.operations.list() {
            if session_of(&operation.request).is_some_and(|id| is_wanted(&id)) {
                operation.stop(Code::Interrupted);
            }
        }
        match wanted {
            Some(ids) => self.end_sessions(ids),
            None => self.end(|_| true),
        }
    }

    pub(super) fn end(&self, wanted: impl Fn(&Session) -> bool) {
        let ended = self.sessions.take(wanted);
        self.abort_all(&ended);
        let ids: FxHashSet<SessionId> = ended.iter().map(|session| session.id).collect();
        if !ids.is_empty() {
            self.cursors.kill_sessions(&ids);
        }
    }

    /// Aborts the transactions of sessions that are off the list.
    fn abort_all(&self, ended: &[Arc<Session>]) {
        ended.iter().for_each(|session| session.abort(self, Code::Interrupted));
    }
}
