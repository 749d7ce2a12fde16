//! Random frames and random commands, from a seed and for a bounded time: no panic, no stall,
//! memory within a bound. `FREEBOARD_FUZZ_SECONDS=3600` runs each for an hour, and
//! `FREEBOARD_FUZZ_SEED` makes the same choices again.

mod commands;
mod frames;
mod values;

use crate::frames::Frame;
use crate::observer::Observer;
use crate::{ALONE, FREEBOARD, STOP_MAX, rows};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SECONDS_VARIABLE: &str = "FREEBOARD_FUZZ_SECONDS";
const SEED_VARIABLE: &str = "FREEBOARD_FUZZ_SEED";
const SECONDS: u64 = 8;
/// No other client waits for longer.
const STALL_MAX: Duration = Duration::from_secs(1);
/// What the server may hold: its budget, and what does not count towards it.
const MEMORY: &str = "1GB";
const RESIDENT_BYTES_MAX: u64 = 2_000_000_000;
/// Connections that send at once.
const CLIENTS: u64 = 4;
/// How long a client waits for a reply; with nonsense there may be none.
const REPLY_WAIT: Duration = Duration::from_millis(20);

#[test]
fn random_frames_do_no_harm() {
    run(frames::make);
}

#[test]
fn random_commands_do_no_harm() {
    run(commands::make);
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

/// Sends what `make` makes until the time is over.
fn run(make: fn(&mut StdRng) -> Frame) {
    let _alone = ALONE.lock();
    let seed = variable(SEED_VARIABLE).unwrap_or_else(|| rand::rng().random());
    let end = Instant::now() + Duration::from_secs(variable(SECONDS_VARIABLE).unwrap_or(SECONDS));
    let data = tempfile::tempdir().unwrap();
    let process = FREEBOARD.start(data.path(), &["--memory", MEMORY]);
    rows::prepare(&process);
    let observer = Observer::start(&process);
    let sent = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (address, mut random) = (&process.address, StdRng::seed_from_u64(seed + number));
            let sent = &sent;
            scope.spawn(move || {
                while Instant::now() < end {
                    let frames = converse(address, &mut random, make);
                    sent.fetch_add(frames, Ordering::Relaxed);
                }
            });
        }
    });
    let slowest = observer.stop();
    let resident = process.resident_bytes();
    let log = process.stop_within(STOP_MAX);
    println!(
        "seed {seed}: {} frames sent; {} took {:?} at most; {resident} bytes are resident",
        sent.into_inner(),
        slowest.what,
        slowest.time,
    );
    let again = format!("{SEED_VARIABLE}={seed} makes the same choices again");
    assert!(!log.contains("panicked"), "{again}: {log}");
    assert!(slowest.time < STALL_MAX, "{again}: {} took {:?}", slowest.what, slowest.time);
    assert!(resident < RESIDENT_BYTES_MAX, "{again}: {resident} bytes are resident");
}

/// One connection, until the server closes it, which is its right, or it has said enough; how
/// many frames were sent.
fn converse(address: &str, random: &mut StdRng, make: fn(&mut StdRng) -> Frame) -> u64 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(REPLY_WAIT)).unwrap();
    stream.set_write_timeout(Some(REPLY_WAIT)).unwrap();
    let mut reply = vec![0; 64 * 1024];
    let frames = random.random_range(1..50);
    for sent in 0..frames {
        if stream.write_all(&make(random)).is_err() {
            return sent;
        }
        // What was not read in time is read with the next reply.
        if matches!(stream.read(&mut reply), Ok(0)) {
            return sent + 1;
        }
    }
    frames
}
