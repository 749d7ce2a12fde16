//! Inserts.

use crate::{Backend, Transaction, document, limits};
use bson::RawDocument;
use command::Namespace;
use error::{Code, Error, Result};
use std::borrow::Cow;

/// Documents and bytes that are inserted in one transaction, as long as none of
/// them fails.
const GROUP_DOCUMENTS_MAX: usize = 1_000;
const GROUP_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A document that was not inserted.
#[derive(Debug)]
pub struct InsertError {
    pub index: usize,
    pub error: Error,
}

/// Inserts documents in order. With `ordered` the first error ends it. Gives
/// back how many were inserted; errors go into `errors`.
pub async fn insert<B: Backend>(
    backend: &B,
    namespace: &Namespace,
    documents: &[&RawDocument],
    ordered: bool,
    bypass_validation: bool,
    errors: &mut Vec<InsertError>,
) -> Result<usize> {
    let inserter = Inserter { backend, namespace, bypass_validation };
    let mut inserted = 0;
    let mut at = 0;
    while at < documents.len() {
        let end = at + group_length(&documents[at..]);
        if inserter.together(&documents[at..end]).await?.is_ok() {
            inserted += end - at;
            at = end;
            continue;
        }
        // Some document of the group fails: one by one, to find which.
        for index in at..end {
            match inserter.together(&documents[index..=index]).await? {
                Ok(()) => inserted += 1,
                Err(error) => {
                    errors.push(InsertError { index, error });
                    if ordered {
                        return Ok(inserted);
                    }
                }
            }
        }
        at = end;
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
    bypass_validation: bool,
}

impl<B: Backend> Inserter<'_, B> {
    /// Inserts all of them or none. The outer error is one that ends the whole
    /// command; the inner one belongs to a document.
    async fn together(&self, documents: &[&RawDocument]) -> Result<Result<()>> {
        let mut transaction = self.backend.begin().await?;
        loop {
            match self.attempt(&mut transaction, documents).await {
                Ok(()) => break,
                Err(error) if error.code() == Code::WriteConflict => {
                    if !transaction.retry().await? {
                        return Err(error);
                    }
                }
                Err(error) => return Ok(Err(error)),
            }
        }
        self.backend.commit(transaction).await?;
        Ok(Ok(()))
    }

    async fn attempt(
        &self,
        transaction: &mut B::Transaction,
        documents: &[&RawDocument],
    ) -> Result<()> {
        for document in documents {
            let document = prepare(document)?;
            if !self.bypass_validation {
                transaction.check(self.namespace, None, &document)?;
            }
            transaction.insert(self.namespace, &document).await?;
        }
        Ok(())
    }
}

fn prepare(document: &RawDocument) -> Result<Cow<'_, RawDocument>> {
    let size = document.as_bytes().len();
    if size > limits::DOCUMENT_BYTES_MAX {
        return Err(limits::insert_too_large(size));
    }
    let prepared = document::prepare(document)?;
    let size = prepared.as_bytes().len();
    if size > limits::DOCUMENT_BYTES_MAX {
        return Err(limits::insert_too_large(size));
    }
    Ok(prepared)
}
