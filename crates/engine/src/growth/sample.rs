//! Arrays that no policy names, as a sample of the documents shows them. Writes pay
//! nothing for it: the documents are looked at when someone asks.

use super::Figures;
use crate::plan::Interrupt;
use crate::storage::large::{self, Secret};
use crate::storage::{CollectionId, Record, RecordId, View};
use bson::spec::ElementType;
use error::Result;
use guard::Policy;
use rand::Rng;
use statistics::Histogram;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use value::{Element, elements};

/// Documents that are looked at; of a smaller collection, all.
const SAMPLE_DOCUMENTS: u64 = 1_000;
/// Paths that are told of: those with the longest arrays.
const PATHS_MAX: usize = 64;
/// Documents between two looks at whether to stop.
const DOCUMENTS_PER_LOOK: usize = 128;

/// What a sample of a collection shows.
#[derive(Debug, Default)]
pub struct Sample {
    /// How many documents were looked at.
    pub documents: u64,
    pub arrays: BTreeMap<String, Sampled>,
}

/// The arrays at one path.
#[derive(Debug, Default, Clone)]
pub struct Sampled {
    pub documents: u64,
    pub elements: u64,
    pub histogram: Histogram,
    /// The longest, among the largest documents of the collection too.
    pub max: u32,
}

impl Sample {
    /// Looks at documents. Large values are not loaded: of an array that is out of
    /// line the length is known, and what is in it is not looked at.
    pub fn take(
        view: &View,
        collection: CollectionId,
        figures: &Figures,
        policy: Option<&Policy>,
        secret: &Secret,
        interrupt: &Interrupt,
    ) -> Result<Sample> {
        let mut look = Look { policy, secret, sample: Sample::default(), seen: BTreeSet::new() };
        for (at, record) in chosen(view, collection, figures.counts.documents)?.enumerate() {
            if at % DOCUMENTS_PER_LOOK == 0 {
                interrupt.check()?;
            }
            look.at(&record?.1, true);
            look.sample.documents += 1;
        }
        for (id, _) in figures.sizes.iter().flat_map(|sizes| sizes.largest.iter()) {
            if let Some(record) = view.record(collection, RecordId(id))? {
                look.at(&record, false);
            }
        }
        let mut sample = look.sample;
        sample.keep_longest();
        Ok(sample)
    }

    fn keep_longest(&mut self) {
        if self.arrays.len() > PATHS_MAX {
            let mut lengths: Vec<u32> = self.arrays.values().map(|it| it.max).collect();
            lengths.sort_unstable_by(|a, b| b.cmp(a));
            let least = lengths[PATHS_MAX - 1];
            self.arrays.retain(|_, sampled| sampled.max >= least);
            while self.arrays.len() > PATHS_MAX {
                self.arrays.pop_last();
            }
        }
    }
}

type Chosen = Box<dyn Iterator<Item = Result<(RecordId, Record)>>>;

/// All documents of a small collection; of a large one some, taken at random.
fn chosen(view: &View, collection: CollectionId, documents: u64) -> Result<Chosen> {
    let all = || view.records(collection, (Bound::Unbounded, Bound::Unbounded));
    if documents <= SAMPLE_DOCUMENTS {
        return Ok(Box::new(all().take(SAMPLE_DOCUMENTS as usize)));
    }
    let (Some(first), Some(last)) = (all().next(), all().next_back()) else {
        return Ok(Box::new(std::iter::empty()));
    };
    let (first, last) = (first?.0.0, last?.0.0);
    let mut random = rand::rng();
    let places: BTreeSet<u64> =
        (0..SAMPLE_DOCUMENTS).map(|_| random.random_range(first..=last)).collect();
    let view = view.clone();
    let at = move |place| {
        view.records(collection, (Bound::Included(RecordId(place)), Bound::Unbounded)).next()
    };
    let mut past = None;
    // Two places may lead to the same document, where some are missing.
    let new = move |found: &Result<(RecordId, Record)>| match found {
        Ok((id, _)) => past.replace(*id) != Some(*id),
        Err(_) => true,
    };
    Ok(Box::new(places.into_iter().filter_map(at).filter(new)))
}

struct Look<'a> {
    policy: Option<&'a Policy>,
    secret: &'a Secret,
    sample: Sample,
    /// Paths that the document at hand has arrays at.
    seen: BTreeSet<String>,
}

impl Look<'_> {
    /// Looks at a document; one that is not part of the sample counts for the
    /// longest only.
    fn at(&mut self, record: &Record, counts: bool) {
        let mut path = String::new();
        for field in elements(record.stored()) {
            path.push_str(field.key);
            self.field(field, &mut path, counts);
            path.clear();
        }
        for path in std::mem::take(&mut self.seen) {
            if let Some(sampled) = self.sample.arrays.get_mut(&path).filter(|_| counts) {
                sampled.documents += 1;
            }
        }
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
        let sampled = match self.sample.arrays.get_mut(path) {
            Some(sampled) => sampled,
            None => self.sample.arrays.entry(path.to_owned()).or_default(),
        };
        sampled.max = sampled.max.max(items);
        if counts {
            sampled.histogram.add(items);
            sampled.elements += u64::from(items);
            self.seen.insert(path.to_owned());
        }
    }
}
