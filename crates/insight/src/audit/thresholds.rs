//! Every threshold of every detector: the one place to look, and to change them from a
//! file (`--thresholds FILE`, YAML with the same names).

use crate::Error;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Defines the thresholds of each detector with their defaults.
macro_rules! thresholds {
    ($($detector:ident: $type:ident {
        $($(#[doc = $doc:literal])* $name:ident: $kind:ty = $default:expr,)+
    })+) => {
        /// By the name of the detector.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Thresholds { $(pub $detector: $type,)+ }

        $(
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            #[serde(default, deny_unknown_fields)]
            pub struct $type { $($(#[doc = $doc])* pub $name: $kind,)+ }

            impl Default for $type {
                fn default() -> $type {
                    $type { $($name: $default,)+ }
                }
            }
        )+
    };
}

thresholds! {
    archive_candidate: ArchiveCandidate {
        /// Documents whose date is so many days past are old.
        older_than_days: u64 = 365,
        /// The share of a collection that is old, and how many documents that is at least.
        old_share: f64 = 0.5,
        old_documents: u64 = 100,
        /// The share of reads that may touch old documents.
        old_reads_share: f64 = 0.05,
    }
    bloated_document: BloatedDocument {
        /// Reads of the collection that are enough to judge by.
        warn_reads: u64 = 10,
        /// The share of the reads that may use a field which counts as not used.
        used_share: f64 = 0.01,
        /// The share of the collection's bytes that a field makes up,
        warn_share: f64 = 0.2,
        /// and the bytes that it has in a document, on average.
        warn_bytes: u64 = 1024,
    }
    bucket_candidate: BucketCandidate {
        /// Readings of a collection, and of each source on average, at least.
        documents: u64 = 100,
        documents_per_source: u64 = 20,
        /// The bytes of a reading on average, at most.
        document_bytes: u64 = 1_024,
        /// Seconds from the first reading to the last, at least.
        span_seconds: f64 = 60.0,
        /// Seconds between two readings of a source on average, at most.
        interval_seconds: f64 = 3_600.0,
        /// The share of documents that have each field of a reading.
        field_share: f64 = 0.9,
        /// Readings from a warning on; fewer are only mentioned.
        warn_documents: u64 = 10_000,
    }
    case_collision: CaseCollision {
        /// Values with more than one spelling, from a warning on.
        warn_values: u64 = 1,
        /// The share of values with more than one spelling that is critical.
        critical_share: f64 = 0.05,
    }
    collection_sprawl: CollectionSprawl {
        /// Collections of one family that are worth mentioning,
        info_collections: u64 = 5,
        /// and worth a warning.
        warn_collections: u64 = 20,
        /// The share of their fields that two collections of a family have in common.
        same_shape_share: f64 = 0.7,
        /// The share of the target's limit on collections that is critical.
        critical_share: f64 = 0.8,
    }
    dynamic_fields: DynamicFields {
        /// Different keys that look like dates or ids.
        warn_keys: u64 = 5,
        /// Different keys that are numbers, or words with numbers.
        warn_numbered_keys: u64 = 20,
        /// Different keys of any other kind, beyond the names a document may have.
        warn_names: u64 = 100,
        critical_keys: u64 = 1_000,
    }
    massive_document: MassiveDocument {
        warn_bytes: u64 = 2 * 1024 * 1024,
        /// The share of the target's limit that is critical.
        critical_share: f64 = 0.5,
    }
    missing_index: MissingIndex {
        /// Queries of one index that are worth a warning.
        warn_queries: u64 = 5,
        /// Documents or keys that each of them looks at, on average; fewer are soon read.
        warn_examined: u64 = 200,
        critical_examined: u64 = 100_000,
        /// So many times the documents that it returns.
        examined_per_returned: f64 = 10.0,
    }
    multikey_bloat: MultikeyBloat {
        /// Entries that a document has in an index, on average,
        warn_entries: f64 = 20.0,
        /// or that the worst document has.
        warn_entries_max: u64 = 1_000,
        /// Entries of the worst document that are critical.
        critical_entries_max: u64 = 10_000,
    }
    normalised: Normalised {
        /// Reads that follow the reference.
        warn_lookups: u64 = 10,
        /// The share of the collection's reads that follow it and that is worth mentioning,
        info_share: f64 = 0.2,
        /// and worth a warning.
        warn_share: f64 = 0.5,
    }
    redundant_index: RedundantIndex {
        /// Indexes that are the start of another, from a warning on.
        warn_indexes: u64 = 1,
    }
    shard_key: ShardKey {
        /// The share of inserts that go to one place because the key only grows.
        warn_hot_share: f64 = 0.2,
        /// The share of documents that are in the order of their keys, for it to only grow.
        monotonic_share: f64 = 0.9,
        /// Different values of the key, from a warning down.
        warn_values: u64 = 100,
        critical_values: u64 = 10,
        /// The share of documents that have one value of the key.
        warn_value_share: f64 = 0.2,
        critical_value_share: f64 = 0.5,
        /// A chunk that cannot be split and is larger cannot be moved.
        chunk_bytes: u64 = 128 * 1024 * 1024,
        /// The share of operations without the key, and how many operations tell it.
        scattered_share: f64 = 0.5,
        scattered_operations: u64 = 10,
        /// Documents that were looked at, at least.
        documents: u64 = 50,
    }
    unbounded_array: UnboundedArray {
        /// Elements of the longest array.
        warn_elements: u64 = 1_000,
        critical_elements: u64 = 10_000,
        /// The share of the target's limit that one array weighs and that is critical.
        critical_share: f64 = 0.25,
        /// Days until a document is full, at the rate its array grows.
        warn_days: f64 = 365.0,
        critical_days: f64 = 60.0,
        /// Arrays shorter than this are not judged by their growth.
        growing_elements: u64 = 250,
    }
    uncomputed: Uncomputed {
        /// Times that the same is counted or added up.
        warn_queries: u64 = 10,
        /// Documents or keys that each time looks at, on average.
        warn_examined: u64 = 100,
        critical_examined: u64 = 100_000,
    }
    unguarded_growth: UnguardedGrowth {
        /// Elements of the longest array.
        warn_elements: u64 = 200,
        /// The longest is so many times the median, or grows by its dates.
        spread: f64 = 4.0,
    }
    unused_index: UnusedIndex {
        /// Days without use that are worth a warning,
        warn_days: f64 = 7.0,
        /// and that are worth mentioning: an index that is younger, or counted for less, may
        /// be used yet.
        info_days: f64 = 1.0,
    }
}

impl Thresholds {
    /// Reads a file; what it does not name keeps its default.
    pub fn read(path: &Path) -> Result<Thresholds, Error> {
        let text =
            std::fs::read_to_string(path).map_err(|error| Error::File(path.to_owned(), error))?;
        Thresholds::parse(&text)
            .map_err(|why| Error::Use(format!("the thresholds in {}: {why}", path.display())))
    }

    fn parse(text: &str) -> Result<Thresholds, String> {
        serde_saphyr::from_str(text).map_err(|error| sentence(&error.to_string()).to_owned())
    }
}

/// The first line of what the parser says; the others show the place in the file once more.
fn sentence(error: &str) -> &str {
    let line = error.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changes_what_it_names() {
        let read = Thresholds::parse("unbounded_array: { warn_elements: 50 }\n").unwrap();
        assert_eq!(read.unbounded_array.warn_elements, 50);
        assert_eq!(read.unbounded_array.critical_elements, 10_000);
        assert_eq!(read.massive_document, MassiveDocument::default());
    }

    #[test]
    fn unknown_names_are_refused() {
        for wrong in ["unbounded: {}", "unbounded_array: { warn: 1 }", "unbounded_array: 5"] {
            assert!(Thresholds::parse(wrong).is_err(), "{wrong}");
        }
    }
}
