//! Documents: merging, and fields by computed names.

pub mod merge_objects;

use super::Row;

pub const ROWS: &[Row] = &[];
