//! The other client: it pings, reads one document and looks at `/healthz`, all the time.

use crate::frames::Client;
use bson::doc;
use freeboard_tests::process::Process;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(5);

pub struct Observer {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Slowest>>,
}

#[derive(Debug, Default, Clone, Copy)]
pub struct Slowest {
    pub what: &'static str,
    pub time: Duration,
}

impl Slowest {
    fn measure(&mut self, what: &'static str, work: impl FnOnce()) {
        let started = Instant::now();
        work();
        let time = started.elapsed();
        if time > self.time {
            *self = Slowest { what, time };
        }
    }
}

impl Observer {
    pub fn start(process: &Process) -> Observer {
        let stop = Arc::new(AtomicBool::new(false));
        let mut client = Client::connect(&process.address);
        let http = process.http.clone();
        let (talks, looks) = (stop.clone(), stop.clone());
        let threads = vec![
            thread::spawn(move || {
                observe(&talks, |slowest| {
                    slowest
                        .measure("a ping", || client.succeed(doc! { "ping": 1, "$db": "admin" }));
                    let find = doc! { "find": "calm", "filter": { "_id": 1 }, "$db": "watchdog" };
                    slowest.measure("a point read", || client.succeed(find));
                })
            }),
            thread::spawn(move || {
                observe(&looks, |slowest| slowest.measure("/healthz", || look(&http)))
            }),
        ];
        Observer { stop, threads }
    }

    pub fn stop(self) -> Slowest {
        self.stop.store(true, Ordering::Relaxed);
        let slowest = self.threads.into_iter().map(|thread| thread.join().unwrap());
        slowest.max_by_key(|slowest| slowest.time).unwrap()
    }
}

fn observe(stop: &AtomicBool, mut once: impl FnMut(&mut Slowest)) -> Slowest {
    let mut slowest = Slowest::default();
    while !stop.load(Ordering::Relaxed) {
        once(&mut slowest);
        thread::sleep(PAUSE);
    }
    slowest
}

fn look(http: &str) {
    let mut stream = TcpStream::connect(http).unwrap();
    stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
}
