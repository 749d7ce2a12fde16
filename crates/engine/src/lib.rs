//! The embedded backend: a document database on one machine.

pub mod catalog;
pub mod changes;
pub mod cursor;
pub mod define;
mod engine;
pub mod growth;
mod identity;
pub mod index;
pub mod inspect;
mod moment;
pub mod operation;
pub mod plan;
pub mod policies;
pub mod run;
pub mod session;
mod spill;
pub mod storage;
pub mod transaction;
mod ttl;

pub use engine::Engine;
pub use identity::Identity;
