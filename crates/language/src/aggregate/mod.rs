//! Aggregation: pipelines of stages, expressions, accumulators.

pub mod accumulators;
pub mod expressions;
pub mod foreign;
pub mod pipeline;
pub mod stages;

pub use foreign::Foreign;
pub use pipeline::{Documents, Pipeline};
