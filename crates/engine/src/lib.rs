//! The embedded backend: a document database on one machine.

pub mod catalog;
pub mod cursor;
pub mod index;
pub mod plan;
pub mod run;
pub mod storage;
pub mod transaction;
