//! A sample that reads no more documents than it is asked for.
//!
//! Where the server samples cheaply, it does so (`$sample`). Elsewhere short runs are read
//! along the `_id` index: one from each end, which tells where the ends are, and then from
//! places in between, where `_id`s are of a kind that has a middle. Runs never meet, so
//! nothing is read twice. A server that refuses both is asked for its first documents.

use super::{COMMENT, End, Progress, Scan, count, ids_of_ends, is_refusal};
use crate::audit::census::Census;
use bson::oid::ObjectId;
use bson::{Bson, Document, doc};
use futures::StreamExt;
use mongodb::error::Result;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// `$sample` scans the collection unless it is asked for less than this share,
const CHEAP_SHARE: f64 = 0.05;
/// and the collection has more documents than this.
const CHEAP_DOCUMENTS_MIN: u64 = 100;
/// Runs of a sample at least and at most, and the documents of one that more are made for.
const RUNS: u64 = 16;
const RUNS_MAX: u64 = 100;
const RUN_DOCUMENTS: u64 = 500;

impl Scan<'_> {
    pub(super) async fn sample(
        &self,
        asked: u64,
        census: &mut Census,
        progress: &Progress,
    ) -> Result<End> {
        let all = self.collection.documents;
        if asked < RUNS {
            return self.first(asked, census, progress).await;
        }
        let cheap = self.samples_cheaply
            && self.heads().is_none()
            && all.is_some_and(|all| {
                all > CHEAP_DOCUMENTS_MIN && (asked as f64) < all as f64 * CHEAP_SHARE
            });
        // Each way is simpler than the one before; what a server refuses it has not read.
        if cheap {
            match self.random(asked, census, progress).await {
                Err(error) if is_refusal(&error) && census.documents() == 0 => {}
                outcome => return outcome,
            }
        }
        match self.runs(asked, census, progress).await {
            Err(error) if is_refusal(&error) && census.documents() == 0 => {
                self.first(asked, census, progress).await
            }
            outcome => outcome,
        }
    }

    /// The first documents that the server gives.
    async fn first(&self, asked: u64, census: &mut Census, progress: &Progress) -> Result<End> {
        let cursor = self.find(doc! {}, None, Some(asked)).await?;
        self.walk(cursor, Some(asked), census, progress).await
    }

    async fn random(&self, asked: u64, census: &mut Census, progress: &Progress) -> Result<End> {
        let size = i64::try_from(asked).unwrap_or(i64::MAX);
        let handle = self.handle();
        let mut aggregate = handle.aggregate([doc! { "$sample": { "size": size } }]);
        aggregate = aggregate.batch_size(u32::try_from(self.batch_documents()).unwrap_or(1));
        if !self.plain.load(Ordering::Relaxed) {
            aggregate = aggregate.comment(COMMENT);
            if let Some(left) = self.left() {
                aggregate = aggregate.max_time(left.max(Duration::from_millis(1)));
            }
        }
        self.walk(aggregate.batch().await?, Some(asked), census, progress).await
    }

    async fn runs(&self, asked: u64, census: &mut Census, progress: &Progress) -> Result<End> {
        let runs = (asked / RUN_DOCUMENTS).clamp(RUNS, RUNS_MAX);
        let run = asked / runs;
        let low = self.run_of(Range::default(), 1, run, census, progress).await?;
        let (Some(least), Some(last)) = (low.first, low.last) else { return Ok(low.end) };
        let mut range = Range { above: Some(last), ..Range::default() };
        let high = self.run_of(range.clone(), -1, run, census, progress).await?;
        let (Some(greatest), Some(last)) = (high.first, high.last) else { return Ok(high.end) };
        range.below = Some(last);
        let mut left = asked - low.read - high.read;
        if low.end != End::Complete || high.end != End::Complete {
            return Ok(if low.end == End::Complete { high.end } else { low.end });
        }
        for number in 1..runs - 1 {
            range.from = between(&least, &greatest, number as f64 / (runs - 1) as f64);
            if range.from.is_none() {
                break;
            }
            let run = self.run_of(range.clone(), 1, run.min(left), census, progress).await?;
            left -= run.read;
            range.above = run.last.or(range.above);
            if run.end != End::Complete {
                return Ok(run.end);
            }
        }
        // What short runs left over, or all of it where `_id`s have no middle.
        range.from = None;
        Ok(self.run_of(range, 1, left, census, progress).await?.end)
    }

    /// Reads a run of documents whose `_id`s lie in a range.
    async fn run_of(
        &self,
        range: Range,
        direction: i32,
        length: u64,
        census: &mut Census,
        progress: &Progress,
    ) -> Result<Run> {
        let mut run = Run { end: End::Complete, read: 0, first: None, last: None };
        if length == 0 {
            return Ok(run);
        }
        let mut asked = Instant::now();
        let sort = Some(doc! { "_id": direction });
        let mut cursor = self.find(range.filter(), sort, Some(length)).await?;
        while run.read < length {
            if self.stop.is_cancelled() {
                run.end = End::Interrupted;
                break;
            }
            if self.left().is_some_and(|left| left.is_zero()) {
                run.end = End::OutOfTime;
                break;
            }
            let Some(batch) = cursor.next().await else { break };
            let batch = batch?;
            let took = asked.elapsed();
            let counted = count(&batch, length - run.read, census)?;
            progress.add(counted);
            run.read += counted;
            let (first, last) = ids_of_ends(&batch);
            run.first = run.first.or(first);
            run.last = last.or(run.last);
            let bytes = batch.as_raw_document().as_bytes().len();
            let _ = self.stop.run_until_cancelled(self.pace.keep(took, bytes)).await;
            asked = Instant::now();
        }
        Ok(run)
    }
}

/// The `_id`s that a run may have.
#[derive(Debug, Clone, Default)]
struct Range {
    /// Above what was read already.
    above: Option<Bson>,
    /// From a place to begin at.
    from: Option<Bson>,
    /// Below what was read already.
    below: Option<Bson>,
}

/// What a run has read.
struct Run {
    end: End,
    read: u64,
    /// The `_id`s of the first and the last document.
    first: Option<Bson>,
    last: Option<Bson>,
}

impl Range {
    fn filter(&self) -> Document {
        let bounds = [("$gt", &self.above), ("$gte", &self.from), ("$lt", &self.below)];
        let bounds = bounds.into_iter().filter_map(|(name, bound)| {
            let bound = bound.as_ref()?;
            Some(Bson::Document(doc! { "_id": { name: bound.clone() } }))
        });
        let bounds: Vec<Bson> = bounds.collect();
        if bounds.is_empty() {
            Document::new()
        } else {
            doc! { "$and": bounds }
        }
    }
}

/// The value that lies at this share of the way from one to the other, where they are of
/// one kind and it has a middle.
fn between(least: &Bson, greatest: &Bson, share: f64) -> Option<Bson> {
    let number = |value: &Bson| match value {
        Bson::Int32(number) => Some(f64::from(*number)),
        Bson::Int64(number) => Some(*number as f64),
        Bson::Double(number) if number.is_finite() => Some(*number),
        _ => None,
    };
    if let (Some(from), Some(to)) = (number(least), number(greatest)) {
        return Some(Bson::Double(from + (to - from) * share));
    }
    match (least, greatest) {
        (Bson::DateTime(from), Bson::DateTime(to)) => {
            let (from, to) = (from.timestamp_millis(), to.timestamp_millis());
            let way = to.saturating_sub(from) as f64 * share;
            Some(Bson::DateTime(bson::DateTime::from_millis(from.saturating_add(way as i64))))
        }
        (Bson::ObjectId(from), Bson::ObjectId(to)) => {
            let bytes = bytes_between(from.bytes(), to.bytes(), share);
            Some(Bson::ObjectId(ObjectId::from_bytes(bytes)))
        }
        (Bson::Binary(from), Bson::Binary(to)) if from.subtype == to.subtype => {
            let from_bytes: [u8; 16] = from.bytes.as_slice().try_into().ok()?;
            let to_bytes: [u8; 16] = to.bytes.as_slice().try_into().ok()?;
            let bytes = bytes_between(from_bytes, to_bytes, share).to_vec();
            Some(Bson::Binary(bson::Binary { subtype: from.subtype, bytes }))
        }
        (Bson::String(from), Bson::String(to)) => text_between(from, to, share).map(Bson::String),
        _ => None,
    }
}

/// As numbers whose first byte counts most.
fn bytes_between<const N: usize>(from: [u8; N], to: [u8; N], share: f64) -> [u8; N] {
    let number =
        |bytes: [u8; N]| bytes.iter().take(12).fold(0_u128, |sum, it| sum << 8 | u128::from(*it));
    let (low, high) = (number(from), number(to));
    let at = low + (high.saturating_sub(low) as f64 * share) as u128;
    let mut bytes = [0; N];
    let digits = N.min(12);
    for (place, byte) in bytes.iter_mut().take(digits).enumerate() {
        *byte = (at >> (8 * (digits - 1 - place))) as u8;
    }
    bytes
}

/// What two texts begin with, and a letter or two that lie between them.
fn text_between(from: &str, to: &str, share: f64) -> Option<String> {
    if !from.is_ascii() || !to.is_ascii() {
        return None;
    }
    let common = from.bytes().zip(to.bytes()).take_while(|(a, b)| a == b).count();
    let number = |text: &str| {
        let digit = |at: usize| text.as_bytes().get(common + at).copied().unwrap_or(0);
        (0..3).fold(0_u32, |sum, at| sum << 7 | u32::from(digit(at)))
    };
    let (low, high) = (number(from), number(to));
    let at = low + (f64::from(high.saturating_sub(low)) * share) as u32;
    let mut text = from[..common].to_owned();
    for place in (0..3).rev() {
        // No zero bytes, which some servers refuse.
        text.push(char::from((at >> (7 * place) & 0x7F).max(1) as u8));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles_lie_between() {
        let id = |hex: &str| Bson::ObjectId(ObjectId::parse_str(hex).unwrap());
        let middle = between(&Bson::Int32(0), &Bson::Int64(100), 0.25);
        assert_eq!(middle, Some(Bson::Double(25.0)));
        let middle = between(&id("100000000000000000000000"), &id("300000000000000000000000"), 0.5);
        assert_eq!(middle, Some(id("200000000000000000000000")));
        let text = |text: &str| Bson::String(text.to_owned());
        let Some(Bson::String(middle)) = between(&text("user_a"), &text("user_z"), 0.5) else {
            panic!("no middle")
        };
        assert!(*"user_a" < *middle && *middle < *"user_z", "{middle:?}");
        assert_eq!(between(&Bson::Int32(0), &text("x"), 0.5), None);
        assert_eq!(between(&Bson::Null, &Bson::Null, 0.5), None);
    }
}
