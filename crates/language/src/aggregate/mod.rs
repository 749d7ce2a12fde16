//! Aggregation: pipelines of stages, expressions, accumulators.

pub mod accumulators;
pub mod expressions;
pub mod foreign;
pub mod limits;
mod optimize;
pub mod pipeline;
pub mod stages;
mod tally;
pub mod windows;

pub use foreign::{Foreign, Nowhere, Spill, Spilled};
pub use pipeline::{Documents, Pipeline, Place};
pub use stages::Stage;
pub use tally::{Counted, Tally};
