//! `insert`.

use super::{Statements, goes_on};
use crate::Insert;
use bson::RawDocument;
use command::WriteReply;
use command::views::Insert as InsertView;
use error::Result;
use std::borrow::Cow;

pub async fn insert<B: Statements>(backend: &B, view: &InsertView<'_>) -> Result<WriteReply> {
    backend.check_target(&view.namespace)?;
    let mut reply = WriteReply::of(view.documents.len());
    let pending = match backend.is_retryable() {
        true => Some(Pending::of(backend, view, &mut reply)?),
        false => None,
    };
    let documents: Cow<'_, [&RawDocument]> = match &pending {
        None => Cow::Borrowed(&view.documents),
        Some(pending) => pending.places.iter().map(|place| view.documents[*place]).collect(),
    };
    let insert = Insert {
        namespace: &view.namespace,
        documents: &documents,
        statements: pending.as_ref().map(|pending| &pending.statements[..]),
        ordered: view.options.ordered,
        bypass_validation: view.options.bypass_validation,
    };
    let failures = &mut reply.failures;
    let inserted = crate::insert(backend, insert, |index, error| {
        let index = pending.as_ref().map_or(index, |pending| pending.places[index]);
        goes_on(backend, failures, index, error, false).map(|_| ())
    })
    .await?;
    reply.n += inserted as i32;
    Ok(reply)
}

/// The documents that have not been inserted before.
struct Pending {
    places: Vec<usize>,
    statements: Vec<i32>,
}

impl Pending {
    /// The reply counts those that have.
    fn of<B: Statements>(
        backend: &B,
        view: &InsertView<'_>,
        reply: &mut WriteReply,
    ) -> Result<Pending> {
        let mut pending = Pending { places: Vec::new(), statements: Vec::new() };
        for place in 0..view.documents.len() {
            let statement = view.options.statement_at(place);
            if backend.recorded(statement)?.is_some() {
                reply.n += 1;
                reply.retried_statements.push(statement);
            } else {
                pending.places.push(place);
                pending.statements.push(statement);
            }
        }
        Ok(pending)
    }
}
