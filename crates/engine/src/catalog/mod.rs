//! What the store holds: collections, indexes, views, their options.

mod activity;
mod closed;
mod collection;
mod index;
mod indexes;
mod latencies;
mod multikey;
mod new;
mod options;
mod registry;
pub mod row;
mod validator;

pub use activity::{Accesses, Activity, Tally, Use};
pub use collection::{Collection, CollectionKind, CollectionState};
pub use index::{Index, IndexField, IndexKind};
pub use indexes::{IndexesCreated, IndexesFound, find_indexes};
pub use latencies::Latencies;
pub use multikey::{ARRAY_PATH_BYTES_MAX, ARRAY_PATHS_MAX, ArrayPlaces, Multikey};
pub use new::{NewCollection, TEMPORARY_PREFIX, check_case, define, is_temporary, redefine};
pub use options::{flag, validator, whole};
pub use registry::{Catalog, Registry};
pub use validator::{Action, Validator};
