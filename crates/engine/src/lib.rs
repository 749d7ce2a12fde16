//! The embedded backend: a document database on one machine.
//!
//! Its rooms are private. What others may use of it is listed here.

mod background;
mod backups;
mod batch;
mod catalog;
mod changes;
mod cursor;
mod define;
mod engine;
pub mod footprint;
mod growth;
mod guarded;
mod health;
mod identity;
mod index;
pub mod inspect;
mod moment;
mod operation;
mod plan;
mod policies;
mod reclaim;
mod run;
mod session;
mod spill;
pub mod storage;
mod transaction;
mod ttl;
mod writes;

pub use backups::Backups;
pub use engine::Engine;
pub use growth::HORIZON_SECONDS;
pub use health::{LOOK_TIME_MAX, SYNC_TIME_MAX};
pub use identity::Identity;
pub use run::handles;
