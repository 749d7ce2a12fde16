//! A store that keeps documents in lists and looks at all of them.
//!
//! What is outside a row's needs is really missing from it, so that patterns which
//! rely on more than they declare fail.

mod past;

use crate::call::Records;
use bson::spec::{BinarySubtype, ElementType};
use bson::{Binary, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Result};
use guard::read::ReadPlan;
use guard::{Lease, Policy, Table, patterns::place};
use language::query::Filter;
use language::update::Update;
use language::{Context, Needs};
pub use past::Past;
use past::{matching, position};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use value::element::get_value;
use value::{DocumentWriter, Element, Path, compare, elements};
use write::{
    Backend, Candidates, Cause, Find, Insert, NoteOf, RetryRecord, Returns, Selection, ShownChange,
    StoredRow, Transaction, Transactions, UpdateRequest, Updated, Version, Wanted, Watched,
};

type Collections = BTreeMap<Namespace, Vec<Kept>>;

/// A document, and what its policy keeps beside it.
#[derive(Debug, Clone)]
pub struct Kept {
    document: RawDocumentBuf,
    sidecar: Option<RawDocumentBuf>,
}

impl Kept {
    fn of(version: Version<'_>) -> Kept {
        let Version { document, sidecar } = version;
        Kept { document: document.to_owned(), sidecar: sidecar.map(RawDocument::to_owned) }
    }
}

impl From<RawDocumentBuf> for Kept {
    fn from(document: RawDocumentBuf) -> Kept {
        Kept { document, sidecar: None }
    }
}

impl Deref for Kept {
    type Target = RawDocument;

    fn deref(&self) -> &RawDocument {
        &self.document
    }
}

/// What stands for an array outside the needs.
const ABSENT: BinarySubtype = BinarySubtype::UserDefined(0xF0);

#[derive(Default)]
pub struct Memory {
    committed: Arc<Mutex<Collections>>,
    pub(crate) table: Table,
    pub(crate) records: Records,
    /// Whether rows have all of their document, as the engine's have of small ones: then a
    /// write that changes nothing is seen to.
    pub shows_all: bool,
    /// How many writes a transaction may do before it meets another's, once; 0 for any number.
    pub conflict_after: usize,
    /// Who watches the changes of collections that are not shown as they are stored.
    pub watched: Watched,
    /// Writes that were announced as clients see them, and committed.
    shown: Arc<Mutex<Vec<Shown>>>,
    /// What the transaction has read of documents that was committed last.
    loaded_bytes: Arc<AtomicUsize>,
    /// How often its transactions went for documents by their `_id`s: as on a cluster, one that
    /// was loaded ahead is there.
    round_trips: Arc<AtomicUsize>,
}

/// A write as it was announced, and which collection's it became.
pub type Shown = (Namespace, Arc<ShownChange>);

/// A memory under a policy that is not set. Nothing can be committed to it.
pub struct Proposed(Memory);

impl Memory {
    pub fn with_policy(collection: &str, policy: &RawDocument) -> Memory {
        let policy = Policy::parse(&namespace(collection), policy).unwrap();
        Memory { table: Table::default().with(policy), ..Memory::default() }
    }

    /// As `with_policy`; documents may be older than the policy.
    pub fn with_uncounted_policy(collection: &str, policy: &RawDocument) -> Memory {
        let policy = Policy::parse(&namespace(collection), policy).unwrap();
        let table = Table::default().with(policy.with_counted(false));
        Memory { table, ..Memory::default() }
    }

    pub fn set_policy(&mut self, collection: &str, policy: &RawDocument) {
        let policy = Policy::parse(&namespace(collection), policy).unwrap();
        self.table = self.table.with(policy);
    }

    /// Begins to leave the policy of a collection.
    pub fn set_leaving(&mut self, collection: &str) {
        let policy = self.table.policy(&namespace(collection)).unwrap().with_leaving(true);
        self.table = self.table.with(policy);
    }

    /// The same documents, under a policy that is not set.
    pub fn proposing(&self, policy: Policy) -> Proposed {
        let table = self.table.with(policy);
        Proposed(Memory { committed: self.committed.clone(), table, ..Memory::default() })
    }

    pub fn shown(&self) -> Vec<Shown> {
        self.shown.lock().unwrap().clone()
    }

    pub fn loaded_bytes(&self) -> usize {
        self.loaded_bytes.load(Ordering::Relaxed)
    }

    pub fn round_trips(&self) -> usize {
        self.round_trips.load(Ordering::Relaxed)
    }

    /// Stores a document as it is, past the policy.
    pub fn put(&self, collection: &str, document: RawDocumentBuf) {
        let mut committed = self.committed.lock().unwrap();
        committed.entry(namespace(collection)).or_default().push(document.into());
    }

    /// The same with what the policy keeps beside it.
    pub fn put_beside(&self, collection: &str, document: RawDocumentBuf, sidecar: RawDocumentBuf) {
        let kept = Kept { document, sidecar: Some(sidecar) };
        self.committed.lock().unwrap().entry(namespace(collection)).or_default().push(kept);
    }

    /// Puts documents in the place of all that are there, past the policy.
    pub fn replace_all(&self, collection: &str, documents: Vec<RawDocumentBuf>) {
        self.committed
            .lock()
            .unwrap()
            .insert(namespace(collection), documents.into_iter().map(Kept::from).collect());
    }

    pub fn documents(&self, collection: &str) -> Vec<RawDocumentBuf> {
        let committed = self.committed.lock().unwrap();
        let kept = committed.get(&namespace(collection)).into_iter().flatten();
        kept.map(|kept| kept.document.clone()).collect()
    }

    /// What the policy keeps beside each of them.
    pub fn sidecars(&self, collection: &str) -> Vec<Option<RawDocumentBuf>> {
        let committed = self.committed.lock().unwrap();
        let kept = committed.get(&namespace(collection)).into_iter().flatten();
        kept.map(|kept| kept.sidecar.clone()).collect()
    }

    /// Puts this in the place of what the policy keeps beside each document.
    pub fn put_sidecars(&self, collection: &str, sidecar: &RawDocument) {
        let mut committed = self.committed.lock().unwrap();
        let kept = committed.get_mut(&namespace(collection)).into_iter().flatten();
        kept.for_each(|kept| kept.sidecar = Some(sidecar.to_owned()));
    }

    pub async fn insert(&self, collection: &str, document: &RawDocument) -> Result<()> {
        self.insert_many(collection, &[document]).await
    }

    pub async fn insert_many(&self, collection: &str, documents: &[&RawDocument]) -> Result<()> {
        let namespace = namespace(collection);
        let failed = |_, error| Err(error);
        let insert = Insert { bypass_validation: false, ..Insert::own(&namespace, documents) };
        write::insert(self, insert, failed).await.map(|_| ())
    }

    pub async fn update(
        &self,
        collection: &str,
        filter: &RawDocument,
        update: RawBsonRef<'_>,
        array_filters: Option<&bson::RawArray>,
    ) -> Result<Updated> {
        let update = Update::parse(update, array_filters, &Context::new())?;
        self.change(collection, filter, &update, None, false).await
    }

    /// Updates, or inserts what is missing, and returns what the caller wants to see.
    pub async fn change(
        &self,
        collection: &str,
        filter: &RawDocument,
        update: &Update,
        returns: Option<Returns<'_>>,
        upsert: bool,
    ) -> Result<Updated> {
        let filter = Arc::new(Filter::parse(filter, &Context::new())?);
        let selection = Selection { filter: &filter, sort: None, hint: None, multi: true };
        let change = UpdateRequest {
            selection,
            update,
            upsert,
            bypass_validation: false,
            returns,
            retry: None,
        };
        write::update(self, &namespace(collection), &change).await
    }

    pub async fn delete(&self, collection: &str, filter: &RawDocument) -> Result<u64> {
        let filter = Arc::new(Filter::parse(filter, &Context::new())?);
        let selection = Selection { filter: &filter, sort: None, hint: None, multi: true };
        let delete = write::Delete { selection, returns: None, retry: None };
        Ok(write::delete(self, &namespace(collection), &delete).await?.count)
    }
}

pub fn namespace(collection: &str) -> Namespace {
    Namespace::new("test", collection).unwrap()
}

impl Transactions for Proposed {
    type Transaction = Copied;
    type Snapshot = Past;

    async fn begin(&self) -> Result<Copied> {
        self.0.begin().await
    }

    async fn snapshot(&self) -> Result<Past> {
        self.0.snapshot().await
    }
}

impl Transactions for Memory {
    type Transaction = Copied;
    type Snapshot = Past;

    async fn begin(&self) -> Result<Copied> {
        let table = self.table.clone();
        let collections = self.committed.lock().unwrap().clone();
        let (begun, conflict_after) = (collections.clone(), self.conflict_after);
        let shows_all = self.shows_all;
        let written = false;
        Ok(Copied {
            begun,
            collections,
            table,
            shows_all,
            written,
            conflict_after,
            loaded_bytes: 0,
            ahead: Vec::new(),
            watched: self.watched,
            announced: None,
            shown: Vec::new(),
            round_trips: self.round_trips.clone(),
        })
    }

    async fn snapshot(&self) -> Result<Past> {
        Ok(Past { collections: self.committed.lock().unwrap().clone() })
    }
}

impl Backend for Memory {
    type Candidates = Ids;

    async fn commit(&self, transaction: Copied, _: RetryRecord<'_>) -> Result<()> {
        *self.committed.lock().unwrap() = transaction.collections;
        self.shown.lock().unwrap().extend(transaction.shown);
        self.loaded_bytes.store(transaction.loaded_bytes, Ordering::Relaxed);
        Ok(())
    }

    async fn select(&self, namespace: &Namespace, selection: &Selection<'_>) -> Result<Ids> {
        let committed = self.committed.lock().unwrap();
        let mut ids = Vec::new();
        // Where filters see more than is stored, a claimed document is matched again.
        let shows_more =
            self.table.policy(namespace).is_some_and(|it| it.merged().next().is_some());
        let hidden = self.table.get(namespace);
        let hidden = hidden.and_then(|roles| ReadPlan::of_hidden(roles, selection.filter));
        let mut others = Vec::new();
        for document in committed.get(namespace).into_iter().flatten() {
            let id = get_value(document, "_id").map(RawBson::from);
            match shows_more || selection.filter.matches(document)? {
                true => ids.extend(id),
                false => others.extend(id.filter(|_| hidden.is_some())),
            }
        }
        ids.extend(others);
        ids.reverse();
        Ok(Ids { namespace: namespace.clone(), ids, current: None })
    }
}

pub struct Ids {
    namespace: Namespace,
    ids: Vec<RawBson>,
    current: Option<RawBson>,
}

impl Candidates<Copied> for Ids {
    async fn advance(&mut self) -> Result<bool> {
        self.current = self.ids.pop();
        Ok(self.current.is_some())
    }

    async fn claim(&mut self, transaction: &mut Copied, needs: &Needs) -> Result<Option<Row>> {
        match &self.current {
            Some(id) => transaction.get(&self.namespace, id.as_raw_bson_ref(), needs).await,
            None => Ok(None),
        }
    }
}

/// A transaction that works on a copy of everything.
pub struct Copied {
    begun: Collections,
    watched: Watched,
    announced: Option<ShownChange>,
    shown: Vec<Shown>,
    collections: Collections,
    table: Table,
    shows_all: bool,
    written: bool,
    /// Writes until it meets another's.
    conflict_after: usize,
    /// What has been read of documents so far.
    pub loaded_bytes: usize,
    /// What has been loaded already.
    ahead: Vec<Wanted>,
    round_trips: Arc<AtomicUsize>,
}

pub struct Row {
    whole: Kept,
    shown: RawDocumentBuf,
}

impl Row {
    fn new(whole: &Kept, needs: &Needs) -> Row {
        let mut shown = DocumentWriter::new();
        hide(elements(whole), "", needs, &mut shown);
        Row { whole: whole.clone(), shown: shown.finish() }
    }

    fn id(&self) -> RawBsonRef<'_> {
        get_value(&self.whole, "_id").unwrap()
    }
}

impl StoredRow for Row {
    fn sidecar(&self) -> Option<&RawDocument> {
        self.whole.sidecar.as_deref()
    }
}

impl Deref for Row {
    type Target = RawDocument;

    fn deref(&self) -> &RawDocument {
        &self.shown
    }
}

fn absent(path: &str) -> RawBson {
    RawBson::Binary(Binary { subtype: ABSENT, bytes: path.as_bytes().to_vec() })
}

fn hide<'a>(
    fields: impl Iterator<Item = Element<'a>>,
    at: &str,
    needs: &Needs,
    out: &mut DocumentWriter,
) {
    for field in fields {
        let path = if at.is_empty() { field.key.to_owned() } else { format!("{at}.{}", field.key) };
        match field.kind {
            ElementType::Array if !needs.contains(&Path::new(&path)) => {
                out.append(field.key, absent(&path).as_raw_bson_ref());
            }
            ElementType::EmbeddedDocument if path != "_id" => {
                out.begin_document(field.key);
                hide(field.children(), &path, needs, out);
                out.end();
            }
            _ => out.copy(field),
        }
    }
}

/// Puts back what was missing.
fn restore<'a>(
    fields: impl Iterator<Item = Element<'a>>,
    whole: &RawDocument,
    out: &mut DocumentWriter,
) {
    for field in fields {
        match field.value() {
            RawBsonRef::Binary(binary) if binary.subtype == ABSENT => {
                let path = Path::new(std::str::from_utf8(binary.bytes).unwrap());
                let old = place::find(whole, &path).unwrap();
                out.copy_as(field.key, old);
            }
            RawBsonRef::Document(_) => {
                out.begin_document(field.key);
                restore(field.children(), whole, out);
                out.end();
            }
            _ => out.copy(field),
        }
    }
}

impl Copied {
    pub(crate) fn has_written(&self) -> bool {
        self.written
    }

    fn write(&mut self, namespace: &Namespace) -> Result<()> {
        self.written = true;
        // What is announced is how the next write is shown, whichever that is.
        let announced = self.announced.take();
        self.shown.extend(announced.map(|change| (namespace.clone(), Arc::new(change))));
        self.conflict_after = self.conflict_after.wrapping_sub(1);
        match self.conflict_after {
            0 => Err(Code::WriteConflict.error("another writer")),
            _ => Ok(()),
        }
    }

    /// The needed part of a document, or all of it.
    fn row(&self, whole: &Kept, needs: &Needs) -> Row {
        Row::new(whole, if self.shows_all { &Needs::All } else { needs })
    }

    fn position(&self, namespace: &Namespace, id: RawBsonRef<'_>) -> Option<usize> {
        position(&self.collections, namespace, id)
    }
}

impl Transaction for Copied {
    type Row = Row;
    type Guard = Lease;

    async fn guard(&mut self, namespace: &Namespace) -> Result<Option<Lease>> {
        Ok(self.table.get(namespace).cloned())
    }

    async fn get(
        &mut self,
        namespace: &Namespace,
        id: RawBsonRef<'_>,
        needs: &Needs,
    ) -> Result<Option<Row>> {
        let is_wanted = |it: &Wanted| {
            it.namespace == *namespace && compare(it.id.as_raw_bson_ref(), id).is_eq()
        };
        if !self.ahead.iter().any(is_wanted) {
            self.round_trips.fetch_add(1, Ordering::Relaxed);
        }
        let at = self.position(namespace, id);
        Ok(at.map(|at| self.row(&self.collections[namespace][at], needs)))
    }

    async fn load_ahead(&mut self, wanted: &[Wanted]) -> Result<()> {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        self.ahead.extend_from_slice(wanted);
        Ok(())
    }

    async fn load(&mut self, row: &Row, needs: &Needs) -> Result<Row> {
        let row = self.row(&row.whole, needs);
        self.loaded_bytes += row.shown.as_bytes().len();
        Ok(row)
    }

    fn size(&self, row: &Row, document: &RawDocument) -> usize {
        let mut whole = DocumentWriter::new();
        restore(elements(document), &row.whole, &mut whole);
        whole.finish().as_bytes().len()
    }

    async fn find(&mut self, namespace: &Namespace, find: &Find<'_>) -> Result<Vec<Row>> {
        let found = matching(&self.collections, namespace, find.filter, find.sort)?;
        let rows = found.iter().take(find.limit).map(|document| self.row(document, find.needs));
        let mut bytes = 0;
        let wanted = rows.take_while(|row| {
            let wanted = bytes < find.bytes;
            bytes += row.shown.as_bytes().len();
            wanted
        });
        let rows: Vec<Row> = wanted.collect();
        self.loaded_bytes += rows.iter().map(|row| row.shown.as_bytes().len()).sum::<usize>();
        Ok(rows)
    }

    async fn insert(
        &mut self,
        namespace: &Namespace,
        version: Version<'_>,
        _: Option<&NoteOf<Copied>>,
    ) -> Result<()> {
        self.write(namespace)?;
        if self.position(namespace, get_value(version.document, "_id").unwrap()).is_some() {
            return Err(Code::DuplicateKey.error(format!("E11000 in {namespace}")));
        }
        self.collections.entry(namespace.clone()).or_default().push(Kept::of(version));
        Ok(())
    }

    async fn replace(
        &mut self,
        namespace: &Namespace,
        row: &Row,
        after: Version<'_>,
        _: Cause<'_, Copied>,
    ) -> Result<()> {
        self.write(namespace)?;
        let at = self.position(namespace, row.id()).unwrap();
        let mut whole = DocumentWriter::new();
        restore(elements(after.document), &row.whole, &mut whole);
        let (document, sidecar) = (whole.finish(), after.sidecar);
        let kept = Kept::of(Version { document: &document, sidecar });
        self.collections.get_mut(namespace).unwrap()[at] = kept;
        Ok(())
    }

    async fn delete(&mut self, namespace: &Namespace, row: &Row) -> Result<()> {
        self.write(namespace)?;
        let at = self.position(namespace, row.id()).unwrap();
        self.collections.get_mut(namespace).unwrap().remove(at);
        Ok(())
    }

    fn check(&mut self, _: &Namespace, _: Option<&RawDocument>, _: &RawDocument) -> Result<()> {
        Ok(())
    }

    fn check_needs(&self, _: &Namespace, _: &mut Needs) {}

    fn watched(&self, namespace: &Namespace) -> Watched {
        match self.table.policy(namespace).is_some_and(Policy::merges) {
            true => self.watched,
            false => Watched::Not,
        }
    }

    fn announce(&mut self, change: ShownChange) {
        self.announced = Some(change);
    }

    async fn retry(&mut self) -> Result<bool> {
        self.collections = self.begun.clone();
        self.written = false;
        self.announced = None;
        self.shown.clear();
        Ok(true)
    }
}
