//! The real binary, killed with SIGKILL under load again and again, on one store; and
//! what it does on small disks and damaged stores.
//!
//! Each worker writes its share and keeps a ledger of what was acknowledged. After
//! each restart all of it must be there; the one operation a worker had under way may
//! or may not have happened, but not by half. `docs/durability.md` says how to run
//! this for an hour.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod check;
mod connection;
mod disk;
mod growth;
mod ledger;
mod load;
mod pushes;
mod recount;
mod start;
mod stop;
mod undo;
mod workers;

use freeboard_tests::process::Binary;
use load::Load;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};

const FREEBOARD: Binary = Binary(env!("CARGO_BIN_EXE_freeboard"));
/// Kills of the ordinary run.
const KILLS: u32 = 20;
/// Runs for so many seconds instead.
const SECONDS_VARIABLE: &str = "FREEBOARD_CRASH_SECONDS";
/// Makes the same choices again; the timing is the machine's.
const SEED_VARIABLE: &str = "FREEBOARD_CRASH_SEED";
/// The machine that tests may have little room.
const RESERVE: &[&str] = &["--reserve", "0"];
/// The longest that load runs before a kill.
const LOAD_MAX: Duration = Duration::from_millis(700);

#[test]
fn acknowledged_writes_survive_sigkill() {
    let seed = number(SEED_VARIABLE).unwrap_or_else(|| rand::rng().random());
    eprintln!("{SEED_VARIABLE}={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let until =
        number(SECONDS_VARIABLE).map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let data = tempfile::tempdir().unwrap();

    let mut server = FREEBOARD.start(data.path(), RESERVE);
    let mut load = Load::new(workers::all(), seed);
    load.prepare(&server);
    let mut kills = 0;
    while until.map_or(kills < KILLS, |until| Instant::now() < until) {
        load.run(&server, random.random_range(Duration::ZERO..LOAD_MAX), || server.kill());
        server.wait();
        kills += 1;
        // Some crashes fall into the recovery from the one before.
        while random.random_bool(0.2) {
            FREEBOARD
                .spawn(data.path(), RESERVE)
                .kill_after(random.random_range(Duration::ZERO..Duration::from_millis(200)));
            kills += 1;
        }
        server = FREEBOARD.start(data.path(), RESERVE);
        load.check(&server);
        check::everything(&server);
    }
    load.assert_everyone_wrote();
    server.stop();
    let server = FREEBOARD.start(data.path(), RESERVE);
    load.check(&server);
    check::everything(&server);
    server.stop();
    eprintln!("{kills} kills; acknowledged: {}", load.figures());
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}
