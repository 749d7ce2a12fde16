//! The limits of a pipeline.

/// How many stages a pipeline may have.
pub const PIPELINE_STAGES_MAX: usize = 1000;

/// How deep pipelines may nest: `$lookup` in `$lookup`, `$facet`, `$unionWith`.
pub const PIPELINE_DEPTH_MAX: usize = 20;

/// Memory that `$sort` may take before it spills.
pub const SORT_MEMORY_BYTES_MAX: usize = 100 * 1024 * 1024;

/// Memory that `$group` may take before it spills.
pub const GROUP_MEMORY_BYTES_MAX: usize = 100 * 1024 * 1024;

/// Memory that one accumulator (`$push`, `$addToSet`, …) may take.
pub const ACCUMULATOR_BYTES_MAX: usize = 100 * 1024 * 1024;

/// Memory of stages that keep their input and cannot spill.
pub const STAGE_MEMORY_BYTES_MAX: usize = 100 * 1024 * 1024;

/// The most that a document may take that `$lookup` or `$facet` makes, between
/// stages. What leaves the pipeline may take no more than a stored document.
pub const JOINED_BYTES_MAX: usize = 100 * 1024 * 1024;

/// Documents that `$densify` may generate.
pub const DENSIFY_DOCUMENTS_MAX: usize = 500_000;
