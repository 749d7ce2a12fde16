//! What a live database looks like, and what will break in it.
//!
//! The auditor (`audit`) talks to its target as an ordinary client and only reads, so it
//! works on MongoDB, on Azure DocumentDB and on Freeboard. What it finds is a [`Report`],
//! which `report` turns into text, JSON or a page.

pub mod audit;
pub mod effect;
mod error;
mod figures;
pub mod report;

pub use audit::{Options, audit};
pub use error::Error;
pub use report::Report;
