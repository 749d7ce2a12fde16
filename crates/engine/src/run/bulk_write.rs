//! `bulkWrite`: inserts, updates and deletes in several collections.

use super::context::Let;
use super::update::Step;
use super::writes::Writes;
use super::{Call, delete, listing, writing};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use command::views::{BulkWrite, DeleteStatement, Operation, UpdateStatement};
use command::{FailuresRoom, Namespace, Reply, append_write_concern_error};
use error::{Error, Result};
use std::ops::Range;
use value::DocumentWriter;
use write::Updated;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let bulk = BulkWrite::parse(call.request)?;
    let writes = Writes::of(call);
    let done = Done::of(bulk.operations.len());
    let variables = Let::new(bulk.variables);
    let mut work = Work { call, bulk: &bulk, variables, writes: &writes, done };
    work.run().await?;
    let done = work.done;
    writes.acknowledge(call.common.write_concern.as_ref()).await?;
    let namespace = Namespace::new("admin", "$cmd.bulkWrite")?;
    let Done { results, totals, retried, .. } = done;
    let reply = listing::reply(call, namespace, results, bulk.batch_size)?;
    Ok(totals.finish(call, &reply, &retried))
}

struct Work<'a> {
    call: Call<'a>,
    bulk: &'a BulkWrite<'a>,
    variables: Let<'a>,
    writes: &'a Writes,
    done: Done,
}

/// What has been done so far.
struct Done {
    results: Vec<RawDocumentBuf>,
    /// What further failures may weigh.
    room: FailuresRoom,
    totals: Totals,
    /// Statements answered from their record.
    retried: Vec<i32>,
}

#[derive(Default)]
struct Totals {
    errors: i32,
    inserted: i32,
    matched: i32,
    modified: i32,
    upserted: i32,
    deleted: i32,
}

impl Work<'_> {
    async fn run(&mut self) -> Result<()> {
        let operations = &self.bulk.operations;
        let mut at = 0;
        while at < operations.len() {
            let before = self.done.totals.errors;
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
            let ends = self.bulk.ordered || self.call.statement().is_some();
            if ends && self.done.totals.errors > before {
                break;
            }
        }
        Ok(())
    }

    /// How many inserts into one collection follow each other from here: they are
    /// done together.
    fn inserts_from(&self, at: usize, into: usize) -> usize {
        let rest = self.bulk.operations[at..].iter();
        rest.take_while(|operation| {
            matches!(operation, Operation::Insert { namespace, .. } if *namespace == into)
        })
        .count()
    }

    async fn insert(&mut self, at: usize, end: usize, into: usize) -> Result<()> {
        let namespace = &self.bulk.namespaces[into];
        if let Err(error) = self.prepare(namespace).await {
            let last = if self.bulk.ordered { at + 1 } else { end };
            return (at..last).try_for_each(|at| self.fail(at, error.clone()));
        }
        let places = self.pending(at..end)?;
        let document = |place: &usize| match &self.bulk.operations[*place] {
            Operation::Insert { document, .. } => Some(*document),
            _ => None,
        };
        let documents: Vec<&RawDocument> = places.iter().filter_map(document).collect();
        let Work { call, bulk, writes, done, .. } = self;
        let ends = bulk.ordered || call.statement().is_some();
        let succeed = |done: &mut Done, places: &[usize]| {
            places.iter().for_each(|place| done.insert(*place, bulk.errors_only));
        };
        let mut next = 0;
        let failed = |index: usize, error| {
            // Those before it are in.
            succeed(done, &places[next..index]);
            done.fail(places[index], &writing::of_statement(*call, error)?);
            next = if ends { places.len() } else { index + 1 };
            Ok(())
        };
        let (ordered, bypass) = (bulk.ordered, bulk.bypass_validation);
        write::insert(*writes, namespace, &documents, ordered, bypass, failed).await?;
        succeed(done, &places[next..]);
        Ok(())
    }

    /// Those of the inserts that have not been carried out before.
    fn pending(&mut self, inserts: Range<usize>) -> Result<Vec<usize>> {
        if !self.writes.is_retryable() {
            return Ok(inserts.collect());
        }
        let (mut places, mut statements) = (Vec::new(), Vec::new());
        for place in inserts {
            let statement = self.bulk.statement_at(place);
            if self.writes.recorded(statement)?.is_some() {
                self.done.retried.push(statement);
                self.done.insert(place, self.bulk.errors_only);
            } else {
                places.push(place);
                statements.push(statement);
            }
        }
        self.writes.number_inserts(statements);
        Ok(places)
    }

    fn fail(&mut self, at: usize, error: Error) -> Result<()> {
        let error = writing::of_statement(self.call, error)?;
        self.done.fail(at, &error);
        Ok(())
    }

    /// A collection that is inserted into is made if there is none.
    async fn prepare(&self, namespace: &Namespace) -> Result<()> {
        namespace.check_write()?;
        writing::check_target(self.call, namespace)?;
        match self.call.statement() {
            Some(_) => Ok(()),
            None => self.call.engine.ensure(namespace).await.map(|_| ()),
        }
    }

    async fn change(&mut self, at: usize, operation: &Operation<'_>) -> Result<()> {
        let mut retried = Vec::new();
        let outcome = match operation {
            Operation::Update { .. } => {
                self.update(at, operation, &mut retried).await.map(Outcome::Updated)
            }
            _ => self.delete(at, operation, &mut retried).await.map(Outcome::Deleted),
        };
        self.done.retried.append(&mut retried);
        match outcome {
            Ok(Outcome::Updated(updated)) => self.done.update(at, updated, self.bulk.errors_only),
            Ok(Outcome::Deleted(count)) => self.done.delete(at, count, self.bulk.errors_only),
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
        let namespace = &self.bulk.namespaces[*namespace];
        namespace.check_write()?;
        writing::check_target(self.call, namespace)?;
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
        let step = Step {
            writes: self.writes,
            namespace,
            variables: &self.variables,
            bypass_validation: self.bulk.bypass_validation,
        };
        step.once(self.call, &statement, self.bulk.statement_at(at), retried).await
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
        let namespace = &self.bulk.namespaces[*namespace];
        namespace.check_write()?;
        writing::check_target(self.call, namespace)?;
        let statement =
            DeleteStatement { query: filter, multi: *multi, hint: *hint, collation: *collation };
        let step = delete::Step { writes: self.writes, namespace, variables: &self.variables };
        step.once(self.call, &statement, self.bulk.statement_at(at), retried).await
    }
}

enum Outcome {
    Updated(Updated),
    Deleted(u64),
}

impl Done {
    /// Nothing yet of so many operations.
    fn of(operations: usize) -> Done {
        let room = FailuresRoom::of(operations);
        Done { results: Vec::new(), room, totals: Totals::default(), retried: Vec::new() }
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

impl Totals {
    /// The cursor with the results, and the totals after it.
    fn finish(&self, call: Call<'_>, cursor: &Reply, retried: &[i32]) -> Reply {
        let mut out = DocumentWriter::new();
        let fields = value::elements(&cursor.body);
        fields.filter(|field| field.key != "ok").for_each(|field| out.copy(field));
        out.append_i32("nErrors", self.errors);
        out.append_i32("nInserted", self.inserted);
        out.append_i32("nMatched", self.matched);
        out.append_i32("nModified", self.modified);
        out.append_i32("nUpserted", self.upserted);
        out.append_i32("nDeleted", self.deleted);
        if !retried.is_empty() {
            out.begin_array("retriedStmtIds");
            retried.iter().for_each(|statement| out.push(RawBsonRef::Int32(*statement)));
            out.end();
        }
        if let Some(error) = writing::concern_error(call) {
            append_write_concern_error(&mut out, &error);
        }
        out.append_f64("ok", 1.0);
        Reply::new(out.finish())
    }
}
