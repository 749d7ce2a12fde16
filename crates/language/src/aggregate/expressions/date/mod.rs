pub mod format;

use super::Row;

pub const ROWS: &[Row] = &[];
