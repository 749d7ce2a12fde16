//! Typed views of commands, one file a command: `Find::parse(&request)`.
//!
//! A view checks names, types and ranges exactly as MongoDB's parser does and
//! borrows from the request. What depends on the collection (an index that must
//! exist, a pipeline that must parse) is for whoever runs the command. Commands
//! that the server answers by itself read their few fields where they run.

mod aggregate;
mod bulk_write;
mod clone_collection_as_capped;
mod coll_mod;
mod coll_stats;
mod convert_to_capped;
mod count;
mod create;
mod create_indexes;
mod current_op;
mod cursor;
mod data_size;
mod db_stats;
mod delete;
mod distinct;
mod drop;
mod drop_database;
mod drop_indexes;
mod end_transaction;
mod explain;
mod find;
mod find_and_modify;
mod freeboard_backup;
mod fsync;
mod get_more;
mod growth_policy;
mod index_spec;
mod insert;
mod kill_cursors;
mod kill_op;
mod list_collections;
mod list_databases;
mod list_indexes;
mod migrate_growth;
mod modification;
mod plan_cache;
mod profile;
mod rename_collection;
pub mod sessions;
mod set_growth_policy;
mod timeseries;
mod update;
mod validate;
mod verify_growth;
pub(crate) mod write_options;

#[cfg(test)]
mod testing;

pub use aggregate::Aggregate;
pub use bulk_write::{BulkWrite, Operation};
pub use clone_collection_as_capped::CloneCollectionAsCapped;
pub use coll_mod::{CollMod, Expiry, IndexChange};
pub use coll_stats::CollStats;
pub use convert_to_capped::ConvertToCapped;
pub use count::Count;
pub use create::{ClusteredIndex, Create, ValidationAction, ValidationLevel};
pub use create_indexes::CreateIndexes;
pub use current_op::CurrentOp;
pub use data_size::DataSize;
pub use db_stats::DbStats;
pub use delete::{Delete, DeleteStatement};
pub use distinct::Distinct;
pub use drop::Drop;
pub use drop_database::DropDatabase;
pub use drop_indexes::{DropIndexes, Selection};
pub use end_transaction::EndTransaction;
pub use explain::{Explain, Verbosity};
pub use find::Find;
pub use find_and_modify::FindAndModify;
pub use freeboard_backup::FreeboardBackup;
pub use fsync::Fsync;
pub use get_more::GetMore;
pub use growth_policy::{DropGrowthPolicy, GrowthPolicy, ListGrowthPolicies};
pub use index_spec::{IndexKind, IndexSpec, Unknown};
pub use insert::Insert;
pub use kill_cursors::KillCursors;
pub use kill_op::KillOp;
pub use list_collections::ListCollections;
pub use list_databases::ListDatabases;
pub use list_indexes::ListIndexes;
pub use migrate_growth::MigrateGrowth;
pub use modification::Modification;
pub use plan_cache::PlanCache;
pub use profile::{Profile, ProfileFilter};
pub use rename_collection::RenameCollection;
pub use set_growth_policy::SetGrowthPolicy;
pub use timeseries::{Granularity, Timeseries};
pub use update::{Update, UpdateStatement};
pub use validate::Validate;
pub use verify_growth::VerifyGrowth;
pub use write_options::{WriteOptions, check_batch};

/// An argument that MongoDB's own servers use among themselves, or that needs
/// what this server does not have.
fn unsupported(command: &str, field: &str) -> error::Error {
    error::Code::CommandNotSupported
        .error(format!("The field '{field}' of the {command} command is not supported"))
}
