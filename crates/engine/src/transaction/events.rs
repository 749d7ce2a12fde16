//! The events of a transaction's writes, for change streams.
//!
//! A transaction has events of all its writes or of none: that is settled when it
//! begins.

use super::{Row, Transaction};
use crate::catalog::Collection;
use crate::changes::{self, Event, EventOperation};
use crate::storage::{Events, Log, LogChange, SessionId, Silent, large};
use bson::spec::BinarySubtype;
use bson::{Binary, RawDocument, RawDocumentBuf, rawdoc};
use error::Result;
use fjall::Slice;
use language::Needs;
use language::update::{Difference, Manner, Update, difference, difference_of_cut};
use std::borrow::Cow;
use std::sync::Arc;
use value::DocumentWriter;
use write::ShownChange;

/// What names the user of a session where nobody has logged in: the SHA-256 digest
/// of nothing.
const NOBODY: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
    0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

/// The events of a transaction so far.
pub(super) struct TransactionEvents {
    on: bool,
    /// Kept while there are no events, so that the log does not begin meanwhile.
    silent: Option<Silent>,
    events: Vec<Slice>,
    /// How clients see the next write, where that is not as it is stored.
    pub shown: Option<ShownChange>,
    /// The session and number of a client's transaction.
    client: Option<(RawDocumentBuf, i64)>,
}

impl TransactionEvents {
    pub fn begin(log: &Arc<Log>) -> TransactionEvents {
        let silent = log.enter();
        TransactionEvents {
            on: silent.is_none(),
            silent,
            events: Vec::new(),
            shown: None,
            client: None,
        }
    }

    pub fn is_on(&self) -> bool {
        self.on
    }

    /// What to hold until the commit is applied.
    pub fn silent(&mut self) -> Option<Silent> {
        self.silent.take()
    }

    pub fn forget(&mut self) {
        self.events.clear();
        self.shown = None;
    }

    pub fn into_log(self) -> LogChange {
        if self.events.is_empty() {
            return LogChange::None;
        }
        LogChange::Append(Events { events: self.events, together: self.client.is_some() })
    }

    fn push(&mut self, event: Event) {
        let event = match &self.client {
            Some((session, number)) => event.transaction(session, *number),
            None => event,
        };
        self.events.push(event.finish());
    }
}

impl Transaction {
    /// Says that this is a client's transaction: its events share one time, and
    /// name its session and number.
    pub fn set_client(&mut self, session: SessionId, number: i64) {
        let session = rawdoc! {
            "id": Binary::from(bson::Uuid::from_bytes(session)),
            "uid": Binary { subtype: BinarySubtype::Generic, bytes: NOBODY.to_vec() },
        };
        self.events.client = Some((session, number));
    }

    /// A client's transaction may stay open for long: nobody waits for it.
    pub(super) fn part_from_log(&mut self) {
        self.events.silent = None;
    }

    /// Before the commit of a client's transaction: false if nothing was logged of
    /// what it did, and the log has begun since.
    pub(super) fn meet_log(&mut self) -> bool {
        if self.events.on {
            return true;
        }
        self.events.silent = self.engine.store.log().enter();
        self.events.silent.is_some()
    }

    pub(super) fn log_created(&mut self, collection: &Collection) {
        if self.events.on {
            changes::created(collection).into_iter().for_each(|event| self.events.push(event));
        }
    }

    pub(super) fn log_indexes_created(&mut self, collection: &Collection, names: &[&str]) {
        if self.events.on {
            let event = changes::indexes_created(collection, names);
            event.into_iter().for_each(|event| self.events.push(event));
        }
    }

    pub(super) fn log_inserted(&mut self, collection: &Collection, document: &RawDocument) {
        if self.is_logged(collection) {
            let shown = self.events.shown.take().and_then(|shown| shown.after);
            let document = shown.as_deref().unwrap_or(document);
            let event =
                Event::of(EventOperation::Insert, collection).document(document).key(document);
            self.events.push(event);
        }
    }

    /// Before the write: what is not loaded is looked up. `former` is the row with those
    /// arrays that are not as they were.
    pub(super) fn log_replaced(
        &mut self,
        row: &Row,
        former: &RawDocument,
        after: &RawDocument,
        by: Option<&Update>,
    ) -> Result<()> {
        let manner = by.map_or(Manner::Pipeline, Update::manner);
        let mut event = match difference(former, after, &manner) {
            Some(difference) => {
                let description = self.description(row, difference)?;
                Event::of(EventOperation::Update, &row.collection).update(&description)
            }
            None => {
                let after = self.whole(row, after)?;
                Event::of(EventOperation::Replace, &row.collection).document(&after)
            }
        };
        event = event.key(row);
        if changes::keeps_images(&row.collection) {
            let before = row.record.load(&self.view(), &Needs::All)?;
            event = event.before(&before).after(&self.whole(row, after)?);
        }
        self.events.push(event);
        Ok(())
    }

    /// A change that clients see otherwise than it is stored. Where it is no client's, the
    /// documents have no more than what changes, so that they cannot stand for a replacement.
    pub(super) fn log_shown(
        &mut self,
        row: &Row,
        shown: &ShownChange,
        by: Option<&Update>,
    ) -> Result<()> {
        let (Some(before), Some(after)) = (&shown.before, &shown.after) else { return Ok(()) };
        let manner = by.map_or_else(|| Manner::Operators(Arc::new([])), Update::manner);
        let cut = shown.cut.as_ref().map(|(path, elements)| (path, *elements));
        let mut event = match difference_of_cut(before, after, &manner, cut) {
            Some(difference) => {
                let description = self.description(row, difference)?;
                Event::of(EventOperation::Update, &row.collection).update(&description)
            }
            None => {
                let after = self.whole(row, after)?;
                Event::of(EventOperation::Replace, &row.collection).document(&after)
            }
        };
        event = event.key(row);
        if changes::keeps_images(&row.collection) {
            let images = shown.images.as_ref().map(|[before, after]| (before, after));
            let (before, after) = images.unwrap_or((before, after));
            event = event.before(before).after(after);
        }
        self.events.push(event);
        Ok(())
    }

    /// Before the write.
    pub(super) fn log_deleted(&mut self, row: &Row) -> Result<()> {
        if !self.is_logged(&row.collection) {
            return Ok(());
        }
        let mut event = Event::of(EventOperation::Delete, &row.collection).key(row);
        if changes::keeps_images(&row.collection) {
            event = match self.events.shown.take().and_then(|shown| shown.before) {
                Some(before) => event.before(&before),
                None => event.before(&row.record.load(&self.view(), &Needs::All)?),
            };
        }
        self.events.push(event);
        Ok(())
    }

    pub(super) fn is_logged(&self, collection: &Collection) -> bool {
        self.events.on
            && changes::is_watched(&collection.namespace)
            // Changes of pages are logged as those of the documents they belong to.
            && self.engine.policies.is_listed(&collection.namespace)
    }

    fn description(&mut self, row: &Row, difference: Difference) -> Result<RawDocumentBuf> {
        let mut description = DocumentWriter::new();
        let updated = self.whole(row, &difference.updated)?;
        description.append_document("updatedFields", &updated);
        description.append("removedFields", bson::RawBsonRef::Array(&difference.removed));
        description.append("truncatedArrays", bson::RawBsonRef::Array(&difference.truncated));
        description.append_document("disambiguatedPaths", &difference.ambiguous);
        Ok(description.finish())
    }

    /// A document made from a row's, with the large values that were not loaded.
    fn whole<'d>(&mut self, row: &Row, document: &'d RawDocument) -> Result<Cow<'d, RawDocument>> {
        if row.record.next_large().is_none() {
            return Ok(Cow::Borrowed(document));
        }
        let joined = large::join(&self.view(), &row.record, document, &Needs::All)?;
        Ok(joined.map_or(Cow::Borrowed(document), Cow::Owned))
    }
}
