//! The binary in a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub struct Process {
    child: Child,
    pub address: String,
    pub http: String,
    /// Reads the log as it is written: a full pipe would stop the server.
    log: Option<JoinHandle<String>>,
    _data: TempDir,
}

impl Process {
    /// Starts the server and waits until it is ready.
    pub fn start() -> Process {
        Process::start_with(&[])
    }

    pub fn start_with(arguments: &[&str]) -> Process {
        let data = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_freeboard"))
            .args(["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"])
            .arg(data.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").expect("a ready line").to_owned();
        let (sender, http) = mpsc::channel();
        let mut pipe = BufReader::new(child.stderr.take().unwrap());
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            while pipe.read_line(&mut log).unwrap() > 0 {
                if let Some((_, rest)) = log.split_once("serving HTTP on ")
                    && let Some((address, _)) = rest.split_once('"')
                {
                    sender.send(address.to_owned()).unwrap();
                    break;
                }
            }
            pipe.read_to_string(&mut log).unwrap();
            log
        });
        let http = http.recv().expect("an HTTP address");
        Process { child, address, http, log: Some(log), _data: data }
    }

    /// What the server has computed so far.
    pub fn cpu_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // Behind the name, which may hold anything: user and system time are the 12th and 13th.
        let fields = stat.rsplit_once(')').unwrap().1.split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum();
        Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    }

    /// What the server has in memory.
    pub fn resident_bytes(&self) -> u64 {
        let statm = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).unwrap();
        let pages: u64 = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
        pages * rustix::param::page_size() as u64
    }

    /// Sends SIGTERM; the server must be gone in time, in good order. Gives its log.
    pub fn stop(mut self, within: Duration) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(started.elapsed() < within, "the server runs {within:?} after SIGTERM");
            std::thread::sleep(Duration::from_millis(10));
        };
        let log = self.log.take().unwrap().join().unwrap();
        assert_eq!(status.code(), Some(0), "{log}");
        log
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Of a failed test; after a stop there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
