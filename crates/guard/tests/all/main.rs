//! The patterns on a naive store in memory: they know no engine.

mod memory;
mod model;
mod overflow;
