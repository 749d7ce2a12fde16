//! Inserts.

use crate::{AtOnce, Backend, CountedArrays, Guard, Inserted, Transaction, document, limits};
use bson::RawDocument;
use command::Namespace;
use error::{Code, Error, Result};
use std::borrow::Cow;
use std::ops::Range;

/// Documents and bytes that are inserted in one transaction, as long as none of
/// them fails.
const GROUP_DOCUMENTS_MAX: usize = 1_000;
const GROUP_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Inserts documents in order. With `ordered` the first error ends it. Gives
/// back how many were inserted; `failed` is told of each that was not, and may end all.
pub async fn insert<B: Backend>(
    backend: &B,
    namespace: &Namespace,
    documents: &[&RawDocument],
    ordered: bool,
    bypass_validation: bool,
    mut failed: impl FnMut(usize, Error) -> Result<()>,
) -> Result<usize> {
    let inserter = Inserter { backend, namespace, documents, bypass_validation };
    let mut inserted = 0;
    let mut at = 0;
    // The document that ends the group, if that is known to fail.
    let mut failing: Option<Failed> = None;
    while at < documents.len() {
        let end = match &failing {
            Some(failing) => failing.index,
            None => at + group_length(&documents[at..]),
        };
        match inserter.together(at..end).await? {
            None => {
                inserted += end - at;
                at = end;
            }
            Some(Failed { index, error, again: false }) => {
                inserted += index - at;
                failed(index, error)?;
                return Ok(inserted);
            }
            // Those in front of it are inserted without it.
            known => failing = known,
        }
        if let Some(Failed { index, error, .. }) = failing.take_if(|known| known.index == at) {
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

struct Inserter<'a, B> {
    backend: &'a B,
    namespace: &'a Namespace,
    documents: &'a [&'a RawDocument],
    bypass_validation: bool,
}

/// A document that kept its group from being inserted.
struct Failed {
    index: usize,
    error: Error,
    /// Whether the others may be tried without it; not in a client's transaction,
    /// which ends with its first failure.
    again: bool,
}

impl<B: Backend> Inserter<'_, B> {
    /// Inserts all of them or none. The outer error is one that ends the whole
    /// command; the inner one belongs to a document.
    async fn together(&self, places: Range<usize>) -> Result<Option<Failed>> {
        let mut transaction = self.backend.begin().await?;
        loop {
            let Err((index, error)) = self.attempt(&mut transaction, places.clone()).await else {
                break;
            };
            let again = transaction.retry().await?;
            match error.code() {
                Code::WriteConflict if again => {}
                Code::WriteConflict => return Err(error),
                _ => return Ok(Some(Failed { index, error, again })),
            }
        }
        self.backend.commit_inserted(transaction, places).await?;
        Ok(None)
    }

    async fn attempt(
        &self,
        transaction: &mut B::Transaction,
        places: Range<usize>,
    ) -> Result<(), (usize, Error)> {
        for (document, index) in self.documents[places.clone()].iter().zip(places) {
            self.one(transaction, document).await.map_err(|error| (index, error))?;
        }
        Ok(())
    }

    async fn one(&self, transaction: &mut B::Transaction, document: &RawDocument) -> Result<()> {
        check_size(document)?;
        let document = document::prepare(document)?;
        let guard = transaction.guard(self.namespace).await?;
        let Inserted { document, counted } = guarded(&guard, transaction, document).await?;
        check_size(&document)?;
        if !self.bypass_validation {
            transaction.check(self.namespace, None, &document)?;
        }
        transaction.insert(self.namespace, &document, &counted).await
    }
}

/// What a guard makes of a new document. What takes long is seldom, and kept apart: what an
/// asynchronous function may have to keep, it keeps for all.
pub async fn guarded<'d, T: Transaction>(
    guard: &Option<T::Guard>,
    transaction: &mut T,
    document: Cow<'d, RawDocument>,
) -> Result<Inserted<'d>> {
    let Some(guard) = guard else {
        return Ok(Inserted { document, counted: CountedArrays::new() });
    };
    match guard.insert_at_once(document)? {
        AtOnce::Done(inserted) => Ok(inserted),
        AtOnce::Not(document) => Box::pin(guard.insert(transaction, document)).await,
    }
}

/// Of a document as the client sent it, with an `_id`, and with what its guard has added.
fn check_size(document: &RawDocument) -> Result<()> {
    match document.as_bytes().len() {
        size if size > limits::DOCUMENT_BYTES_MAX => Err(limits::insert_too_large(size)),
        _ => limits::check_depth(document),
    }
}
