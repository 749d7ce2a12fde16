//! The commands of the engine, one file each, and their table.

mod abort_transaction;
mod aggregate;
mod bulk_write;
mod call;
mod clone_collection_as_capped;
mod coll_mod;
mod coll_stats;
mod commit_transaction;
mod context;
mod convert_to_capped;
mod count;
mod create;
mod create_indexes;
mod current_op;
mod data_size;
mod db_stats;
mod delete;
mod distinct;
mod drop;
mod drop_database;
mod drop_indexes;
mod end_sessions;
mod explain;
mod figures;
mod find;
mod find_and_modify;
mod freeboard_backup;
mod fsync;
mod get_more;
mod growth_policies;
mod growth_stats;
mod insert;
mod kill_all_sessions;
mod kill_all_sessions_by_pattern;
mod kill_cursors;
mod kill_op;
mod kill_sessions;
mod list_collections;
mod list_databases;
mod list_indexes;
mod listing;
mod lookup;
mod migrate_growth;
mod plan_cache;
pub mod profile;
mod reading;
mod refresh_sessions;
mod rename_collection;
mod set_growth_policy;
mod sizes;
mod sources;
mod start_session;
pub mod top;
mod update;
mod validate;
mod verify_growth;
mod watch;
mod writing;

use crate::operation::{self, Operation};
use crate::session::{self, Standing};
use crate::{Engine, footprint};
pub use call::Call;
use command::{Client, Command, Common, Reply, Request};
use error::Result;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// From this length on, reading a request's arguments is work to be done aside.
const LARGE_REQUEST_BYTES: usize = 1024 * 1024;

type Running<'a> = Pin<Box<dyn Future<Output = Result<Reply>> + Send + 'a>>;
type Handler = for<'a> fn(Call<'a>) -> Running<'a>;

/// The engine's commands, by the names of `command::table`.
const HANDLERS: &[(&str, Handler)] = &[
    ("abortTransaction", |call| Box::pin(abort_transaction::run(call))),
    ("aggregate", |call| Box::pin(aggregate::run(call))),
    ("bulkWrite", |call| Box::pin(bulk_write::run(call))),
    ("cloneCollectionAsCapped", |call| Box::pin(clone_collection_as_capped::run(call))),
    ("collMod", |call| Box::pin(coll_mod::run(call))),
    ("collStats", |call| Box::pin(coll_stats::run(call))),
    ("commitTransaction", |call| Box::pin(commit_transaction::run(call))),
    ("convertToCapped", |call| Box::pin(convert_to_capped::run(call))),
    ("count", |call| Box::pin(count::run(call))),
    ("create", |call| Box::pin(create::run(call))),
    ("createIndexes", |call| Box::pin(create_indexes::run(call))),
    ("currentOp", |call| Box::pin(current_op::run(call))),
    ("dataSize", |call| Box::pin(data_size::run(call))),
    ("dbStats", |call| Box::pin(db_stats::run(call))),
    ("delete", |call| Box::pin(delete::run(call))),
    ("distinct", |call| Box::pin(distinct::run(call))),
    ("drop", |call| Box::pin(drop::run(call))),
    ("dropDatabase", |call| Box::pin(drop_database::run(call))),
    ("dropGrowthPolicy", |call| Box::pin(growth_policies::drop(call))),
    ("dropIndexes", |call| Box::pin(drop_indexes::run(call))),
    ("endSessions", |call| Box::pin(end_sessions::run(call))),
    ("explain", |call| Box::pin(explain::run(call))),
    ("find", |call| Box::pin(find::run(call))),
    ("findAndModify", |call| Box::pin(find_and_modify::run(call))),
    ("freeboardBackup", |call| Box::pin(freeboard_backup::run(call))),
    ("fsync", |call| Box::pin(fsync::run(call))),
    ("getGrowthPolicy", |call| Box::pin(growth_policies::get(call))),
    ("getMore", |call| Box::pin(get_more::run(call))),
    ("growthStats", |call| Box::pin(growth_stats::run(call))),
    ("insert", |call| Box::pin(insert::run(call))),
    ("killAllSessions", |call| Box::pin(kill_all_sessions::run(call))),
    ("killAllSessionsByPattern", |call| Box::pin(kill_all_sessions_by_pattern::run(call))),
    ("killCursors", |call| Box::pin(kill_cursors::run(call))),
    ("killOp", |call| Box::pin(kill_op::run(call))),
    ("killSessions", |call| Box::pin(kill_sessions::run(call))),
    ("listCollections", |call| Box::pin(list_collections::run(call))),
    ("listDatabases", |call| Box::pin(list_databases::run(call))),
    ("listGrowthPolicies", |call| Box::pin(growth_policies::list(call))),
    ("listIndexes", |call| Box::pin(list_indexes::run(call))),
    ("migrateGrowth", |call| Box::pin(migrate_growth::run(call))),
    ("planCacheClear", |call| Box::pin(plan_cache::clear(call))),
    ("planCacheClearFilters", |call| Box::pin(plan_cache::clear_filters(call))),
    ("planCacheListFilters", |call| Box::pin(plan_cache::list_filters(call))),
    ("profile", |call| Box::pin(profile::run(call))),
    ("refreshSessions", |call| Box::pin(refresh_sessions::run(call))),
    ("renameCollection", |call| Box::pin(rename_collection::run(call))),
    ("setGrowthPolicy", |call| Box::pin(set_growth_policy::run(call))),
    ("startSession", |call| Box::pin(start_session::run(call))),
    ("top", |call| Box::pin(top::run(call))),
    ("update", |call| Box::pin(update::run(call))),
    ("validate", |call| Box::pin(validate::run(call))),
    ("verifyGrowth", |call| Box::pin(verify_growth::run(call))),
];

/// Whether the engine runs a command of the table.
pub fn handles(name: &str) -> bool {
    HANDLERS.binary_search_by_key(&name, |(name, _)| name).is_ok()
}

/// A command's row and handler, by its name or an alias.
fn handler(name: &str) -> Option<(&'static Command, Handler)> {
    let row = command::command(name)?;
    let at = HANDLERS.binary_search_by_key(&row.name, |(name, _)| name).ok()?;
    HANDLERS.get(at).map(|(_, handler)| (row, *handler))
}

/// Runs a command and keeps its figures.
pub async fn run(engine: &Arc<Engine>, request: Request, client: &Arc<Client>) -> Result<Reply> {
    let name = request.name();
    let (row, handler) = handler(name).ok_or_else(|| command::refused::not_found(name))?;
    let common = Common::parse(&request, row)?;
    if common.help {
        return Ok(Reply::help(row));
    }
    // A `getMore` waits so long, and does not fail then.
    let limit = common.max_time_ms.filter(|ms| *ms > 0 && row.name != "getMore");
    let limit = limit.map(|ms| Duration::from_millis(ms.into()));
    let running = engine.operations.begin(request.clone(), client, limit);
    let operation = &running.operation;
    operation.parses(footprint::of_request(&request, row))?;
    let labelled = |error| command::labels::labelled(error, &common, row);
    let standing = session::stand(engine, &common, row, operation).await;
    let standing = standing.map_err(labelled)?;
    // A `getMore` may name any read concern, and reads as its cursor does.
    let own_moment = !common.in_transaction() && row.name != "getMore";
    let moment = match &common.read_concern {
        Some(concern) if own_moment => engine.moment(concern).await?,
        Some(concern) => {
            engine.check_times(concern).map_err(labelled)?;
            None
        }
        None => None,
    };
    let call = Call {
        engine,
        request: &request,
        common: &common,
        client,
        operation,
        standing: &standing,
        moment: moment.as_ref(),
    };
    let interrupt = operation.interrupt.shared();
    let is_large = request.bytes() >= LARGE_REQUEST_BYTES;
    let watched = Watched { running: handler(call), operation, interrupt, is_large };
    let outcome = watched.await.map_err(|error| labelled(writing::with_concern_error(call, error)));
    if let (Standing::Statement(statement), Ok(_)) = (&standing, &outcome) {
        statement.succeed();
    }
    profile::record(call, row, &outcome).await;
    outcome
}

/// A handler at work, on whose thread the language asks the command's interrupt, and whoever
/// waits for others knows for whom.
struct Watched<'a> {
    running: Running<'a>,
    operation: &'a Arc<Operation>,
    interrupt: Arc<dyn language::interrupt::Interrupt>,
    /// The request's arguments are still to be read, and many.
    is_large: bool,
}

impl Future for Watched<'_> {
    type Output = Result<Reply>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Reply>> {
        let _operation = operation::enter(self.operation.clone());
        let _interrupt = language::interrupt::enter(self.interrupt.clone());
        match std::mem::take(&mut self.is_large) {
            true => turn::aside(|| self.running.as_mut().poll(context)),
            false => self.running.as_mut().poll(context),
        }
    }
}
