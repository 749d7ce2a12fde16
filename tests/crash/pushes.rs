//! Many clients push to one document whose array overflows, while the server is killed
//! again and again. Each sends what it had under way once more, with the same session and
//! number: every element is there once, in the order in which its client pushed it.

use crate::connection::{Answer, Connection};
use crate::workers::session;
use crate::{FREEBOARD, RESERVE, check, number};
use bson::{Bson, Document, doc};
use freeboard_tests::process::Process;
use rand::Rng;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: usize = 64;
const ELEMENTS: usize = 100_000;
/// Pushes so many elements instead.
const ELEMENTS_VARIABLE: &str = "FREEBOARD_PUSH_ELEMENTS";
const KILLS: usize = 4;
/// The most elements of one push.
const BATCH_MAX: i32 = 7;

const DATABASE: &str = "pushes";
const COLLECTION: &str = "documents";
const PAGES: &str = "pages";
const HEAD_MAX: usize = 40;
const PAGE_MAX: usize = 120;
/// Now this and now the number of elements is what fills a page.
const PAGE_BYTES_MAX: usize = 4 * 1024;
/// A load that does nothing for so long hangs.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn a_hundred_thousand_pushes_to_one_document_survive_sigkill() {
    let elements = number(ELEMENTS_VARIABLE).map_or(ELEMENTS, |elements| elements as usize);
    push_through_kills("oldest", elements);
}

#[test]
fn pushes_to_a_head_of_the_newest_survive_sigkill() {
    let elements = number(ELEMENTS_VARIABLE).map_or(ELEMENTS, |elements| elements as usize);
    push_through_kills("newest", elements / 10);
}

fn push_through_kills(keep: &str, elements: usize) {
    let data = tempfile::tempdir().unwrap();
    let mut server = FREEBOARD.start(data.path(), RESERVE);
    prepare(&mut Connection::to(&server), keep);
    let mut load = Load::new(elements);
    for kill in 1..=KILLS {
        let part = elements / (KILLS + 1);
        let at = part * (kill - 1) + rand::rng().random_range(part / 2..=part);
        load.run(&server, Some(at));
        server.wait();
        server = FREEBOARD.start(data.path(), RESERVE);
        load.check(&server, keep);
    }
    load.run(&server, None);
    assert_eq!(load.acknowledged(), elements);
    server.stop();
    let server = FREEBOARD.start(data.path(), RESERVE);
    load.check(&server, keep);
    server.stop();
}

fn prepare(connection: &mut Connection, keep: &str) {
    let overflow = doc! {
        "into": PAGES,
        "page": PAGE_MAX as i32,
        "page_bytes": PAGE_BYTES_MAX as i32,
        "keep": keep,
        "read": "head",
        "count": "logCount",
        "flag": "logHasOverflow",
        "pages": "logOverflowPages",
    };
    let rule = doc! { "max": HEAD_MAX as i32, "on_limit": "overflow", "overflow": overflow };
    let policy = doc! { "arrays": { "log": rule } };
    connection.run(DATABASE, doc! { "setGrowthPolicy": COLLECTION, "policy": policy }).unwrap();
    let document = doc! { "_id": 1, "log": [] };
    connection.run(DATABASE, doc! { "insert": COLLECTION, "documents": [document] }).unwrap();
}

struct Load {
    clients: Vec<Client>,
    acknowledged: AtomicUsize,
}

/// A client, and what it knows to have pushed.
struct Client {
    name: i32,
    session: Document,
    /// The elements it is to push, and those that were acknowledged.
    share: i32,
    acknowledged: i32,
    /// The pushes that were acknowledged.
    pushes: i64,
    /// The elements that were under way when the server went.
    pending: i32,
}

impl Load {
    fn new(elements: usize) -> Load {
        let client = |name: usize| Client {
            name: name as i32,
            session: session(),
            share: (elements * (name + 1) / CLIENTS - elements * name / CLIENTS) as i32,
            acknowledged: 0,
            pushes: 0,
            pending: 0,
        };
        Load { clients: (0..CLIENTS).map(client).collect(), acknowledged: AtomicUsize::new(0) }
    }

    fn acknowledged(&self) -> usize {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// Runs until so many were acknowledged and kills the server then; or to the end.
    fn run(&mut self, server: &Process, kill_at: Option<usize>) {
        let Load { clients, acknowledged } = self;
        let acknowledged = &*acknowledged;
        std::thread::scope(|scope| {
            for client in clients {
                let mut connection = Connection::to(server);
                scope.spawn(move || {
                    while client.acknowledged < client.share {
                        let Ok(pushed) = client.push(&mut connection) else {
                            assert!(kill_at.is_some(), "the server went away by itself");
                            return;
                        };
                        acknowledged.fetch_add(pushed as usize, Ordering::Relaxed);
                    }
                });
            }
            let Some(kill_at) = kill_at else { return };
            let (mut last, mut since) = (0, Instant::now());
            while last < kill_at {
                std::thread::sleep(Duration::from_millis(1));
                let now = acknowledged.load(Ordering::Relaxed);
                if now != last {
                    (last, since) = (now, Instant::now());
                }
                assert!(since.elapsed() < PATIENCE, "the load hangs at {last}");
            }
            server.kill();
        });
    }

    /// Everything acknowledged is there once and in order, counters and bounds are kept.
    fn check(&self, server: &Process, keep: &str) {
        check::everything(server);
        let mut connection = Connection::to(server);
        let document = connection.all(DATABASE, COLLECTION).pop().unwrap();
        let mut pages = connection.all(DATABASE, PAGES);
        pages.sort_by_key(|page| page.get_i32("page").unwrap());
        let head = document.get_array("log").unwrap();
        assert!(head.len() <= HEAD_MAX, "{} in the head", head.len());
        let paged = pages.iter().flat_map(|page| page.get_array("log").unwrap());
        let all: Vec<&Bson> = match keep {
            "oldest" => head.iter().chain(paged).collect(),
            _ => paged.chain(head).collect(),
        };
        pages.iter().for_each(check_page);
        let numbers = pages.windows(2).map(|two| (&two[0], &two[1]));
        for (one, next) in numbers {
            assert!(one.get_i32("page").unwrap() < next.get_i32("page").unwrap());
        }
        assert_eq!(document.get_i32("logCount").unwrap() as usize, all.len());
        assert_eq!(document.get_bool("logHasOverflow").unwrap_or(false), !pages.is_empty());
        let counted = document.get_i32("logOverflowPages").unwrap_or(0) as usize;
        assert_eq!(counted, pages.len());
        self.check_elements(&all);
    }

    fn check_elements(&self, all: &[&Bson]) {
        let mut found = [0; CLIENTS];
        for element in all {
            let element = element.as_document().unwrap();
            let (client, at) = (element.get_i32("c").unwrap(), element.get_i32("n").unwrap());
            let next = &mut found[client as usize];
            assert_eq!(at, *next, "of client {client}: lost, twice or out of order");
            *next += 1;
        }
        for (client, found) in self.clients.iter().zip(found) {
            let least = client.acknowledged;
            let sound = found == least || found == least + client.pending;
            assert!(sound, "of client {}: {found} instead of {least}", client.name);
        }
    }
}

fn check_page(page: &Document) {
    let items = page.get_array("log").unwrap().len();
    assert_eq!(page.get_i32("count").unwrap() as usize, items);
    assert!((1..=PAGE_MAX).contains(&items), "{items} on a page");
    let bytes = page.to_vec().unwrap().len();
    assert!(bytes <= PAGE_BYTES_MAX, "{bytes} bytes on a page");
}

impl Client {
    /// Pushes the next elements, or the last ones once more if nobody answered, and gives
    /// back how many.
    fn push(&mut self, connection: &mut Connection) -> Answer<i32> {
        let count = (1 + self.pushes as i32 % BATCH_MAX).min(self.share - self.acknowledged);
        let element = |n: i32| {
            // Some are long, so that pages are full by bytes, too.
            doc! { "c": self.name, "n": n, "text": "x".repeat(n as usize % 16 * 8) }
        };
        let first = self.acknowledged;
        let value = match count {
            1 => element(first),
            _ => doc! { "$each": (first..first + count).map(element).collect::<Vec<_>>() },
        };
        let update = doc! { "q": { "_id": 1 }, "u": { "$push": { "log": value } } };
        // Every other client waits until it is synced; what is with the operating system
        // survives the process as well.
        let command = doc! {
            "update": COLLECTION,
            "updates": [update],
            "writeConcern": { "w": 1, "j": self.name % 2 == 0 },
            "lsid": self.session.clone(),
            "txnNumber": self.pushes + 1,
        };
        self.pending = count;
        let reply = connection.run(DATABASE, command)?;
        assert_eq!(reply.get_i32("nModified").unwrap(), 1, "{reply}");
        self.pending = 0;
        self.pushes += 1;
        self.acknowledged += count;
        Ok(count)
    }
}
