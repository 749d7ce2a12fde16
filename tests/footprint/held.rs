//! What commands hold while they work is within the memory budget, or little.

use crate::{TURN, allocated};
use bson::{Bson, RawDocumentBuf, doc, rawdoc};
use budget::{Held, Kind};
use freeboard_tests::connection::{Connection, Manner};
use freeboard_tests::served::{self, Served};

const MEMORY_BYTES: u64 = 256 * 1024 * 1024;
const MEGABYTE: usize = 1024 * 1024;

fn serve() -> (Served, Connection) {
    let served =
        served::own(|options| options.memory_bytes = Some(MEMORY_BYTES)).expect("a server");
    let connection = Connection::open(served.address).expect("a connection");
    (served, connection)
}

fn raw(command: &bson::Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(command).expect("a command")
}

fn succeed(connection: &mut Connection, command: &bson::Document) {
    let reply = connection.command(&raw(command)).expect("a reply");
    assert!(matches!(reply.get_f64("ok"), Ok(1.0)), "{reply:?}");
}

/// What so many clients that send a command at once have the server allocate, and the codes of
/// their replies.
fn at_once(served: &Served, clients: usize, command: &RawDocumentBuf) -> (usize, Vec<i32>) {
    let (codes, taken) = allocated::most_during(|| {
        let send = |_| {
            let mut client = Connection::open(served.address).expect("a connection");
            client.send(command, Manner::default()).expect("a command");
            client
        };
        let clients: Vec<_> = (0..clients).map(send).collect();
        let code = |mut client: Connection| {
            let (_, reply) = client.receive().expect("a reply");
            reply.get_i32("code").unwrap_or_default()
        };
        clients.into_iter().map(code).collect()
    });
    (taken, codes)
}

/// Each array has 10 MB, and so has the document that it is joined to.
#[test]
fn joined_documents_are_in_the_budget() {
    let _turn = TURN.lock();
    let (served, mut connection) = serve();
    let document = |id| doc! { "_id": id, "t": "x".repeat(5_000) };
    for part in (0..2_000).map(document).collect::<Vec<_>>().chunks(500) {
        succeed(&mut connection, &doc! { "insert": "c", "documents": part, "$db": "d" });
    }
    let lookup = rawdoc! { "$lookup": { "from": "c", "pipeline": [], "as": "all" } };
    let facet = rawdoc! { "$facet": { "all": [{ "$match": {} }] } };
    for stage in [lookup, facet] {
        let pipeline = [stage, rawdoc! { "$unwind": "$all" }, rawdoc! { "$count": "n" }];
        let pipeline: bson::RawArrayBuf = pipeline.into_iter().collect();
        let command = rawdoc! {
            "aggregate": "c", "pipeline": pipeline, "cursor": {}, "maxTimeMS": 10_000, "$db": "d",
        };
        let (taken, codes) = at_once(&served, 24, &command);
        assert!(taken < 200 * MEGABYTE, "{taken} bytes were taken: {codes:?}");
        assert!(codes.contains(&146), "{codes:?}");
        assert!(codes.iter().any(|code| *code != 146), "{codes:?}");
    }
}

/// The document has 12 MB with its pages, and a filter looks at all of it.
#[test]
fn completed_documents_are_in_the_budget() {
    let _turn = TURN.lock();
    let (served, mut connection) = serve();
    let policy = doc! { "arrays": { "a": { "max": 1, "on_limit": "overflow" } } };
    succeed(&mut connection, &doc! { "setGrowthPolicy": "c", "policy": policy, "$db": "d" });
    let document = doc! { "_id": 1, "a": ["x"] };
    succeed(&mut connection, &doc! { "insert": "c", "documents": [document], "$db": "d" });
    for _ in 0..12 {
        let push = doc! { "q": { "_id": 1 }, "u": { "$push": { "a": "y".repeat(MEGABYTE) } } };
        succeed(&mut connection, &doc! { "update": "c", "updates": [push], "$db": "d" });
    }
    let count = rawdoc! { "count": "c", "query": { "a": { "$ne": "z" } }, "$db": "d" };
    // There is room for some of its pages, and then for all of them.
    let mut others = Held::new(Kind::Work);
    let most = (budget::process().limit_bytes() / 4 * 3) as usize;
    others.resize(most - 6 * MEGABYTE).expect("room");
    assert_eq!(at_once(&served, 1, &count).1, [146]);
    drop(others);
    assert_eq!(at_once(&served, 1, &count).1, [0]);
}

/// Few documents are put in order whose keys are long.
#[test]
fn keys_that_are_put_in_order_are_in_the_budget() {
    let _turn = TURN.lock();
    let (served, mut connection) = serve();
    let array = doc! { "max": 1, "on_limit": "overflow", "overflow": { "page": 1 } };
    let policy = doc! { "arrays": { "a": array } };
    let index = doc! { "key": { "a": 1 }, "name": "a" };
    succeed(&mut connection, &doc! { "setGrowthPolicy": "c", "policy": policy, "$db": "d" });
    succeed(&mut connection, &doc! { "createIndexes": "c", "indexes": [index], "$db": "d" });
    for id in 0..50 {
        let document = doc! { "_id": id, "a": [format!("{id:04}{}", "x".repeat(500_000)), 1, 2] };
        succeed(&mut connection, &doc! { "insert": "c", "documents": [document], "$db": "d" });
    }
    let find = rawdoc! {
        "find": "c", "filter": { "a": { "$gt": "" } }, "projection": { "_id": 1 },
        "batchSize": 1, "$db": "d",
    };
    let (taken, codes) = at_once(&served, 16, &find);
    assert!(taken < 150 * MEGABYTE, "{taken} bytes were taken: {codes:?}");
}

/// Cursors of a transaction share what it has written, and further writes copy nothing.
#[test]
fn cursors_of_a_transaction_take_little() {
    let _turn = TURN.lock();
    let (_served, mut connection) = serve();
    let number = bson::Binary { subtype: bson::spec::BinarySubtype::Uuid, bytes: vec![7; 16] };
    let within = |mut command: bson::Document, first: bool| {
        command.insert("lsid", doc! { "id": number.clone() });
        command.insert("txnNumber", Bson::Int64(1));
        command.insert("autocommit", false);
        if first {
            command.insert("startTransaction", true);
        }
        command.insert("$db", "d");
        command
    };
    succeed(&mut connection, &doc! { "create": "c", "$db": "d" });
    let documents: Vec<_> = (0..30_000).map(|id| doc! { "_id": id }).collect();
    succeed(&mut connection, &within(doc! { "insert": "c", "documents": documents }, true));
    let ((), taken) = allocated::most_during(|| {
        for id in 0..100 {
            let find = doc! { "find": "c", "batchSize": 1 };
            succeed(&mut connection, &within(find, false));
            let insert = doc! { "insert": "c", "documents": [{ "_id": format!("further {id}") }] };
            succeed(&mut connection, &within(insert, false));
        }
    });
    assert!(taken < 20 * MEGABYTE, "{taken} bytes were taken");
}
