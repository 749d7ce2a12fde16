//! Everyone increments one document, by retryable writes: nothing is lost, and nothing
//! counted twice, though what was under way is sent again after the restart.

use super::{DATABASE, session};
use crate::connection::{Answer, Connection};
use crate::load::Worker;
use bson::{Document, doc};
use rand::rngs::StdRng;

const COLLECTION: &str = "counters";

pub struct Counter {
    /// The field that only this worker increments.
    field: &'static str,
    session: Document,
    /// Increments that were acknowledged; the next one has the next number.
    acknowledged: i64,
    pending: bool,
}

impl Counter {
    pub fn new(field: &'static str) -> Counter {
        Counter { field, session: session(), acknowledged: 0, pending: false }
    }

    fn increment(&mut self, connection: &mut Connection) -> Answer<()> {
        let both = doc! { "total": 1_i64, self.field: 1_i64 };
        let update = doc! { "q": { "_id": 0_i64 }, "u": { "$inc": both } };
        let command = doc! {
            "update": COLLECTION,
            "updates": [update],
            "lsid": self.session.clone(),
            "txnNumber": self.acknowledged + 1,
        };
        self.pending = true;
        connection.run(DATABASE, command)?;
        self.pending = false;
        self.acknowledged += 1;
        Ok(())
    }

    fn found(&self, connection: &mut Connection) -> i64 {
        let found = connection.all(DATABASE, COLLECTION).pop().unwrap();
        let number = |name| found.get_i64(name).unwrap();
        assert_eq!(number("total"), number("left") + number("right"));
        number(self.field)
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
        self.increment(connection)
    }

    fn check(&mut self, connection: &mut Connection) {
        let most = self.acknowledged + i64::from(self.pending);
        let found = self.found(connection);
        assert!((self.acknowledged..=most).contains(&found), "{found} instead of {most}");
        if self.pending {
            self.increment(connection).unwrap();
        }
        assert_eq!(self.found(connection), self.acknowledged);
    }
}
