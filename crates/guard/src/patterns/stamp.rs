//! A pattern for tests, which proves that a pattern is one module and one row.
//!
//! A build of the whole workspace contains it, so it is dormant until a test switches it on in its
//! own process. Then it takes part under policies that warn at a size no other names. What is
//! written gets a field that names the kind of the write, and the collection `log` gets a line for
//! each document, through that one's own patterns and validator: where that refuses, all is rolled
//! back. With a document go those of the collection `companions` whose `_id`s it lists.

use super::declaration::Declaration;
use super::pattern::{Change, Insertion, Pattern, Step};
use super::{fields, place};
use crate::policy::Policy;
use bson::{RawBson, RawBsonRef, RawDocument, rawdoc};
use command::Namespace;
use error::Result;
use language::update::Update;
use language::{Context, Needs};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use value::Path;
use write::{Transaction, Wanted};

/// What a policy says to have its documents stamped: `document: {warn_bytes: 12345}`.
const WARN_BYTES: usize = 12_345;

static IS_ON: AtomicBool = AtomicBool::new(false);

const FIELD: &str = "stamp";
/// Lists the companions of a document.
const COMPANIONS: &str = "companions";
/// The one document of the log.
const LOG: &str = "all";

/// Has the pattern take part in the writes of this process from here on.
pub fn switch_on() {
    IS_ON.store(true, Ordering::Relaxed);
}

pub(super) struct Stamp;

impl Declaration for Stamp {
    fn takes_part(&self, policy: &Policy) -> bool {
        policy.document.warn_bytes == Some(WARN_BYTES) && IS_ON.load(Ordering::Relaxed)
    }
}

impl<T: Transaction> Pattern<T> for Stamp {
    fn insert_needs(&self, policy: &Policy, _: &[&RawDocument], wanted: &mut Vec<Wanted>) {
        let id = RawBson::String(LOG.to_owned());
        wanted.push(Wanted { namespace: log_of(policy), id });
    }

    fn insert<'a>(
        &'a self,
        transaction: &'a mut T,
        insertion: &'a mut Insertion<'_, '_>,
    ) -> Step<'a> {
        Box::pin(async {
            let Some(document) = insertion.document.take() else { return Ok(()) };
            log(transaction, insertion.policy, "insert", place::id(&document)).await?;
            insertion.document = Some(Cow::Owned(stamped(&document, "insert")?));
            Ok(())
        })
    }

    fn update<'a, 'c>(&'a self, transaction: &'a mut T, change: &'a mut Change<'c, T>) -> Step<'a>
    where
        'c: 'a,
    {
        Box::pin(async {
            log(transaction, change.policy, "update", place::id(change.row)).await?;
            change.after = stamped(&change.after, "update")?;
            change.altered = true;
            Ok(())
        })
    }

    fn delete_needs(&self, _: &Policy, needs: &mut Needs) {
        needs.add(&Path::new(COMPANIONS));
    }

    fn delete<'a>(
        &'a self,
        transaction: &'a mut T,
        policy: &'a Policy,
        row: &'a T::Row,
    ) -> Step<'a> {
        Box::pin(async move {
            log(transaction, policy, "delete", place::id(row)).await?;
            delete_companions(transaction, policy, row).await
        })
    }
}

async fn delete_companions<T: Transaction>(
    transaction: &mut T,
    policy: &Policy,
    row: &RawDocument,
) -> Result<()> {
    let listed = place::find(row, &Path::new(COMPANIONS));
    for id in listed.iter().flat_map(|listed| listed.children().items()) {
        write::delete_in(transaction, &beside(policy, COMPANIONS), id.value()).await?;
    }
    Ok(())
}

fn stamped(document: &RawDocument, kind: &str) -> Result<bson::RawDocumentBuf> {
    let path = Path::new(FIELD);
    fields::edit(document, &[(&path, Some(RawBson::String(kind.to_owned())))])
}

fn log_of(policy: &Policy) -> Namespace {
    beside(policy, "log")
}

fn beside(policy: &Policy, collection: &str) -> Namespace {
    Namespace { database: policy.namespace.database.clone(), collection: collection.into() }
}

/// Adds a line to the log of a collection, which is one document.
async fn log<T: Transaction>(
    transaction: &mut T,
    policy: &Policy,
    kind: &str,
    id: RawBsonRef<'_>,
) -> Result<()> {
    let log = log_of(policy);
    let line = rawdoc! { "kind": kind, "id": RawBson::from(id) };
    let update = rawdoc! { "$push": { "lines": line } };
    let update = Update::parse(RawBsonRef::Document(&update), None, &Context::new())?;
    let name = RawBsonRef::String(LOG);
    if write::update_in(transaction, &log, name, &update).await? {
        return Ok(());
    }
    let first = rawdoc! { "_id": LOG, "lines": [] };
    let first = Cow::Owned(first);
    write::insert_in(transaction, &log, first, false, write::check_size).await?;
    write::update_in(transaction, &log, name, &update).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_dormant_until_it_is_switched_on() {
        let namespace = Namespace { database: "d".into(), collection: "c".into() };
        let policy = rawdoc! { "document": { "warn_bytes": WARN_BYTES as i32 } };
        let policy = Policy::parse(&namespace, &policy).unwrap();
        assert!(!Stamp.takes_part(&policy));
        switch_on();
        assert!(Stamp.takes_part(&policy));
    }
}
