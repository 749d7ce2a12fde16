//! The embedded backend: a document database on one machine.

pub mod catalog;
pub mod index;
pub mod plan;
pub mod storage;
