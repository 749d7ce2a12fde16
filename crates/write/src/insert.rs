//! Inserts.

use crate::{
    Backend, FastInsert, Guard, Inserted, NoteOf, RetryRecord, Transaction, TransactionBody,
    Version, document, in_transaction, limits, shown,
};
use bson::{RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Error, Result};
use std::borrow::Cow;
use std::ops::Range;

/// Documents and bytes that are inserted in one transaction, as long as none of
/// them fails.
const GROUP_DOCUMENTS_MAX: usize = 1_000;
const GROUP_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Documents to insert, in order.
#[derive(Debug, Clone, Copy)]
pub struct Insert<'a> {
    pub namespace: &'a Namespace,
    pub documents: &'a [&'a RawDocument],
    /// The number of each, where they are retryable.
    pub statements: Option<&'a [i32]>,
    /// Whether the first failure ends it.
    pub ordered: bool,
    pub bypass_validation: bool,
}

impl<'a> Insert<'a> {
    /// Inserts of the server's own, which are not retried by a client.
    pub fn own(namespace: &'a Namespace, documents: &'a [&'a RawDocument]) -> Insert<'a> {
        Insert { namespace, documents, statements: None, ordered: true, bypass_validation: true }
    }
}

/// Inserts documents. Gives back how many were inserted; `failed` gets each that was not, and
/// may end all.
pub async fn insert<B: Backend>(
    backend: &B,
    insert: Insert<'_>,
    mut failed: impl FnMut(usize, Error) -> Result<()>,
) -> Result<usize> {
    let Insert { documents, ordered, .. } = insert;
    let mut inserted = 0;
    let mut at = 0;
    // The document that ends the group, if that is known to fail.
    let mut failing: Option<Failed> = None;
    while at < documents.len() {
        let end = match &failing {
            Some(failing) => failing.index,
            None => at + group_length(&documents[at..]),
        };
        match together(backend, insert, at..end).await? {
            None => {
                inserted += end - at;
                at = end;
            }
            // A client's transaction ends with its first failure.
            Some(Failed { index, error }) if backend.is_clients() => {
                inserted += index - at;
                failed(index, error)?;
                return Ok(inserted);
            }
            // Those in front of it are inserted without it.
            known => failing = known,
        }
        if let Some(Failed { index, error }) = failing.take_if(|known| known.index == at) {
            failed(index, error)?;
            at += 1;
            if ordered {
                return Ok(inserted);
            }
        }
    }
    Ok(inserted)
}

fn group_length(documents: &[&RawDocument]) -> usize {
    let mut bytes = 0;
    let fits = documents.iter().take(GROUP_DOCUMENTS_MAX).take_while(|document| {
        let fits = bytes < GROUP_BYTES_MAX;
        bytes += document.as_bytes().len();
        fits
    });
    fits.count()
}

/// A document that kept its group from being inserted.
struct Failed {
    index: usize,
    error: Error,
}

/// Inserts all of these or none. The outer error is one that ends the whole command; the
/// inner one belongs to a document.
async fn together<B: Backend>(
    backend: &B,
    insert: Insert<'_>,
    places: Range<usize>,
) -> Result<Option<Failed>> {
    let first = places.start;
    let documents = &insert.documents[places.clone()];
    let statements = insert.statements.and_then(|statements| statements.get(places));
    let mut group = Group { insert: Insert { documents, statements, ..insert }, failed: None };
    match in_transaction(backend, &mut group).await {
        Ok(()) => Ok(None),
        Err(error) => match group.failed {
            Some(index) if error.code() != Code::WriteConflict => {
                Ok(Some(Failed { index: first + index, error }))
            }
            _ => Err(error),
        },
    }
}

/// Documents that are inserted together.
struct Group<'a> {
    insert: Insert<'a>,
    /// The one that the last attempt ended with.
    failed: Option<usize>,
}

impl<T: Transaction> TransactionBody<T> for Group<'_> {
    type Outcome = ();

    async fn attempt(&mut self, transaction: &mut T) -> Result<()> {
        let Insert { namespace, documents, bypass_validation, .. } = self.insert;
        // What fails before the first is no document's own.
        self.failed = None;
        load_ahead(transaction, namespace, documents).await?;
        for (index, document) in documents.iter().enumerate() {
            self.failed = Some(index);
            check_size(document)?;
            let document = document::prepare(document)?;
            insert_in(transaction, namespace, document, bypass_validation, check_size).await?;
        }
        self.failed = None;
        Ok(())
    }

    fn record(&self, (): &()) -> Result<RetryRecord<'_>> {
        Ok(self.insert.statements.map_or(RetryRecord::None, RetryRecord::Inserts))
    }
}

/// Loads what all of these documents need of others, at once.
async fn load_ahead<T: Transaction>(
    transaction: &mut T,
    namespace: &Namespace,
    documents: &[&RawDocument],
) -> Result<()> {
    let Some(guard) = transaction.guard(namespace).await? else { return Ok(()) };
    match guard.insert_needs(documents) {
        wanted if wanted.is_empty() => Ok(()),
        wanted => transaction.load_ahead(&wanted).await,
    }
}

/// Inserts a document, which has an `_id`, through the patterns and the validator of its
/// collection. Gives back what is stored; `None` if a pattern has put it elsewhere. `check`
/// refuses what is too large with what the patterns have added.
pub async fn insert_in<'d, T: Transaction>(
    transaction: &mut T,
    namespace: &Namespace,
    document: Cow<'d, RawDocument>,
    bypass_validation: bool,
    check: fn(&RawDocument) -> Result<()>,
) -> Result<Option<Stored<'d>>> {
    let guard = transaction.guard(namespace).await?;
    let Inserted { document, sidecar, note } = guarded(&guard, transaction, document).await?;
    let Some(document) = document else { return Ok(None) };
    check(&document)?;
    if !bypass_validation {
        transaction.check(namespace, None, &document)?;
    }
    let stored = Stored { document, sidecar };
    if let Some(guard) = &guard
        && guard.shows_more(stored.version())
    {
        shown::announce_insert(&**guard, transaction, namespace, stored.version()).await?;
    }
    transaction.insert(namespace, stored.version(), Some(&note)).await?;
    Ok(Some(stored))
}

/// A document as it has been inserted.
#[derive(Debug)]
pub struct Stored<'d> {
    pub document: Cow<'d, RawDocument>,
    sidecar: Option<RawDocumentBuf>,
}

impl Stored<'_> {
    pub fn version(&self) -> Version<'_> {
        Version { document: &self.document, sidecar: self.sidecar.as_deref() }
    }
}

/// What the patterns make of a new document. The slow path is boxed: what an asynchronous
/// function may have to keep, it keeps for all.
async fn guarded<'d, T: Transaction>(
    guard: &Option<T::Guard>,
    transaction: &mut T,
    document: Cow<'d, RawDocument>,
) -> Result<Inserted<'d, NoteOf<T>>> {
    let Some(guard) = guard else {
        let note = NoteOf::<T>::default();
        return Ok(Inserted { document: Some(document), sidecar: None, note });
    };
    match guard.fast_insert(document)? {
        FastInsert::Done(inserted) => Ok(inserted),
        FastInsert::Slow(document) => Box::pin(guard.insert(transaction, document)).await,
    }
}

/// Of a document as the client sent it, with an `_id`, and with what its patterns have added.
pub fn check_size(document: &RawDocument) -> Result<()> {
    match document.as_bytes().len() {
        size if size > limits::DOCUMENT_BYTES_MAX => Err(limits::insert_too_large(size)),
        _ => limits::check_depth(document),
    }
}
