//! A sample that reads no more documents than it is asked for.
//!
//! Where the server samples cheaply, it does so (`$sample`). Elsewhere short runs are read
//! along the `_id` index: from both ends, and from places in between where `_id`s are of a
//! kind that has a middle. Runs go upwards and never meet, so nothing is read twice.

use super::{COMMENT, End, Progress, Scan, count, last_id};
use crate::audit::census::Census;
use bson::oid::ObjectId;
use bson::{Bson, Document, doc};
use futures::StreamExt;
use mongodb::error::Result;
use std::time::{Duration, Instant};

/// `$sample` scans the collection unless it is asked for less than this share,
const CHEAP_SHARE: f64 = 0.05;
/// and the collection has more documents than this.
const CHEAP_DOCUMENTS_MIN: u64 = 100;
/// Runs of a sample.
const RUNS: u64 = 16;

impl Scan<'_> {
    pub(super) async fn sample(
        &self,
        asked: u64,
        census: &mut Census,
        progress: &Progress,
    ) -> Result<End> {
        let all = self.collection.documents;
        if all.is_some_and(|all| all <= asked) || asked < RUNS {
            let cursor = self.find(doc! {}, doc! {}, Some(asked)).await?;
            return self.walk(cursor, Some(asked), census, progress).await;
        }
        let cheap = self.samples_cheaply
            && all.is_some_and(|all| {
                all > CHEAP_DOCUMENTS_MIN && (asked as f64) < all as f64 * CHEAP_SHARE
            });
        if cheap {
            self.random(asked, census, progress).await
        } else {
            self.runs(asked, census, progress).await
        }
    }

    async fn random(&self, asked: u64, census: &mut Census, progress: &Progress) -> Result<End> {
        let namespace = &self.collection.namespace;
        let database = self.client.database(&namespace.database);
        let collection = database.collection::<Document>(&namespace.collection);
        let size = i64::try_from(asked).unwrap_or(i64::MAX);
        let mut aggregate = collection.aggregate([doc! { "$sample": { "size": size } }]);
        aggregate = aggregate.comment(COMMENT);
        aggregate = aggregate.batch_size(u32::try_from(self.batch_documents()).unwrap_or(1));
        if let Some(left) = self.left() {
            aggregate = aggregate.max_time(left.max(Duration::from_millis(1)));
        }
        self.walk(aggregate.batch().await?, Some(asked), census, progress).await
    }

    async fn runs(&self, asked: u64, census: &mut Census, progress: &Progress) -> Result<End> {
        let ends = (self.end(1).await?, self.end(-1).await?);
        let (Some(least), Some(greatest)) = ends else { return Ok(End::Complete) };
        let run = asked / RUNS;
        let mut left = asked;
        let mut last: Option<Bson> = None;
        for number in 0..RUNS - 1 {
            let seek = between(&least, &greatest, number as f64 / RUNS as f64);
            // Where there is no middle, the first half comes from the lower end.
            let (seek, length) = match (number, seek) {
                (0, None) => (None, asked / 2),
                (_, None) => break,
                (_, seek) => (seek, run),
            };
            let mut filter = Document::new();
            match (&last, seek) {
                // What was read already lies below `last`, the place to seek may not.
                (Some(last), Some(seek)) => {
                    let both = [doc! { "_id": { "$gt": last } }, doc! { "_id": { "$gte": seek } }];
                    filter.insert("$and", both.to_vec());
                }
                (None, Some(seek)) => {
                    filter.insert("_id", doc! { "$gte": seek });
                }
                _ => {}
            }
            let length = length.min(left);
            let (end, read, reached) = self.run_of(filter, 1, length, census, progress).await?;
            left -= read;
            last = reached.or(last);
            if end != End::Complete {
                return Ok(end);
            }
        }
        let filter = last.map_or_else(Document::new, |last| doc! { "_id": { "$gt": last } });
        Ok(self.run_of(filter, -1, left, census, progress).await?.0)
    }

    /// Reads a run; how many documents there were, and the `_id` of the last.
    async fn run_of(
        &self,
        filter: Document,
        direction: i32,
        length: u64,
        census: &mut Census,
        progress: &Progress,
    ) -> Result<(End, u64, Option<Bson>)> {
        let mut asked = Instant::now();
        let mut cursor = self.find(filter, doc! { "_id": direction }, Some(length)).await?;
        let (mut read, mut last) = (0, None);
        while read < length {
            if self.stop.is_cancelled() {
                return Ok((End::Interrupted, read, last));
            }
            if self.left().is_some_and(|left| left.is_zero()) {
                return Ok((End::OutOfTime, read, last));
            }
            let Some(batch) = cursor.next().await else { break };
            let batch = batch?;
            let took = asked.elapsed();
            let counted = count(&batch, length - read, census)?;
            progress.add(counted);
            read += counted;
            last = last_id(&batch).and_then(|id| Bson::try_from(id).ok()).or(last);
            let bytes = batch.as_raw_document().as_bytes().len();
            let _ = self.stop.run_until_cancelled(self.pace.keep(took, bytes)).await;
            asked = Instant::now();
        }
        Ok((End::Complete, read, last))
    }

    /// The least `_id`, or the greatest.
    async fn end(&self, direction: i32) -> Result<Option<Bson>> {
        let namespace = &self.collection.namespace;
        let database = self.client.database(&namespace.database);
        let collection = database.collection::<Document>(&namespace.collection);
        let found = collection
            .find_one(doc! {})
            .sort(doc! { "_id": direction })
            .projection(doc! { "_id": 1 })
            .comment(COMMENT)
            .await?;
        Ok(found.and_then(|found| found.get("_id").cloned()))
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
