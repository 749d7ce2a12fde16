//! Cursors that no command works on, as `$currentOp` lists them.

use super::{Cursors, Lying, Owner, Slot, Source};
use bson::{DateTime, RawDocument, RawDocumentBuf};
use command::Namespace;
use value::DocumentWriter;
use value::element::elements;

/// A longer command is not kept with its cursor.
const COMMAND_BYTES_MAX: usize = 1024;

/// What a cursor has been used for.
pub struct History {
    opened: DateTime,
    used: DateTime,
    documents: u64,
    batches: u64,
    command: RawDocumentBuf,
}

/// A cursor between two commands.
pub struct IdleCursor {
    pub id: i64,
    pub namespace: Namespace,
    pub owner: Owner,
    pub opened: DateTime,
    pub used: DateTime,
    pub documents: u64,
    pub batches: u64,
    pub no_timeout: bool,
    pub tailable: bool,
    pub awaits: bool,
    /// What opened it.
    pub command: RawDocumentBuf,
}

impl History {
    pub fn begin(command: &RawDocument, given: usize) -> History {
        let now = DateTime::now();
        let command = shortened(command);
        let mut history = History { opened: now, used: now, documents: 0, batches: 0, command };
        history.note(given);
        history
    }

    /// Counts a batch of so many documents.
    pub fn note(&mut self, given: usize) {
        self.used = DateTime::now();
        self.documents += given as u64;
        self.batches += 1;
    }
}

impl Cursors {
    pub fn idle(&self) -> Vec<IdleCursor> {
        let open = self.open.lock();
        open.iter().filter_map(|(id, slot)| slot.idle(id)).collect()
    }
}

impl Slot {
    fn idle(&self, id: i64) -> Option<IdleCursor> {
        let Lying::Idle(cursor) = &self.state else { return None };
        let history = &self.history;
        Some(IdleCursor {
            id,
            namespace: self.namespace.clone(),
            owner: self.owner,
            opened: history.opened,
            used: history.used,
            documents: history.documents,
            batches: history.batches,
            no_timeout: self.no_timeout,
            tailable: matches!(cursor.source, Source::Tail(_) | Source::Changes(_)),
            awaits: cursor.awaits(),
            command: history.command.clone(),
        })
    }
}

/// The command, or its name and target where it is long.
fn shortened(command: &RawDocument) -> RawDocumentBuf {
    if command.as_bytes().len() <= COMMAND_BYTES_MAX {
        return command.to_owned();
    }
    let mut out = DocumentWriter::new();
    let first = elements(command).next();
    first.filter(|it| it.bytes.len() <= COMMAND_BYTES_MAX).into_iter().for_each(|it| out.copy(it));
    out.append_str("$truncated", "the command is longer than 1 KB");
    out.finish()
}
