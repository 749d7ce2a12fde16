//! Change streams of both twins: the same events, but for what tells their time.

use super::{Twins, apart};
use bson::{Bson, Document, doc};
use freeboard_tests::Result;
use rand::Rng as _;
use rand::rngs::StdRng;

/// What differs between any two events.
const TIMES: [&str; 3] = ["_id", "clusterTime", "wallTime"];

impl Twins {
    /// Opens a stream on each; their cursors.
    pub fn watch(&mut self, random: &mut StdRng) -> Result<[i64; 2]> {
        let images = random.random_bool(0.4);
        if images {
            let images = doc! { "enabled": true };
            self.both(&doc! { "create": "c" }).or_else(exists)?;
            self.both(&doc! { "collMod": "c", "changeStreamPreAndPostImages": images })?;
        }
        let stream = match images {
            true => doc! { "fullDocument": "required", "fullDocumentBeforeChange": "required" },
            false => doc! { "fullDocument": "updateLookup" },
        };
        let stream = doc! {
            "aggregate": "c", "pipeline": [{ "$changeStream": stream }], "cursor": {},
        };
        let mut cursors = [0; 2];
        for (at, cursor) in cursors.iter_mut().enumerate() {
            let reply = Document::try_from(self.one(at, &stream)?)?;
            *cursor = reply.get_document("cursor")?.get_i64("id")?;
        }
        Ok(cursors)
    }

    pub fn compare_events(&mut self, seed: u64, cursors: [i64; 2]) -> Result<()> {
        // What comes after the last of them: then all have been seen.
        self.both(&doc! { "insert": "c", "documents": [{ "_id": "last" }] })?;
        let mut events = [String::new(), String::new()];
        for (at, events) in events.iter_mut().enumerate() {
            *events = self.events(at, cursors[at])?;
        }
        self.both(&doc! { "delete": "c", "deletes": [{ "q": { "_id": "last" }, "limit": 1 }] })?;
        let [guarded, plain] = &events;
        if guarded != plain {
            let apart = apart(guarded, plain);
            return Err(format!("seed {seed}: their events differ\n{apart}").into());
        }
        Ok(())
    }

    /// The events of a stream up to the last, a line each.
    fn events(&mut self, at: usize, cursor: i64) -> Result<String> {
        let more = doc! { "getMore": cursor, "collection": "c", "maxTimeMS": 10_000 };
        let mut lines = String::new();
        loop {
            let reply = Document::try_from(self.one(at, &more)?)?;
            let batch = reply.get_document("cursor")?.get_array("nextBatch")?;
            if batch.is_empty() {
                return Err(format!("no event for ten seconds after\n{lines}").into());
            }
            for event in batch.iter().filter_map(Bson::as_document) {
                let key = event.get_document("documentKey").ok();
                if key.is_some_and(|key| key.get_str("_id").is_ok_and(|it| it == "last")) {
                    return Ok(lines);
                }
                let mut event = event.clone();
                TIMES.iter().for_each(|time| drop(event.remove(time)));
                lines += &format!("{event}\n");
            }
        }
    }
}

/// The collection may have come with the policy.
fn exists(error: Box<dyn std::error::Error>) -> Result<()> {
    match error.to_string().contains("NamespaceExists") {
        true => Ok(()),
        false => Err(error),
    }
}
