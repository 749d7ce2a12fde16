//! Everyone increments one document: nothing is lost, and nothing counted twice.

use super::DATABASE;
use crate::connection::{Answer, Connection};
use crate::load::Worker;
use bson::doc;
use rand::rngs::StdRng;

const COLLECTION: &str = "counters";

pub struct Counter {
    /// The field that only this worker increments.
    field: &'static str,
    acknowledged: i64,
    pending: bool,
}

impl Counter {
    pub fn new(field: &'static str) -> Counter {
        Counter { field, acknowledged: 0, pending: false }
    }
}

impl Worker for Counter {
    fn name(&self) -> &'static str {
        self.field
    }

    fn prepare(&mut self, connection: &mut Connection) {
        let both = doc! { "total": 0_i64, self.field: 0_i64 };
        let update = doc! { "q": { "_id": 0_i64 }, "u": { "$inc": both }, "upsert": true };
        connection.run(DATABASE, doc! { "update": COLLECTION, "updates": [update] }).unwrap();
    }

    fn step(&mut self, connection: &mut Connection, _: &mut StdRng) -> Answer<()> {
        let both = doc! { "total": 1_i64, self.field: 1_i64 };
        let update = doc! { "q": { "_id": 0_i64 }, "u": { "$inc": both } };
        self.pending = true;
        connection.run(DATABASE, doc! { "update": COLLECTION, "updates": [update] })?;
        self.pending = false;
        self.acknowledged += 1;
        Ok(())
    }

    fn check(&mut self, connection: &mut Connection) {
        let found = connection.all(DATABASE, COLLECTION).pop().unwrap();
        let mine = found.get_i64(self.field).unwrap();
        let most = self.acknowledged + i64::from(self.pending);
        assert!(
            (self.acknowledged..=most).contains(&mine),
            "{} or {most}: {found}",
            self.acknowledged
        );
        (self.acknowledged, self.pending) = (mine, false);
        let sum =
            |fields: &[&str]| fields.iter().map(|name| found.get_i64(name).unwrap()).sum::<i64>();
        assert_eq!(found.get_i64("total").unwrap(), sum(&["left", "right"]));
    }
}
