//! What the store holds: collections, indexes, views, their options.

mod activity;
mod closed;
mod collection;
mod index;
mod latencies;
mod options;
mod registry;
pub mod row;
mod validator;

pub use activity::{Accesses, Activity, Tally, Use};
pub use collection::{Collection, Kind, State};
pub use index::{Index, IndexField, IndexKind};
pub use latencies::Latencies;
pub use options::{collator, flag, kind, validator, view_kind, whole};
pub use registry::{Catalog, Registry};
pub use validator::{Action, Validator};
