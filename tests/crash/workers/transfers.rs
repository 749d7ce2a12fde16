//! Transactions that move money between accounts in two collections, and keep a book
//! of it in a third: all of a transfer is there, or nothing.

use super::{DATABASE, session};
use crate::connection::{Answer, Connection};
use crate::load::Worker;
use bson::{Document, doc};
use rand::Rng;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, BTreeSet};

const BOOK: &str = "transfers";
const SIDES: [&str; 2] = ["accounts_east", "accounts_west"];
/// Few, so that transactions meet.
const ACCOUNTS: i64 = 4;
const BALANCE: i64 = 1_000;

pub struct Transfers {
    worker: i64,
    session: Document,
    number: i64,
    acknowledged: BTreeSet<i64>,
    pending: Option<i64>,
}

/// Why a transfer did not come about.
enum Stop {
    /// The server went away meanwhile.
    Gone,
    /// Another transaction was in the way.
    Conflict,
}

impl Transfers {
    pub fn new(worker: i64) -> Transfers {
        Transfers {
            worker,
            session: session(),
            number: 0,
            acknowledged: BTreeSet::new(),
            pending: None,
        }
    }

    /// Runs a statement of the transaction.
    fn statement(
        &self,
        connection: &mut Connection,
        database: &str,
        mut command: Document,
    ) -> Result<(), Stop> {
        command.extend(doc! {
            "lsid": self.session.clone(),
            "txnNumber": self.number,
            "autocommit": false,
        });
        let reply = connection.send(database, command).map_err(|_| Stop::Gone)?;
        let labels = reply.get_array("errorLabels").cloned().unwrap_or_default();
        if labels.iter().any(|label| label.as_str() == Some("TransientTransactionError")) {
            return Err(Stop::Conflict);
        }
        let done = reply.get_f64("ok").is_ok_and(|ok| ok == 1.0);
        assert!(done && !reply.contains_key("writeErrors"), "{reply}");
        Ok(())
    }

    fn transfer(&mut self, connection: &mut Connection, random: &mut StdRng) -> Result<(), Stop> {
        self.number += 1;
        let id = self.worker << 32 | self.number;
        self.pending = Some(id);
        let amount = random.random_range(1..20_i64);
        let [from, to] = [0; 2].map(|_| random.random_range(0..ACCOUNTS));
        let side = random.random_range(0..2);
        let entry = doc! {
            "_id": id, "worker": self.worker, "amount": amount, "side": side as i64,
            "from": from, "to": to,
        };
        let insert = doc! { "insert": BOOK, "documents": [entry], "startTransaction": true };
        self.statement(connection, DATABASE, insert)?;
        for (side, account, amount) in [(side, from, -amount), (1 - side, to, amount)] {
            let add = doc! { "q": { "_id": account }, "u": { "$inc": { "balance": amount } } };
            let update = doc! { "update": SIDES[side], "updates": [add] };
            self.statement(connection, DATABASE, update)?;
        }
        self.statement(connection, "admin", doc! { "commitTransaction": 1 })?;
        self.acknowledged.insert(id);
        Ok(())
    }
}

impl Worker for Transfers {
    fn name(&self) -> &'static str {
        "transfers"
    }

    fn prepare(&mut self, connection: &mut Connection) {
        for side in SIDES {
            let account = |id: i64| {
                let new = doc! { "$setOnInsert": { "balance": BALANCE } };
                doc! { "q": { "_id": id }, "u": new, "upsert": true }
            };
            let updates: Vec<_> = (0..ACCOUNTS).map(account).collect();
            connection.run(DATABASE, doc! { "update": side, "updates": updates }).unwrap();
        }
        // Another worker may have made it.
        connection.send(DATABASE, doc! { "create": BOOK }).unwrap();
    }

    fn step(&mut self, connection: &mut Connection, random: &mut StdRng) -> Answer<()> {
        match self.transfer(connection, random) {
            Ok(()) => {}
            Err(Stop::Gone) => return Err(crate::connection::Gone),
            // The transaction has been given up already.
            Err(Stop::Conflict) => {}
        }
        self.pending = None;
        Ok(())
    }

    fn check(&mut self, connection: &mut Connection) {
        let book = connection.all(DATABASE, BOOK);
        let mut balances: BTreeMap<(usize, i64), i64> = BTreeMap::new();
        let mut mine = BTreeSet::new();
        for entry in &book {
            let number = |name| entry.get_i64(name).unwrap();
            let (side, amount) = (number("side") as usize, number("amount"));
            *balances.entry((side, number("from"))).or_default() -= amount;
            *balances.entry((1 - side, number("to"))).or_default() += amount;
            if number("worker") == self.worker {
                mine.insert(number("_id"));
            }
        }
        if let Some(pending) = self.pending.take()
            && mine.contains(&pending)
        {
            self.acknowledged.insert(pending);
        }
        assert_eq!(mine, self.acknowledged, "transfers of worker {}", self.worker);
        for (side, collection) in SIDES.iter().enumerate() {
            for account in connection.all(DATABASE, collection) {
                let moved = balances.get(&(side, account.get_i64("_id").unwrap()));
                let balance = BALANCE + moved.copied().unwrap_or(0);
                assert_eq!(account.get_i64("balance").unwrap(), balance, "half a transfer");
            }
        }
    }
}
