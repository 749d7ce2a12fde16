//! Random transactions of many clients at once, checked against snapshot isolation.
//!
//! Every write of a transaction appends the transaction's mark to a document's log, so
//! the final log of a document is the order of all that was committed to it. From that
//! and from what each transaction saw, the checks follow.

use std::collections::{BTreeMap, BTreeSet};

use bson::{Bson, Document, doc};
use futures::TryStreamExt as _;
use mongodb::{Client, ClientSession, Collection};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use crate::concurrent::{Result, database, together, valid};

const CLIENTS: u64 = 8;
const TRANSACTIONS: usize = 25;
const KEYS: i32 = 5;

type Log = Vec<String>;

/// What a client did in one transaction, and what it saw.
#[derive(Debug, Default, Clone)]
struct Story {
    mark: String,
    committed: bool,
    /// Each look at a document, without the transaction's own marks.
    seen: Vec<(i32, Log)>,
    wrote: BTreeSet<i32>,
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_are_isolated() -> Result<()> {
    let database = database("isolation").await?;
    let c: Collection<Document> = database.collection("c");
    for key in 0..KEYS {
        c.insert_one(doc! { "_id": key, "log": [] }).await?;
    }
    let (client, shared) = (database.client().clone(), c.clone());
    let stories = together(CLIENTS, move |number| {
        let (client, c) = (client.clone(), shared.clone());
        async move { live(&client, &c, number).await }
    })
    .await?;
    let stories: Vec<Story> = stories.into_iter().flatten().collect();
    let mut logs = BTreeMap::new();
    for key in 0..KEYS {
        let document = c.find_one(doc! { "_id": key }).await?.ok_or("a document is gone")?;
        logs.insert(key, log(&document)?);
    }
    check(&stories, &logs)?;
    valid(&database, "c").await
}

/// One client's transactions, and now and then a plain write between them.
async fn live(client: &Client, c: &Collection<Document>, number: u64) -> Result<Vec<Story>> {
    let mut random = StdRng::seed_from_u64(number);
    let mut session = client.start_session().await?;
    let mut stories = Vec::new();
    for turn in 0..TRANSACTIONS {
        let mark = format!("{number}-{turn}");
        let mut story = Story { mark, ..Story::default() };
        if random.random_range(0..5) == 0 {
            let key = random.random_range(0..KEYS);
            let push = doc! { "$push": { "log": &story.mark } };
            c.update_one(doc! { "_id": key }, push).await?;
            story.wrote.insert(key);
            story.committed = true;
        } else {
            session.start_transaction().await?;
            match attempt(c, &mut session, &mut random, &mut story).await {
                Ok(()) if random.random_range(0..5) > 0 => {
                    story.committed = session.commit_transaction().await.map(|()| true)?;
                }
                Ok(()) => session.abort_transaction().await?,
                Err(error) if is_conflict(&error) => session.abort_transaction().await?,
                Err(error) => return Err(error.into()),
            }
        }
        stories.push(story);
    }
    Ok(stories)
}

fn is_conflict(error: &mongodb::error::Error) -> bool {
    error.contains_label(mongodb::error::TRANSIENT_TRANSACTION_ERROR)
}

async fn attempt(
    c: &Collection<Document>,
    session: &mut ClientSession,
    random: &mut StdRng,
    story: &mut Story,
) -> mongodb::error::Result<()> {
    for _ in 0..random.random_range(2..7) {
        let key = random.random_range(0..KEYS);
        match random.random_range(0..4) {
            0 => {
                let mut cursor = c.find(doc! {}).session(&mut *session).await?;
                let documents: Vec<Document> = cursor.stream(session).try_collect().await?;
                for document in &documents {
                    story.look(document);
                }
            }
            1 | 2 => {
                let found = c.find_one(doc! { "_id": key }).session(&mut *session).await?;
                found.iter().for_each(|document| story.look(document));
            }
            _ => {
                let push = doc! { "$push": { "log": &story.mark } };
                c.update_one(doc! { "_id": key }, push).session(&mut *session).await?;
                story.wrote.insert(key);
            }
        }
    }
    Ok(())
}

impl Story {
    fn look(&mut self, document: &Document) {
        let (Ok(key), Ok(mut log)) = (document.get_i32("_id"), log(document)) else { return };
        log.retain(|mark| *mark != self.mark);
        self.seen.push((key, log));
    }

    /// What the transaction saw of each document; the same at each look.
    fn snapshot(&self) -> Result<BTreeMap<i32, &Log>> {
        let mut snapshot = BTreeMap::new();
        for (key, log) in &self.seen {
            if snapshot.insert(*key, log).is_some_and(|earlier| earlier != log) {
                return Err(format!("{} saw document {key} change: {self:?}", self.mark).into());
            }
        }
        Ok(snapshot)
    }
}

fn log(document: &Document) -> Result<Log> {
    let marks = document.get_array("log")?.iter();
    Ok(marks.filter_map(Bson::as_str).map(ToOwned::to_owned).collect())
}

fn check(stories: &[Story], logs: &BTreeMap<i32, Log>) -> Result<()> {
    let fail = |what: String| -> Result<()> { Err(what.into()) };
    // Everything committed is there, in each place; nothing else is.
    let mut expected: BTreeMap<i32, BTreeSet<&str>> = BTreeMap::new();
    for story in stories.iter().filter(|story| story.committed) {
        for key in &story.wrote {
            expected.entry(*key).or_default().insert(&story.mark);
        }
    }
    for (key, log) in logs {
        let there: BTreeSet<&str> = log.iter().map(String::as_str).collect();
        if there != expected.get(key).cloned().unwrap_or_default() {
            return fail(format!("document {key} holds {there:?}, not {expected:?}"));
        }
    }
    for story in stories {
        let snapshot = story.snapshot()?;
        for (key, seen) in &snapshot {
            // Only what was committed, in the order in which it was: a prefix.
            if !logs[key].starts_with(seen) {
                return fail(format!("{} saw {seen:?} in document {key}", story.mark));
            }
            // Nobody came between what it saw and what it wrote.
            let next = logs[key].get(seen.len());
            if story.committed && story.wrote.contains(key) && next != Some(&story.mark) {
                return fail(format!("{} overwrote {next:?} in document {key}", story.mark));
            }
        }
        // Another's commit is seen everywhere or nowhere.
        for other in stories.iter().filter(|other| other.committed && other.mark != story.mark) {
            let sees: BTreeSet<bool> = other
                .wrote
                .iter()
                .filter_map(|key| snapshot.get(key))
                .map(|seen| seen.contains(&other.mark))
                .collect();
            if sees.len() > 1 {
                return fail(format!("{} saw half of {}", story.mark, other.mark));
            }
        }
    }
    let transactions = stories.iter().filter(|story| story.committed && story.wrote.len() > 1);
    if transactions.count() == 0 {
        return fail("no transaction wrote to two documents".to_owned());
    }
    Ok(())
}

/// Histories that break the rules, each in one way: the checks must see it.
#[test]
fn broken_histories_are_found() {
    let story = |mark: &str, committed: bool, seen: &[(i32, &[&str])], wrote: &[i32]| Story {
        mark: mark.to_owned(),
        committed,
        seen: seen.iter().map(|(key, log)| (*key, marks(log))).collect(),
        wrote: wrote.iter().copied().collect(),
    };
    let logs =
        |first: &[&str], second: &[&str]| BTreeMap::from([(1, marks(first)), (2, marks(second))]);
    let both = story("a", true, &[], &[1, 2]);
    let found = |others: &[Story], logs: &BTreeMap<i32, Log>| {
        let stories: Vec<Story> = std::iter::once(&both).chain(others).cloned().collect();
        check(&stories, logs).err().map(|error| error.to_string())
    };
    let sound = story("b", true, &[(1, &["a"]), (2, &["a"])], &[1]);
    assert_eq!(found(&[sound], &logs(&["a", "b"], &["a"])), None);
    for (what, other, logs) in [
        ("lost", story("b", true, &[], &[1]), logs(&["a"], &["a"])),
        ("overwrote", story("b", true, &[(1, &[])], &[1]), logs(&["a", "b"], &["a"])),
        ("dirty", story("b", false, &[(1, &["c"])], &[]), logs(&["a"], &["a"])),
        ("undead", story("b", false, &[], &[1]), logs(&["a", "b"], &["a"])),
        ("half", story("b", true, &[(1, &["a"]), (2, &[])], &[]), logs(&["a"], &["a"])),
        ("unsteady", story("b", true, &[(1, &[]), (1, &["a"])], &[]), logs(&["a"], &["a"])),
    ] {
        assert!(found(&[other], &logs).is_some(), "{what} was not found");
    }
}

fn marks(log: &[&str]) -> Log {
    log.iter().map(|mark| (*mark).to_owned()).collect()
}
