//! Ids that follow from a document's number, so that others can refer to it.

use crate::Recipe;
use crate::dates::evenly;
use bson::oid::ObjectId;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The ids of a collection whose documents came evenly over the last `span_ms`. As those
/// that drivers make they begin with the seconds, so they grow.
#[derive(Debug, Clone, Copy)]
pub struct Ids {
    recipe: Recipe,
    machine: [u8; 5],
    span_ms: i64,
    pub count: u64,
}

impl Ids {
    pub fn new(recipe: &Recipe, collection: &str, span_ms: i64, count: u64) -> Ids {
        let hash = xxh3_64_with_seed(collection.as_bytes(), recipe.seed).to_be_bytes();
        let mut machine = [0; 5];
        machine.copy_from_slice(&hash[..5]);
        Ids { recipe: *recipe, machine, span_ms, count }
    }

    /// When document `number` came.
    pub fn moment(&self, number: u64) -> i64 {
        evenly(&self.recipe, self.span_ms, number, self.count)
    }

    /// The id of document `number`. Its counter has three bytes: ids differ as long as fewer
    /// than 16 million documents come in a second.
    pub fn of(&self, number: u64) -> ObjectId {
        let seconds = u32::try_from(self.moment(number) / 1_000).unwrap_or(0);
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&seconds.to_be_bytes());
        bytes[4..9].copy_from_slice(&self.machine);
        bytes[9..].copy_from_slice(&(number as u32).to_be_bytes()[1..]);
        ObjectId::from_bytes(bytes)
    }
}
