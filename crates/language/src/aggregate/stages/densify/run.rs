//! A run of `$densify`: how far each partition has come, and the gap that is
//! being filled.

use super::{Bounds, Densify};
use crate::aggregate::Documents;
use crate::aggregate::limits::DENSIFY_DOCUMENTS_MAX;
use crate::aggregate::stages::held;
use bson::RawDocumentBuf;
use error::{Code, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use value::Number;

/// How far a partition has come.
#[derive(Debug)]
struct Progress {
    template: RawDocumentBuf,
    /// The last value on the step.
    last: Number,
}

/// Documents to be made, and the one that comes behind them.
#[derive(Debug)]
struct Gap {
    partition: usize,
    next: Number,
    /// Where it ends; the end itself is in it only where `inclusive`.
    end: Number,
    inclusive: bool,
    then: Option<(Number, RawDocumentBuf)>,
}

/// A run of the stage.
pub struct Run {
    stage: Arc<Densify>,
    input: Option<Documents>,
    partitions: Vec<Progress>,
    by_key: FxHashMap<Vec<u8>, usize>,
    key_bytes: usize,
    least: Option<Number>,
    most: Option<Number>,
    gap: Option<Gap>,
    /// The next partition to be filled up once the input is at its end.
    finishing: usize,
    generated: usize,
}

impl Run {
    pub fn new(stage: Arc<Densify>, input: Documents) -> Run {
        Run {
            stage,
            input: Some(input),
            partitions: Vec::new(),
            by_key: FxHashMap::default(),
            key_bytes: 0,
            least: None,
            most: None,
            gap: None,
            finishing: 0,
            generated: 0,
        }
    }

    /// Takes the next document of the input: gives it back, or opens the gap
    /// before it.
    fn take(&mut self, document: RawDocumentBuf) -> Result<Option<RawDocumentBuf>> {
        let Some(value) = self.stage.value(&document)? else { return Ok(Some(document)) };
        let first = self.least.is_none();
        let least = *self.least.get_or_insert(value);
        self.most = Some(value);
        let key = self.stage.key(&document);
        let known = self.by_key.get(&key).copied();
        let partition = match known {
            Some(partition) => partition,
            None => {
                self.key_bytes += key.len() + size_of::<Progress>();
                held::check("$densify", self.key_bytes)?;
                let last = match self.stage.bounds {
                    Bounds::Full if !first => self.stage.below(least)?,
                    Bounds::Explicit(lower, _) => self.stage.below(lower)?,
                    _ => value,
                };
                let template = self.stage.template(&document)?;
                self.partitions.push(Progress { template, last });
                self.by_key.insert(key, self.partitions.len() - 1);
                self.partitions.len() - 1
            }
        };
        let end = match self.stage.bounds {
            Bounds::Explicit(lower, _) if value.compare(lower).is_lt() => {
                return Ok(Some(document));
            }
            Bounds::Explicit(_, upper) if value.compare(upper).is_ge() => upper,
            _ => value,
        };
        let next = self.stage.above(self.partitions[partition].last)?;
        if next.compare(end).is_ge() {
            self.note(partition, next, value);
            return Ok(Some(document));
        }
        let then = Some((value, document));
        self.gap = Some(Gap { partition, next, end, inclusive: false, then });
        Ok(None)
    }

    /// A document that is on the step is where the next step starts.
    fn note(&mut self, partition: usize, next: Number, value: Number) {
        if value.compare(next).is_eq() {
            self.partitions[partition].last = value;
        }
    }

    /// The next document of a gap; `None` at its end.
    fn fill(&mut self, mut gap: Gap) -> Result<Option<RawDocumentBuf>> {
        let order = gap.next.compare(gap.end);
        if order.is_gt() || (order.is_eq() && !gap.inclusive) {
            let Some((value, document)) = gap.then else { return Ok(None) };
            self.note(gap.partition, gap.next, value);
            return Ok(Some(document));
        }
        self.generated += 1;
        if self.generated > DENSIFY_DOCUMENTS_MAX {
            return Err(Code::location(5897900).error(format!(
                "Generated {} documents in $densify, which is over the limit of {DENSIFY_DOCUMENTS_MAX}. Increase the 'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents",
                self.generated
            )));
        }
        let progress = &mut self.partitions[gap.partition];
        progress.last = gap.next;
        let document = self.stage.document(&progress.template, gap.next)?;
        // A step that is too small to move anything ends at the limit too.
        gap.next = self.stage.above(gap.next)?;
        self.gap = Some(gap);
        Ok(Some(document))
    }

    /// Opens what is missing at the end of the next partition.
    fn finish(&mut self) -> Result<bool> {
        let (end, inclusive) = match (self.stage.bounds, self.most) {
            (Bounds::Explicit(lower, upper), _) => {
                if self.partitions.is_empty() {
                    let template = RawDocumentBuf::new();
                    self.partitions.push(Progress { template, last: self.stage.below(lower)? });
                }
                (upper, false)
            }
            (Bounds::Full, Some(most)) => (most, true),
            _ => return Ok(false),
        };
        let Some(progress) = self.partitions.get(self.finishing) else { return Ok(false) };
        let next = self.stage.above(progress.last)?;
        self.gap = Some(Gap { partition: self.finishing, next, end, inclusive, then: None });
        self.finishing += 1;
        Ok(true)
    }

    fn step(&mut self) -> Result<Option<RawDocumentBuf>> {
        loop {
            let document = match (self.gap.take(), &mut self.input) {
                (Some(gap), _) => self.fill(gap)?,
                (None, Some(input)) => match input.next() {
                    Some(document) => self.take(document?)?,
                    None => {
                        self.input = None;
                        None
                    }
                },
                (None, None) => match self.finish()? {
                    true => None,
                    false => return Ok(None),
                },
            };
            if document.is_some() {
                return Ok(document);
            }
        }
    }
}

impl Iterator for Run {
    type Item = Result<RawDocumentBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}
