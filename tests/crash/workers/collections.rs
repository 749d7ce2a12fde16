//! Collections come, get an index and documents, are renamed, and go.

use crate::connection::{Answer, Connection};
use crate::load::Worker;
use bson::doc;
use rand::Rng;
use rand::rngs::StdRng;
use std::collections::BTreeMap;

/// A database of its own, so that it comes and goes with them.
const DATABASE: &str = "crash_rooms";
const NAMES: [&str; 4] = ["attic", "cellar", "hall", "kitchen"];
const DOCUMENTS_MAX: i64 = 60;

#[derive(Default)]
pub struct Collections {
    /// Collections that exist, and how many documents they have.
    known: BTreeMap<&'static str, i64>,
    pending: Option<Pending>,
}

/// An operation under way.
enum Pending {
    /// Documents are inserted one by one; the collection may be made by it.
    Fill {
        name: &'static str,
        documents: i64,
    },
    Drop {
        name: &'static str,
    },
    Rename {
        from: &'static str,
        to: &'static str,
    },
}

impl Collections {
    fn fill(
        &mut self,
        name: &'static str,
        connection: &mut Connection,
        random: &mut StdRng,
    ) -> Answer<()> {
        let before = self.known.get(name).copied();
        let documents = random.random_range(0..DOCUMENTS_MAX);
        self.pending = Some(Pending::Fill { name, documents });
        if before.is_none() && (documents == 0 || random.random()) {
            connection.run(DATABASE, doc! { "create": name })?;
            self.known.insert(name, 0);
            let index = doc! { "name": "text", "key": { "text": 1 } };
            connection.run(DATABASE, doc! { "createIndexes": name, "indexes": [index] })?;
        }
        let first = before.unwrap_or(0);
        let document = |n| doc! { "_id": first + n, "text": "x".repeat(n as usize * 100) };
        let insert: Vec<_> = (0..documents).map(document).collect();
        if !insert.is_empty() {
            connection.run(DATABASE, doc! { "insert": name, "documents": insert })?;
            self.known.insert(name, first + documents);
        }
        Ok(())
    }

    fn drop(&mut self, name: &'static str, connection: &mut Connection) -> Answer<()> {
        self.pending = Some(Pending::Drop { name });
        connection.run(DATABASE, doc! { "drop": name })?;
        self.known.remove(name);
        Ok(())
    }

    fn rename(
        &mut self,
        from: &'static str,
        to: &'static str,
        connection: &mut Connection,
    ) -> Answer<()> {
        self.pending = Some(Pending::Rename { from, to });
        let full = |name| format!("{DATABASE}.{name}");
        let rename = doc! { "renameCollection": full(from), "to": full(to), "dropTarget": true };
        connection.run("admin", rename)?;
        let documents = self.known.remove(from).unwrap();
        self.known.insert(to, documents);
        Ok(())
    }

    /// Takes what an operation under way has done as known, if it can be that.
    fn settle(&mut self, pending: Pending, found: &BTreeMap<&'static str, i64>) {
        match pending {
            Pending::Fill { name, documents } => {
                let before = self.known.get(name).copied();
                let Some(now) = found.get(name).copied() else {
                    assert_eq!(before, None, "{name} is gone");
                    return;
                };
                let least = before.unwrap_or(0);
                assert!((least..=least + documents).contains(&now), "{name} has {now} documents");
                self.known.insert(name, now);
            }
            Pending::Drop { name } => {
                if !found.contains_key(name) {
                    self.known.remove(name);
                }
            }
            Pending::Rename { from, to } => {
                if !found.contains_key(from) {
                    let documents = self.known.remove(from).unwrap();
                    self.known.insert(to, documents);
                }
            }
        }
    }
}

impl Worker for Collections {
    fn name(&self) -> &'static str {
        "collections"
    }

    fn step(&mut self, connection: &mut Connection, random: &mut StdRng) -> Answer<()> {
        let [name, other] = [0; 2].map(|_| NAMES[random.random_range(0..NAMES.len())]);
        match (self.known.contains_key(name), random.random_range(0..3)) {
            (true, 0) => self.drop(name, connection)?,
            (true, 1) if name != other => self.rename(name, other, connection)?,
            _ => self.fill(name, connection, random)?,
        }
        self.pending = None;
        Ok(())
    }

    fn check(&mut self, connection: &mut Connection) {
        let names = connection.names(DATABASE, doc! { "listCollections": 1, "nameOnly": true });
        let mut found = BTreeMap::new();
        for name in NAMES {
            if names.iter().any(|found| found == name) {
                let ids: Vec<i64> = connection
                    .all(DATABASE, name)
                    .iter()
                    .map(|document| document.get_i64("_id").unwrap())
                    .collect();
                let documents = ids.len() as i64;
                assert!(ids.into_iter().eq(0..documents), "{name} has a gap");
                found.insert(name, documents);
            }
        }
        assert_eq!(found.len(), names.len(), "{names:?}");
        if let Some(pending) = self.pending.take() {
            self.settle(pending, &found);
        }
        assert_eq!(found, self.known);
    }
}
