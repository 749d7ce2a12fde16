//! The embedded backend: a document database on one machine.

pub mod backups;
pub mod catalog;
pub mod changes;
pub mod cursor;
pub mod define;
mod engine;
pub mod footprint;
pub mod growth;
mod health;
mod identity;
pub mod index;
pub mod inspect;
mod moment;
pub mod operation;
pub mod plan;
pub mod policies;
mod reclaim;
pub mod run;
pub mod session;
mod spill;
pub mod storage;
pub mod transaction;
mod ttl;

pub use engine::Engine;
pub use health::{LOOK_TIME_MAX, SYNC_TIME_MAX};
pub use identity::Identity;
