//! `bulkWrite`: inserts, updates and deletes in several collections.

use super::context::Let;
use super::{Statements, delete, update};
use crate::{Insert, Updated};
use bson::{RawBson, RawDocument, RawDocumentBuf};
use command::views::{BulkWrite, DeleteStatement, Operation, UpdateStatement};
use command::{FailuresRoom, Namespace};
use error::{Error, Result};
use std::ops::Range;
use value::DocumentWriter;

/// What has been done.
pub struct Bulk {
    /// One for each operation that the client wants to see.
    pub results: Vec<RawDocumentBuf>,
    /// What further failures may weigh.
    room: FailuresRoom,
    pub totals: Totals,
    /// Statements answered from their record.
    pub retried: Vec<i32>,
}

#[derive(Debug, Default)]
pub struct Totals {
    pub errors: i32,
    pub inserted: i32,
    pub matched: i32,
    pub modified: i32,
    pub upserted: i32,
    pub deleted: i32,
}

pub async fn bulk_write<B: Statements>(backend: &B, view: &BulkWrite<'_>) -> Result<Bulk> {
    let bulk = Bulk::of(view.operations.len());
    let mut work = Work { backend, view, variables: Let::new(view.variables), bulk };
    work.run().await?;
    Ok(work.bulk)
}

struct Work<'a, B> {
    backend: &'a B,
    view: &'a BulkWrite<'a>,
    variables: Let<'a>,
    bulk: Bulk,
}

impl<B: Statements> Work<'_, B> {
    async fn run(&mut self) -> Result<()> {
        let operations = &self.view.operations;
        let mut at = 0;
        while at < operations.len() {
            let before = self.bulk.totals.errors;
            at = match &operations[at] {
                Operation::Insert { namespace, .. } => {
                    let end = at + self.inserts_from(at, *namespace);
                    self.insert(at, end, *namespace).await?;
                    end
                }
                operation => {
                    self.change(at, operation).await?;
                    at + 1
                }
            };
            let ends = self.view.ordered || self.backend.is_clients();
            if ends && self.bulk.totals.errors > before {
                break;
            }
        }
        Ok(())
    }

    /// How many inserts into one collection follow each other from here: they are
    /// done together.
    fn inserts_from(&self, at: usize, into: usize) -> usize {
        let rest = self.view.operations[at..].iter();
        rest.take_while(|operation| {
            matches!(operation, Operation::Insert { namespace, .. } if *namespace == into)
        })
        .count()
    }

    async fn insert(&mut self, at: usize, end: usize, into: usize) -> Result<()> {
        let namespace = &self.view.namespaces[into];
        if let Err(error) = self.check(namespace) {
            let last = if self.view.ordered { at + 1 } else { end };
            return (at..last).try_for_each(|at| self.fail(at, error.clone()));
        }
        let (places, statements) = self.pending(at..end)?;
        let document = |place: &usize| match &self.view.operations[*place] {
            Operation::Insert { document, .. } => Some(*document),
            _ => None,
        };
        let documents: Vec<&RawDocument> = places.iter().filter_map(document).collect();
        let Work { backend, view, bulk, .. } = self;
        let ends = view.ordered || backend.is_clients();
        let succeed = |bulk: &mut Bulk, places: &[usize]| {
            places.iter().for_each(|place| bulk.insert(*place, view.errors_only));
        };
        let mut next = 0;
        let failed = |index: usize, error| {
            // Those before it are in.
            succeed(bulk, &places[next..index]);
            bulk.fail(places[index], &backend.of_statement(error)?);
            next = if ends { places.len() } else { index + 1 };
            Ok(())
        };
        let insert = Insert {
            namespace,
            documents: &documents,
            statements: statements.as_deref(),
            ordered: view.ordered,
            bypass_validation: view.bypass_validation,
        };
        crate::insert(*backend, insert, failed).await?;
        succeed(bulk, &places[next..]);
        Ok(())
    }

    /// Those of the inserts that have not been carried out before, and their numbers where
    /// they are retryable.
    fn pending(&mut self, inserts: Range<usize>) -> Result<(Vec<usize>, Option<Vec<i32>>)> {
        if !self.backend.is_retryable() {
            return Ok((inserts.collect(), None));
        }
        let (mut places, mut statements) = (Vec::new(), Vec::new());
        for place in inserts {
            let statement = self.view.statement_at(place);
            if self.backend.recorded(statement)?.is_some() {
                self.bulk.retried.push(statement);
                self.bulk.insert(place, self.view.errors_only);
            } else {
                places.push(place);
                statements.push(statement);
            }
        }
        Ok((places, Some(statements)))
    }

    fn fail(&mut self, at: usize, error: Error) -> Result<()> {
        let error = self.backend.of_statement(error)?;
        self.bulk.fail(at, &error);
        Ok(())
    }

    fn check(&self, namespace: &Namespace) -> Result<()> {
        namespace.check_write()?;
        self.backend.check_target(namespace)
    }

    async fn change(&mut self, at: usize, operation: &Operation<'_>) -> Result<()> {
        let mut retried = Vec::new();
        let outcome = match operation {
            Operation::Update { .. } => {
                self.update(at, operation, &mut retried).await.map(Outcome::Updated)
            }
            _ => self.delete(at, operation, &mut retried).await.map(Outcome::Deleted),
        };
        self.bulk.retried.append(&mut retried);
        match outcome {
            Ok(Outcome::Updated(updated)) => self.bulk.update(at, updated, self.view.errors_only),
            Ok(Outcome::Deleted(count)) => self.bulk.delete(at, count, self.view.errors_only),
            Err(error) => self.fail(at, error)?,
        }
        Ok(())
    }

    async fn update(
        &self,
        at: usize,
        operation: &Operation<'_>,
        retried: &mut Vec<i32>,
    ) -> Result<Updated> {
        let Operation::Update {
            namespace,
            filter,
            modification,
            constants,
            sort,
            array_filters,
            hint,
            collation,
            multi,
            upsert,
        } = operation
        else {
            return Ok(Updated::default());
        };
        let namespace = &self.view.namespaces[*namespace];
        self.check(namespace)?;
        let statement = UpdateStatement {
            query: filter,
            modification: modification.clone(),
            constants: *constants,
            sort: *sort,
            array_filters: array_filters.clone(),
            hint: *hint,
            collation: *collation,
            multi: *multi,
            upsert: *upsert,
            upsert_supplied: false,
        };
        let one = update::UpdateOne {
            backend: self.backend,
            namespace,
            variables: &self.variables,
            bypass_validation: self.view.bypass_validation,
        };
        one.once(&statement, self.view.statement_at(at), retried).await
    }

    async fn delete(
        &self,
        at: usize,
        operation: &Operation<'_>,
        retried: &mut Vec<i32>,
    ) -> Result<u64> {
        let Operation::Delete { namespace, filter, hint, collation, multi } = operation else {
            return Ok(0);
        };
        let namespace = &self.view.namespaces[*namespace];
        self.check(namespace)?;
        let statement =
            DeleteStatement { query: filter, multi: *multi, hint: *hint, collation: *collation };
        let one =
            delete::DeleteOne { backend: self.backend, namespace, variables: &self.variables };
        one.once(&statement, self.view.statement_at(at), retried).await
    }
}

enum Outcome {
    Updated(Updated),
    Deleted(u64),
}

impl Bulk {
    /// Nothing yet of so many operations.
    fn of(operations: usize) -> Bulk {
        let room = FailuresRoom::of(operations);
        Bulk { results: Vec::new(), room, totals: Totals::default(), retried: Vec::new() }
    }

    fn insert(&mut self, at: usize, errors_only: bool) {
        self.totals.inserted += 1;
        self.succeed(at, 1, None, None, errors_only);
    }

    fn update(&mut self, at: usize, updated: Updated, errors_only: bool) {
        let matched = updated.matched as i32;
        let modified = updated.modified as i32;
        let inserted = i32::from(updated.upserted.is_some());
        self.totals.matched += matched;
        self.totals.modified += modified;
        self.totals.upserted += inserted;
        self.succeed(at, matched + inserted, Some(modified), updated.upserted, errors_only);
    }

    fn delete(&mut self, at: usize, count: u64, errors_only: bool) {
        self.totals.deleted += count as i32;
        self.succeed(at, count as i32, None, None, errors_only);
    }

    fn succeed(
        &mut self,
        at: usize,
        n: i32,
        modified: Option<i32>,
        upserted: Option<RawBson>,
        errors_only: bool,
    ) {
        if errors_only {
            return;
        }
        let mut result = DocumentWriter::new();
        result.append_f64("ok", 1.0);
        result.append_i32("idx", at as i32);
        result.append_i32("n", n);
        if let Some(modified) = modified {
            result.append_i32("nModified", modified);
        }
        if let Some(id) = upserted {
            result.begin_document("upserted");
            result.append("_id", id.as_raw_bson_ref());
            result.end();
        }
        self.results.push(result.finish());
    }

    fn fail(&mut self, at: usize, error: &Error) {
        self.totals.errors += 1;
        self.results.push(self.room.fit(error, |failure| {
            let mut result = DocumentWriter::new();
            result.append_f64("ok", 0.0);
            result.append_i32("idx", at as i32);
            failure.append_code(&mut result);
            failure.append_message(&mut result);
            failure.append_details(&mut result);
            result.append_i32("n", 0);
            result.finish()
        }));
    }
}
