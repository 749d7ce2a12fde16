//! Accumulators of `$group`, `$bucket` and `$setWindowFields`.
