//! Whether what takes long ends when its time is up.

use bson::{RawDocumentBuf, cstr};
use freeboard_tests::connection::Connection;
use freeboard_tests::cost::{self, Growth};
use freeboard_tests::served;
use std::time::{Duration, Instant};

const TIME_LIMIT_MS: i32 = 100;

/// How long a command may go on after its limit, on a machine that does other things, too.
const DELAY_MAX: Duration = Duration::from_secs(2);

/// How much larger than for comparison the requests are.
const TIMES: usize = 20;

/// Checks the rows that are products, and reports all that fail.
pub fn check() {
    let _alone = crate::alone();
    let address = served::address().expect("a server");
    let mut connection = Connection::open(address).expect("a connection");
    let mut failed = Vec::new();
    for row in cost::rows().filter(|row| row.growth == Growth::Product) {
        let case = row.case((TIMES * row.size).min(row.largest));
        for command in &case.setup {
            connection.command(command).expect("a reply");
        }
        let begun = Instant::now();
        let reply = connection.command(&limited(&case.command)).expect("a reply");
        let took = begun.elapsed();
        println!("{:60} {took:?} {reply:.200?}", row.name);
        let code = reply.get_i32("code").unwrap_or_default();
        let is_ended = code == 50 || reply.get_f64("ok").unwrap_or_default() == 1.0;
        if !is_ended || took > DELAY_MAX {
            failed.push(format!("{}: {took:?} {reply:?}", row.name));
        }
    }
    assert!(failed.is_empty(), "these do not end in time:\n{}", failed.join("\n"));
}

fn limited(command: &RawDocumentBuf) -> RawDocumentBuf {
    let mut limited = command.clone();
    limited.append(cstr!("maxTimeMS"), TIME_LIMIT_MS);
    limited
}
