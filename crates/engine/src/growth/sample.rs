//! Arrays that no policy names, as a sample of the documents shows them. Writes pay
//! nothing for it: the documents are read when the sample is read.
//!
//! Fields may be named by data, so that each document has thousands of its own. What is
//! seen of each path is kept for so many of them; further ones are not looked at, and it is
//! reported that there are more.

use super::GrowthFigures;
use super::chosen::Sampler;
use crate::plan::Interrupt;
use crate::storage::large::{self, Secret};
use crate::storage::{CollectionId, RecordId, View};
use bson::RawDocument;
use bson::spec::ElementType;
use error::Result;
use guard::Policy;
use rustc_hash::FxHashMap;
use statistics::Histogram;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use value::{Element, elements};

/// Bytes of documents that are looked at, and as many again of the largest documents. What
/// is out of line is not looked at.
const SAMPLE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Paths that are looked at, and the bytes of their names.
const PATHS_SEEN_MAX: usize = 4_096;
const PATHS_SEEN_BYTES_MAX: usize = 1024 * 1024;
/// Paths that are reported: those with the longest arrays.
const PATHS_MAX: usize = 64;

/// What a sample of a collection shows.
#[derive(Debug, Default)]
pub struct Sample {
    /// How many documents were looked at.
    pub documents: u64,
    pub arrays: BTreeMap<String, Sampled>,
    /// Whether there are arrays at more paths.
    pub more: bool,
}

/// The arrays at one path.
#[derive(Debug, Default, Clone)]
pub struct Sampled {
    pub documents: u64,
    pub elements: u64,
    pub histogram: Histogram,
    /// The longest, among the largest documents of the collection too.
    pub max: u32,
    /// The number of the last document that was counted.
    last: u64,
}

impl Sample {
    /// Looks at documents. Large values are not loaded: of an array that is out of
    /// line the length is known, and what is in it is not looked at.
    pub fn take(
        view: &View,
        collection: CollectionId,
        figures: &GrowthFigures,
        policy: Option<&Policy>,
        secret: &Secret,
        interrupt: &Interrupt,
    ) -> Result<Sample> {
        let mut look = Look::new(policy, secret);
        let mut bytes = 0;
        let records = Sampler { view, collection, interrupt };
        for id in records.chosen(figures.counts.documents)? {
            interrupt.check()?;
            if let Some(record) = view.record(collection, id)? {
                bytes += look.at(record.stored(), true);
            }
            if bytes > SAMPLE_BYTES_MAX {
                break;
            }
        }
        let mut bytes = 0;
        let largest = figures.sizes.as_ref().map(|sizes| sizes.largest.ranked());
        for (id, _) in largest.into_iter().flatten() {
            interrupt.check()?;
            if let Some(record) = view.record(collection, RecordId(id))? {
                bytes += look.at(record.stored(), false);
            }
            if bytes > SAMPLE_BYTES_MAX {
                break;
            }
        }
        Ok(look.into_sample())
    }

    fn keep_longest(&mut self) {
        if self.arrays.len() > PATHS_MAX {
            self.more = true;
            let mut arrays: Vec<_> = std::mem::take(&mut self.arrays).into_iter().collect();
            // Of several that are alike, the first by name.
            arrays.sort_by_key(|(_, sampled)| Reverse(sampled.max));
            arrays.truncate(PATHS_MAX);
            self.arrays = arrays.into_iter().collect();
        }
    }
}

struct Look<'a> {
    policy: Option<&'a Policy>,
    secret: &'a Secret,
    /// How many documents have been counted.
    documents: u64,
    arrays: FxHashMap<String, Sampled>,
    /// The bytes of their paths.
    path_bytes: usize,
    /// Whether a path was left out.
    more: bool,
}

impl<'a> Look<'a> {
    fn new(policy: Option<&'a Policy>, secret: &'a Secret) -> Look<'a> {
        let arrays = FxHashMap::default();
        Look { policy, secret, documents: 0, arrays, path_bytes: 0, more: false }
    }

    /// Looks at a document, and says how many bytes it has; one that is not part of the
    /// sample counts for the longest only.
    fn at(&mut self, document: &RawDocument, counts: bool) -> usize {
        self.documents += u64::from(counts);
        let mut path = String::new();
        for field in elements(document) {
            path.push_str(field.key);
            self.field(field, &mut path, counts);
            path.clear();
        }
        document.as_bytes().len()
    }

    fn into_sample(self) -> Sample {
        let Look { documents, arrays, more, .. } = self;
        let mut sample = Sample { documents, arrays: arrays.into_iter().collect(), more };
        sample.keep_longest();
        sample
    }

    fn field(&mut self, field: Element<'_>, path: &mut String, counts: bool) {
        match field.kind {
            ElementType::EmbeddedDocument => self.children(field, path, counts),
            ElementType::Array => {
                self.array(large::items(&field), path, counts);
                // Arrays inside arrays have no names of their own.
                for item in field.children().items() {
                    if item.kind == ElementType::EmbeddedDocument {
                        self.children(item, path, counts);
                    }
                }
            }
            ElementType::Binary => {
                let hidden = large::hidden(&field, self.secret);
                if let Some(items) = hidden.and_then(|hidden| hidden.items) {
                    self.array(items, path, counts);
                }
            }
            _ => {}
        }
    }

    fn children(&mut self, document: Element<'_>, path: &mut String, counts: bool) {
        for child in document.children() {
            let parent = path.len();
            path.push('.');
            path.push_str(child.key);
            self.field(child, path, counts);
            path.truncate(parent);
        }
    }

    fn array(&mut self, items: u32, path: &str, counts: bool) {
        let mut rules = self.policy.into_iter().flat_map(|policy| &policy.arrays);
        if rules.any(|rule| rule.path.as_str() == path) {
            return;
        }
        let path_bytes = self.path_bytes + path.len();
        let room = self.arrays.len() < PATHS_SEEN_MAX && path_bytes <= PATHS_SEEN_BYTES_MAX;
        let sampled = match self.arrays.get_mut(path) {
            Some(sampled) => sampled,
            None if room => {
                self.path_bytes = path_bytes;
                self.arrays.entry(path.to_owned()).or_default()
            }
            None => {
                self.more = true;
                return;
            }
        };
        sampled.max = sampled.max.max(items);
        if counts {
            sampled.histogram.add(items);
            sampled.elements += u64::from(items);
            // A document may have several arrays at a path.
            let is_first = std::mem::replace(&mut sampled.last, self.documents) != self.documents;
            sampled.documents += u64::from(is_first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;
    use value::DocumentWriter;

    const SECRET: Secret = [7; 8];

    /// A document with arrays of its own.
    fn named_by_data(id: usize, arrays: usize, name: &str) -> bson::RawDocumentBuf {
        let mut document = DocumentWriter::new();
        for at in 0..arrays {
            document.begin_array(&format!("{name}{id}_{at}"));
            document.end();
        }
        document.begin_array("tags");
        document.end();
        document.finish()
    }

    #[test]
    fn paths_without_end_are_not_all_kept() {
        let mut look = Look::new(None, &SECRET);
        for id in 0..10 {
            look.at(&named_by_data(id, 1_000, "u"), true);
        }
        assert_eq!(look.arrays.len(), PATHS_SEEN_MAX);
        let sample = look.into_sample();
        assert_eq!((sample.documents, sample.arrays.len(), sample.more), (10, PATHS_MAX, true));
    }

    #[test]
    fn long_paths_are_not_all_kept() {
        let mut look = Look::new(None, &SECRET);
        look.at(&named_by_data(0, 300, &"u".repeat(10_000)), true);
        assert!(look.path_bytes <= PATHS_SEEN_BYTES_MAX && look.more);
    }

    #[test]
    fn documents_count_once_however_many_arrays_they_have() {
        let mut look = Look::new(None, &SECRET);
        let document = rawdoc! { "c": [{ "d": [1] }, { "d": [1, 2] }], "e": [] };
        look.at(&document, true);
        look.at(&document, true);
        look.at(&rawdoc! { "c": [{ "d": [1, 2, 3] }] }, false);
        let sample = look.into_sample();
        let found = |path: &str| {
            let Sampled { documents, elements, max, .. } = sample.arrays[path].clone();
            (documents, elements, max)
        };
        assert_eq!([found("c.d"), found("c"), found("e")], [(2, 6, 3), (2, 4, 2), (2, 0, 0)]);
        assert!(!sample.more);
    }
}
