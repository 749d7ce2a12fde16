//! Stages, one file each, and their table.
