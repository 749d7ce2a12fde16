//! The engine's side of the write loop's transaction.

use super::intents::Subject;
use super::warning::Warning;
use super::{Absent, Row, Transaction, conflict};
use crate::catalog::{Action, Collection, CollectionKind, NewCollection};
use crate::changes;
use crate::growth::{LengthenedArrays, PagedBytes};
use crate::plan::{self, Query, Sort};
use crate::storage::large::{self, Before};
use crate::storage::{CollectionId, RecordId, Tree, keys};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Result};
use guard::Lease;
use guard::Policy;
use guard::patterns::{ArrayLength, Measured};
use language::Needs;
use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use write::{Cause, Find, ShownChange, Version, Watched, limits};

/// The intent that makes inserts into a capped collection wait for each other.
const WHOLE_COLLECTION: RecordId = RecordId(u64::MAX);

impl write::Transaction for Transaction {
    type Row = Row;
    type Guard = Lease;

    async fn guard(&mut self, namespace: &Namespace) -> Result<Option<Lease>> {
        // Policies change only while nobody is in the collection.
        let is_there = self.enter(namespace).await?.is_some();
        let guarded = self.guarded(namespace).map(Cow::into_owned);
        if !is_there {
            let (namespace, guarded) = (namespace.clone(), guarded.clone());
            self.absent = Some(Absent { namespace, guarded });
        }
        Ok(guarded)
    }

    async fn get(
        &mut self,
        namespace: &Namespace,
        id: RawBsonRef<'_>,
        needs: &Needs,
    ) -> Result<Option<Row>> {
        let Some(collection) = self.enter(namespace).await? else { return Ok(None) };
        match collection.record_of(id, &self.view())? {
            Some(record) => self.claim(&collection, record, needs).await,
            None => Ok(None),
        }
    }

    async fn load(&mut self, row: &Row, needs: &Needs) -> Result<Row> {
        let document = row.record.load(&self.view(), needs)?;
        Ok(Row { collection: row.collection.clone(), record: row.record.clone(), document })
    }

    fn size(&self, row: &Row, document: &RawDocument) -> usize {
        match row.record.next_large() {
            Some(_) => large::size(document, self.engine.store.secret()),
            None => document.as_bytes().len(),
        }
    }

    async fn find(&mut self, namespace: &Namespace, find: &Find<'_>) -> Result<Vec<Row>> {
        let Some(collection) = self.enter(namespace).await? else { return Ok(Vec::new()) };
        let interrupt = self.interrupt.clone().unwrap_or_default();
        if find.limit > 1 {
            // A transaction that loads many will load more; meanwhile others have their turn.
            interrupt.check()?;
            tokio::task::yield_now().await;
        }
        let view = self.view();
        let mut query = Query::new(find.filter.clone());
        query.needs = Needs::none();
        query.sort = Sort::parse(find.sort)?;
        query.limit = Some(find.limit as u64);
        query.collator = find.filter.collator().cloned();
        let matching = plan::open(&collection, query, view, interrupt)?;
        let mut rows = Vec::new();
        let mut bytes = 0;
        for found in matching {
            let claimed = self.claim(&collection, found?.record, find.needs).await?;
            if let Some(row) = claimed
                && find.filter.matches(&row)?
            {
                bytes += row.as_bytes().len();
                rows.push(row);
            }
            if bytes >= find.bytes {
                break;
            }
        }
        Ok(rows)
    }

    async fn insert(
        &mut self,
        namespace: &Namespace,
        version: Version<'_>,
        note: Option<&Measured>,
    ) -> Result<()> {
        let document = version.document;
        self.engine.store.space().check()?;
        let collection = self.enter_or_create(namespace).await?;
        if let CollectionKind::Capped { bytes_max, .. } = collection.kind {
            if document.as_bytes().len() as u64 > bytes_max {
                return Err(Code::BadValue.error("object to insert exceeds cappedMaxSize"));
            }
            self.take(Subject::record(collection.id, WHOLE_COLLECTION)).await?;
        }
        let record = self.next_record(&collection)?;
        let cause = Cause { update: None, note };
        let Apart { split, paged, lengthened } =
            self.split(namespace, None, version, None, cause)?;
        self.add_entries(&collection, record, document).await?;
        for (number, value) in split.values {
            self.put(Tree::Large, keys::large(collection.id, record, number), value);
        }
        self.put(Tree::Records, keys::record(collection.id, record), split.record);
        self.grow(&collection, record, None, Some(split.size), paged, lengthened);
        self.log_inserted(&collection, document);
        self.make_room(&collection, usize::MAX).await.map(|_| ())
    }

    async fn replace(
        &mut self,
        namespace: &Namespace,
        row: &Row,
        version: Version<'_>,
        cause: Cause<'_, Transaction>,
    ) -> Result<()> {
        let after = version.document;
        self.engine.store.space().check()?;
        let record = &row.record;
        let numbers = self.large_numbers(row);
        let mut before = record.next_large().map(|next| Before {
            stored: record.stored(),
            loaded: &row.document,
            numbers: &numbers,
            next,
        });
        let shown = self.events.shown.take();
        let logged = self.is_logged(&row.collection)
            && match &shown {
                Some(shown) => shown.is_visible(),
                // Where only the sidecar changes, no client sees anything; nor where elements
                // are moved to pages that clients see with the document.
                None => *after != **row && !(cause.update.is_none() && self.merges(namespace)),
            };
        let more = self.load_former(row, before, after, logged && shown.is_none())?;
        if let (Some(before), Some(more)) = (&mut before, &more) {
            before.loaded = more;
        }
        let Apart { split, paged, lengthened } =
            self.split(namespace, Some(row), version, before, cause)?;
        if split.size > limits::DOCUMENT_BYTES_MAX {
            return Err(limits::update_too_large());
        }
        if logged && let Some(shown) = &shown {
            self.log_shown(row, shown, cause.update)?;
        } else if logged {
            let former = more.as_deref().unwrap_or(&row.document);
            self.log_replaced(row, former, after, cause.update)?;
        }
        self.exchange_entries(row, after).await?;
        let collection = record.collection;
        for number in &numbers {
            if split.kept.binary_search(number).is_err() {
                self.remove(Tree::Large, keys::large(collection, record.id, *number));
            }
        }
        for (number, value) in split.values {
            self.put(Tree::Large, keys::large(collection, record.id, number), value);
        }
        self.put(Tree::Records, keys::record(collection, record.id), split.record);
        let before = Some(record.size());
        self.grow(&row.collection, record.id, before, Some(split.size), paged, lengthened);
        Ok(())
    }

    async fn delete(&mut self, namespace: &Namespace, row: &Row) -> Result<()> {
        let guarded = self.guarded(namespace);
        let lengthened = self.lengthened(guarded.as_deref(), Some(row), None, None, None)?;
        self.log_deleted(row)?;
        self.remove_entries(row).await?;
        let record = &row.record;
        for number in self.large_numbers(row) {
            self.remove(Tree::Large, keys::large(record.collection, record.id, number));
        }
        self.remove(Tree::Records, keys::record(record.collection, record.id));
        let size = Some(record.size());
        self.grow(&row.collection, record.id, size, None, PagedBytes::default(), lengthened);
        Ok(())
    }

    fn check(
        &mut self,
        namespace: &Namespace,
        before: Option<&RawDocument>,
        after: &RawDocument,
    ) -> Result<()> {
        let Some(collection) = self.definition(namespace) else { return Ok(()) };
        let Some(validator) = &collection.validator else { return Ok(()) };
        let Some(failure) = validator.failure_of(before, after)? else { return Ok(()) };
        match validator.action {
            Action::Error => Err(failure),
            // What is refused is not tried again.
            Action::ErrorAndLog => {
                Warning::of(namespace, after, &failure).log();
                Err(failure)
            }
            Action::Warn => {
                self.warn(Warning::of(namespace, after, &failure));
                Ok(())
            }
        }
    }

    fn check_needs(&self, namespace: &Namespace, needs: &mut Needs) {
        if let Some(collection) = self.definition(namespace)
            && let Some(validator) = &collection.validator
        {
            needs.merge(validator.needs());
        }
    }

    fn watched(&self, namespace: &Namespace) -> Watched {
        if !self.events.is_on() || !changes::is_watched(namespace) || !self.merges(namespace) {
            return Watched::Not;
        }
        match self.definition(namespace) {
            Some(collection) if changes::keeps_images(collection) => Watched::Documents,
            _ => Watched::Changes,
        }
    }

    fn announce(&mut self, change: ShownChange) {
        self.events.shown = Some(change);
    }

    fn index_entries(&self) -> Option<u64> {
        Some(self.index_entries)
    }

    async fn retry(&mut self) -> Result<bool> {
        if self.is_clients() {
            return Ok(false);
        }
        self.start_over().await?;
        Ok(true)
    }
}

impl Transaction {
    /// Whether clients see documents with elements that are in pages.
    fn merges(&self, namespace: &Namespace) -> bool {
        let guarded = self.guarded(namespace);
        guarded.is_some_and(|roles| roles.policy().is_some_and(Policy::merges))
    }

    /// The collection to insert into, made if there is none: the first insert
    /// does that, and one that meets a drop.
    async fn enter_or_create(&mut self, namespace: &Namespace) -> Result<Arc<Collection>> {
        let absent = self.absent.as_ref().is_some_and(|absent| absent.namespace == *namespace);
        let too_early = absent && !self.is_clients();
        loop {
            match self.enter(namespace).await? {
                Some(view) if view.is_view() => {
                    return Err(Code::CommandNotSupportedOnView
                        .error(format!("Namespace {namespace} is a view, not a collection")));
                }
                // It may have come with a policy and a validator, which the document has not met.
                Some(_) if too_early => return Err(conflict()),
                Some(collection) => return Ok(collection),
                None if self.is_clients() => {
                    let options = RawDocumentBuf::new();
                    return self
                        .create(NewCollection { namespace, options: &options, view: false })
                        .await;
                }
                // Making it waits for others, who may wait for what is held already.
                None if !self.entered.is_empty() => {
                    self.missing = Some(namespace.clone());
                    return Err(conflict());
                }
                None => self.engine.clone().ensure(namespace).await.map(|_| ())?,
            }
        }
    }

    /// The record as it is now, its intent taken; `None` if it is gone.
    pub async fn claim(
        &mut self,
        collection: &Arc<Collection>,
        record: RecordId,
        needs: &Needs,
    ) -> Result<Option<Row>> {
        if self.take(Subject::record(collection.id, record)).await? {
            self.check_unchanged(Tree::Records, &keys::record(collection.id, record))?;
        }
        let view = self.view();
        let Some(record) = view.record(collection.id, record)? else { return Ok(None) };
        let document = record.load(&view, needs)?;
        Ok(Some(Row { collection: collection.clone(), record, document }))
    }

    fn next_record(&mut self, collection: &Collection) -> Result<RecordId> {
        let next = &collection.state.next_record;
        if next.load(Ordering::Acquire) == 0 {
            let last = last_record(&self.base.view, collection.id)?;
            // Of concurrent inserts one sets it; no record has been numbered before that.
            let _ = next.compare_exchange(0, last + 1, Ordering::AcqRel, Ordering::Acquire);
        }
        Ok(RecordId(next.fetch_add(1, Ordering::AcqRel)))
    }

    /// Takes a document apart for storage, and measures what becomes of the arrays that a
    /// policy names.
    fn split(
        &self,
        namespace: &Namespace,
        row: Option<&Row>,
        version: Version<'_>,
        before: Option<Before<'_>>,
        cause: Cause<'_, Transaction>,
    ) -> Result<Apart> {
        let guarded = self.guarded(namespace);
        let guarded = guarded.as_deref();
        let Cause { update, note } = cause;
        let has_pages = |it: &ArrayLength| it.after.is_some_and(|length| length.pages > 0);
        let without_pages =
            note.is_some_and(|note| note.complete && !note.arrays.iter().any(has_pages));
        // Arrays that stay as they are stay in line where nothing is out of line.
        let none = before.is_none() && without_pages;
        let cold = match guarded {
            Some(guarded) if !none => guarded.cold(version, note),
            _ => Vec::new(),
        };
        let split = large::split(version, before, self.engine.store.secret(), &cold);
        Ok(Apart {
            split,
            paged: self.paged(guarded, row, version),
            lengthened: self.lengthened(guarded, row, Some(version), update, note)?,
        })
    }

    /// The row with those arrays loaded that are to be compared with their successors, to
    /// keep segments that stay, or to see what changed.
    fn load_former(
        &mut self,
        row: &Row,
        before: Option<Before<'_>>,
        after: &RawDocument,
        logged: bool,
    ) -> Result<Option<RawDocumentBuf>> {
        let Some(before) = before else { return Ok(None) };
        let secret = self.engine.store.secret();
        let unloaded = match logged {
            true => before.unknown(after, secret),
            false => before.unloaded(after, secret),
        };
        if unloaded.is_empty() {
            return Ok(None);
        }
        large::join(&self.view(), &row.record, &row.document, &Needs::Paths(unloaded))
    }

    /// The numbers of the large values stored for a row.
    fn large_numbers(&self, row: &Row) -> Vec<u32> {
        match row.record.next_large() {
            Some(_) => large::numbers(row.record.stored(), self.engine.store.secret()),
            None => Vec::new(),
        }
    }

    /// Deletes some of the oldest documents of a capped collection, as long as it is over its
    /// bounds; true when it is not any more.
    pub async fn trim(&mut self, namespace: &Namespace, most: usize) -> Result<bool> {
        let Some(collection) = self.enter(namespace).await? else { return Ok(true) };
        self.take(Subject::record(collection.id, WHOLE_COLLECTION)).await?;
        self.make_room(&collection, most).await
    }

    async fn make_room(&mut self, collection: &Arc<Collection>, most: usize) -> Result<bool> {
        let CollectionKind::Capped { bytes_max, documents_max } = collection.kind else {
            return Ok(true);
        };
        for _ in 0..most {
            let view = self.view();
            let mut counts = view.counts(collection.id)?;
            if let Some(grown) = self.grown.iter().find(|it| it.collection.id == collection.id) {
                counts.documents = counts.documents.saturating_add_signed(grown.documents);
                counts.bytes = counts.bytes.saturating_add_signed(grown.bytes);
            }
            let over =
                counts.bytes > bytes_max || documents_max.is_some_and(|max| counts.documents > max);
            if !over || counts.documents <= 1 {
                return Ok(true);
            }
            let all = (Bound::Unbounded, Bound::Unbounded);
            let Some(oldest) = view.records(collection.id, all).next() else { return Ok(true) };
            let (oldest, _) = oldest?;
            let Some(row) = self.claim(collection, oldest, &Needs::none()).await? else {
                return Ok(true);
            };
            write::Transaction::delete(self, &collection.namespace, &row).await?;
        }
        Ok(false)
    }
}

/// A document taken apart for storage, and what is measured of it.
struct Apart {
    split: large::Split,
    paged: PagedBytes,
    lengthened: Option<LengthenedArrays>,
}

fn last_record(view: &crate::storage::View, collection: CollectionId) -> Result<u64> {
    let mut records = view.records(collection, (Bound::Unbounded, Bound::Unbounded));
    match records.next_back() {
        Some(last) => Ok(last?.0.0),
        None => Ok(0),
    }
}
