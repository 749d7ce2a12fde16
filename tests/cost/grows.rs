//! Whether what a row costs grows faster than n log n.

use crate::clock;
use bson::{RawDocument, RawDocumentBuf};
use freeboard_tests::connection::Connection;
use freeboard_tests::cost::{Case, Growth, Row};
use freeboard_tests::served;
use std::time::Duration;

/// How much larger the second request is.
const TIMES: usize = 4;

/// How much more it may cost. n log n makes it about 5 times as much, n² 16 times; where a
/// quadratic part is as large as all else, 6.4 times.
const RATIO_MAX: f64 = 6.4;

/// How often each size is measured at first, and at most: the least counts.
const ROUNDS_MIN: usize = 1;
const ROUNDS_MAX: usize = 12;

/// What is so cheap at the larger size that nothing can be said of it.
const CHEAP: Duration = Duration::from_micros(1500);

/// How long the threads of the server take to come to rest.
const REST: Duration = Duration::from_millis(1);

/// What a server at rest takes of the processor in that time at most.
const QUIET: Duration = Duration::from_micros(100);

/// How often is looked whether what the setup left behind, such as a purge, has ended.
const RESTS_MAX: usize = 500;

/// Checks each row, and reports all that fail.
pub fn check(rows: &[Row]) {
    let _alone = crate::alone();
    let address = served::address().expect("a server");
    let mut connection = Connection::open(address).expect("a connection");
    let mut failed = Vec::new();
    for row in rows.iter().filter(|row| row.growth == Growth::Linear) {
        let (small, large) = compare(row, &mut connection);
        let ratio = ratio(small, large);
        println!("{:60} {small:>12.3?} {large:>12.3?} {ratio:6.2}", row.name);
        if exceeds(small, large) {
            failed.push(format!("{}: {small:?} and {large:?}, {ratio:.1} times", row.name));
        }
    }
    assert!(failed.is_empty(), "these grow faster than n log n:\n{}", failed.join("\n"));
}

/// The least that the row costs at its size, and at the larger one. Measured again while it
/// looks too much.
fn compare(row: &Row, connection: &mut Connection) -> (Duration, Duration) {
    let cases = [row.case(row.size), row.case(TIMES * row.size)];
    let mut least = [Duration::MAX; 2];
    for round in 0..ROUNDS_MAX {
        if round >= ROUNDS_MIN && !exceeds(least[0], least[1]) {
            break;
        }
        for (case, least) in cases.iter().zip(&mut least) {
            *least = measure(row, case, connection).min(*least);
        }
    }
    (least[0], least[1])
}

fn exceeds(small: Duration, large: Duration) -> bool {
    large > CHEAP && ratio(small, large) > RATIO_MAX
}

fn ratio(small: Duration, large: Duration) -> f64 {
    large.as_secs_f64() / small.as_secs_f64().max(1e-9)
}

fn measure(row: &Row, case: &Case, connection: &mut Connection) -> Duration {
    for command in &case.setup {
        let reply = send(row, command, connection);
        let ok = reply.get_f64("ok").unwrap_or_default();
        assert!(
            ok == 1.0 && reply.get("writeErrors").ok().flatten().is_none(),
            "{}: {reply:?}",
            row.name
        );
    }
    come_to_rest();
    let before = clock::used();
    let reply = send(row, &case.command, connection);
    std::thread::sleep(REST);
    let used = clock::used() - before;
    assert_eq!(refusal(&reply), row.refused, "{}: {reply:.300?}", row.name);
    used
}

/// Waits until nothing works in the background: what it takes would be counted, too.
fn come_to_rest() {
    for _ in 0..RESTS_MAX {
        let before = clock::used();
        std::thread::sleep(REST);
        if clock::used() - before < QUIET {
            break;
        }
    }
}

/// The code that a command was refused with, or its first write that failed.
fn refusal(reply: &RawDocumentBuf) -> Option<i32> {
    let code = |reply: &RawDocument| reply.get_i32("code").ok();
    let failed = reply.get_array("writeErrors").ok().and_then(|all| all.get_document(0).ok());
    code(reply).or(failed.and_then(code))
}

fn send(row: &Row, command: &RawDocumentBuf, connection: &mut Connection) -> RawDocumentBuf {
    let name = command.iter().flatten().next().map_or_else(String::new, |it| it.0.to_string());
    connection.command(command).unwrap_or_else(|error| panic!("{}: {name}: {error}", row.name))
}
