//! What change streams are told of a transaction's writes.
//!
//! The log is on or off for as long as a collection is entered: it begins only
//! while nobody writes.

use super::{Row, Transaction};
use crate::catalog::Collection;
use crate::changes::{self, Event, Operation};
use crate::storage::{Events, LogChange, large};
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use fjall::Slice;
use language::Needs;
use language::update::{Difference, Manner, Update, difference};
use std::borrow::Cow;
use value::DocumentWriter;

/// The events of a transaction so far.
#[derive(Default)]
pub(super) struct Told {
    events: Vec<Slice>,
    /// How the update writes that the next replaced document comes from.
    manner: Option<Manner>,
    /// The session and number of a client's transaction.
    client: Option<(RawDocumentBuf, i64)>,
}

impl Told {
    pub fn forget(&mut self) {
        self.events.clear();
        self.manner = None;
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
    pub fn set_client(&mut self, session: RawDocumentBuf, number: i64) {
        self.told.client = Some((session, number));
    }

    pub(super) fn tell_manner(&mut self, update: &Update) {
        if self.engine.store.log().is_on() {
            self.told.manner = Some(update.manner());
        }
    }

    /// Tells of what a client's transaction creates.
    pub(super) fn tell_defined(&mut self, collection: &Collection, event: impl FnOnce() -> Event) {
        if self.is_told(collection) {
            self.told.push(event());
        }
    }

    pub(super) fn tell_inserted(&mut self, collection: &Collection, document: &RawDocument) {
        if self.is_told(collection) {
            let event = Event::of(Operation::Insert, collection).document(document).key(document);
            self.told.push(event);
        }
    }

    /// Before the write: what is not loaded is looked up.
    pub(super) fn tell_replaced(&mut self, row: &Row, after: &RawDocument) -> Result<()> {
        let manner = self.told.manner.take();
        if !self.is_told(&row.collection) {
            return Ok(());
        }
        let manner = manner.unwrap_or(Manner::Pipeline);
        let mut event = match difference(row, after, &manner) {
            Some(difference) => {
                let description = self.description(row, difference)?;
                Event::of(Operation::Update, &row.collection).update(&description)
            }
            None => {
                let after = self.whole(row, after)?;
                Event::of(Operation::Replace, &row.collection).document(&after)
            }
        };
        event = event.key(row);
        if changes::keeps_images(&row.collection) {
            let before = row.record.load(&self.view(), &Needs::All)?;
            event = event.before(&before).after(&*self.whole(row, after)?);
        }
        self.told.push(event);
        Ok(())
    }

    /// Before the write.
    pub(super) fn tell_deleted(&mut self, row: &Row) -> Result<()> {
        if !self.is_told(&row.collection) {
            return Ok(());
        }
        let mut event = Event::of(Operation::Delete, &row.collection).key(row);
        if changes::keeps_images(&row.collection) {
            event = event.before(&*row.record.load(&self.view(), &Needs::All)?);
        }
        self.told.push(event);
        Ok(())
    }

    fn is_told(&self, collection: &Collection) -> bool {
        self.engine.store.log().is_on() && changes::is_watched(&collection.namespace)
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
