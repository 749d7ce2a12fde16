//! What must hold of every collection, whoever wrote it.

use crate::connection::Connection;
use crate::recount;
use bson::doc;
use freeboard_tests::process::Process;

/// Every index agrees with its collection, and every count and figure is exact.
pub fn everything(server: &Process) {
    each(server, |connection, database, collection| {
        recount::check(connection, database, collection);
    });
}

/// The same without the figures, where finds show more than documents hold.
pub fn indexes(server: &Process) {
    each(server, |_, _, _| {});
}

fn each(server: &Process, check: impl Fn(&mut Connection, &str, &str)) {
    let mut connection = Connection::to(server);
    let reply = connection.run("admin", doc! { "listDatabases": 1, "nameOnly": true }).unwrap();
    for database in reply.get_array("databases").unwrap() {
        let database = database.as_document().unwrap().get_str("name").unwrap();
        let list = doc! { "listCollections": 1, "filter": { "type": "collection" } };
        for collection in connection.names(database, list) {
            let validate = doc! { "validate": &collection, "full": true };
            let reply = connection.run(database, validate).unwrap();
            assert!(reply.get_bool("valid").unwrap(), "{reply}");
            let records = reply.get_i32("nrecords").unwrap();
            let count = connection.run(database, doc! { "count": &collection }).unwrap();
            assert_eq!(count.get_i32("n").unwrap(), records, "{database}.{collection}");
            check(&mut connection, database, &collection);
        }
    }
}
