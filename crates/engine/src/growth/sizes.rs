//! The sizes of a collection's documents.

use super::event::GrowthEvent;
use super::turn::GroupRows;
use crate::storage::{CollectionId, RecordId};
use statistics::{Histogram, Largest, Place, Trend, read_number, write_number};

#[derive(Debug, Clone)]
pub struct DocumentSizes {
    /// Since when they are kept, in milliseconds since 1970.
    pub since_ms: u64,
    pub histogram: Histogram,
    pub largest: Largest<Tracked>,
}

/// What is noted of one of the largest documents.
#[derive(Debug, Clone, Default)]
pub struct Tracked {
    pub trend: Trend,
    /// Whether its forecast has been logged.
    pub alerted: bool,
}

impl Tracked {
    pub fn write(&self) -> Vec<u8> {
        let mut row = vec![u8::from(self.alerted)];
        self.trend.write(&mut row);
        row
    }

    /// What cannot be read starts over.
    pub fn read(row: &[u8]) -> Tracked {
        let Some((alerted, mut rest)) = row.split_first() else { return Tracked::default() };
        let trend = Trend::read(&mut rest).unwrap_or_default();
        Tracked { trend, alerted: *alerted == 1 }
    }
}

impl std::fmt::Display for Tracked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.trend)?;
        if self.alerted { f.write_str(", logged") } else { Ok(()) }
    }
}

impl DocumentSizes {
    /// Of a collection that holds nothing.
    pub fn new(since_ms: u64) -> DocumentSizes {
        DocumentSizes { since_ms, histogram: Histogram::default(), largest: Largest::default() }
    }

    pub fn apply(&mut self, collection: CollectionId, event: &GrowthEvent, turn: &mut GroupRows) {
        let GrowthEvent { record, before, after, .. } = *event;
        match (before, after) {
            (Some(before), Some(after)) => self.histogram.exchange(before, after),
            (Some(before), None) => self.histogram.remove(before),
            (None, Some(after)) => self.histogram.add(after),
            (None, None) => {}
        }
        match self.largest.change(record.0, before, after) {
            Place::Outside => {}
            Place::Went => turn.remove(collection, "", record.0),
            Place::Came => {
                let size = before.or(after).unwrap_or(0);
                self.note(collection, record, size, turn);
                if self.largest.is_full() {
                    for gone in self.largest.trim() {
                        turn.remove(collection, "", gone);
                    }
                }
            }
            Place::Stays => self.note(collection, record, after.unwrap_or(0), turn),
        }
    }

    /// Notes the size of one of the largest.
    fn note(
        &mut self,
        collection: CollectionId,
        record: RecordId,
        size: u32,
        turn: &mut GroupRows,
    ) {
        let now = turn.now_ms();
        if let Some(kept) = self.largest.get_mut(record.0)
            && kept.note.trend.note(now, size)
        {
            turn.put(collection, "", record.0, kept.note.write());
        }
    }

    /// Forgets how one of the largest has grown.
    pub fn begin_trend(
        &mut self,
        collection: CollectionId,
        event: &GrowthEvent,
        turn: &mut GroupRows,
    ) {
        let (record, now) = (event.record.0, turn.now_ms());
        if let Some(kept) = self.largest.get_mut(record)
            && let Some(size) = event.after
        {
            kept.note.trend = Trend::begin(now, size);
            turn.put(collection, "", record, kept.note.write());
        }
    }

    /// Lets the smallest of the largest go if there are too many; false if some have gone.
    pub fn trim(&mut self) -> bool {
        !self.largest.is_full() || self.largest.trim().is_empty()
    }

    pub fn write(&self, row: &mut Vec<u8>) {
        write_number(self.since_ms, row);
        write_number(u64::from(self.largest.floor()), row);
        self.histogram.write(row);
    }

    /// Takes sizes off the front of a row; who the largest are stands elsewhere.
    pub fn read(row: &mut &[u8], kept: Vec<(u64, Tracked)>) -> Option<DocumentSizes> {
        let since_ms = read_number(row)?;
        let floor = u32::try_from(read_number(row)?).ok()?;
        let histogram = Histogram::read(row)?;
        Some(DocumentSizes { since_ms, histogram, largest: Largest::restore(floor, kept) })
    }
}
