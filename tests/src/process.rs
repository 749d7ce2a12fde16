//! The binary in a process of its own.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A server that takes longer than this to end hangs.
const END_MAX: Duration = Duration::from_secs(120);
const HTTP_LINE: &str = "serving HTTP on ";

/// Where the binary is, which only the tests of its own package know.
#[derive(Clone, Copy)]
pub struct Binary(pub &'static str);

impl Binary {
    pub fn command(self) -> Command {
        let mut command = Command::new(self.0);
        // Nothing of the surroundings sets a flag.
        for (variable, _) in std::env::vars_os() {
            if variable.as_encoded_bytes().starts_with(b"FREEBOARD_") {
                command.env_remove(variable);
            }
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a server and does not wait for it.
    pub fn spawn(self, data: &Path, arguments: &[&str]) -> Starting {
        let mut command = self.command();
        command.args(["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"]);
        Starting { child: command.arg(data).args(arguments).spawn().unwrap() }
    }

    /// Starts a server and waits until it is ready.
    pub fn start(self, data: &Path, arguments: &[&str]) -> Process {
        let Starting { mut child } = self.spawn(data, arguments);
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("listening on ") else {
            let output = child.wait_with_output().unwrap();
            let log = String::from_utf8_lossy(&output.stderr);
            panic!("the server did not start, {}:\n{log}", output.status);
        };
        let address = address.to_owned();
        let (sender, http) = mpsc::channel();
        let pipe = BufReader::new(child.stderr.take().unwrap());
        let log = std::thread::spawn(move || read_log(pipe, &sender));
        let http = http.recv().expect("an HTTP address");
        Process { child: Mutex::new(child), address, http, log: Some(log) }
    }
}

/// Reads a log as it is written, so that nothing of it is dropped, and sends the address for
/// HTTP.
fn read_log(mut pipe: impl BufRead, http: &mpsc::Sender<String>) -> String {
    let mut log = Vec::new();
    let mut begun = 0;
    while pipe.read_until(b'\n', &mut log).unwrap() > 0 {
        let line = String::from_utf8_lossy(&log[begun..]);
        if let Some((address, _)) =
            line.split_once(HTTP_LINE).and_then(|(_, rest)| rest.split_once('"'))
        {
            let _ = http.send(address.to_owned());
            break;
        }
        begun = log.len();
    }
    pipe.read_to_end(&mut log).unwrap();
    String::from_utf8_lossy(&log).into_owned()
}

/// A server that is ready. It is killed when it is dropped.
pub struct Process {
    child: Mutex<Child>,
    pub address: String,
    pub http: String,
    log: Option<JoinHandle<String>>,
}

impl Process {
    pub fn id(&self) -> u32 {
        self.child.lock().unwrap().id()
    }

    /// What the server has computed so far.
    pub fn cpu_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap();
        // Behind the name, which may hold anything: user and system time are the 12th and 13th.
        let fields = stat.rsplit_once(')').unwrap().1.split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum();
        Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    }

    /// What the server has in memory.
    pub fn resident_bytes(&self) -> u64 {
        let statm = std::fs::read_to_string(format!("/proc/{}/statm", self.id())).unwrap();
        let pages: u64 = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
        pages * rustix::param::page_size() as u64
    }

    pub fn kill(&self) {
        self.child.lock().unwrap().kill().unwrap();
    }

    /// Waits for the end of a killed server, and gives its log; it must not have ended
    /// by itself.
    pub fn wait(self) -> String {
        let (status, log) = self.end(END_MAX);
        assert_eq!(status.code(), None, "ended by itself, {status}:\n{log}");
        assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
        log
    }

    /// Waits for the end of a server that ends by itself; gives its exit code and log.
    pub fn ended(self) -> (Option<i32>, String) {
        let (status, log) = self.end(END_MAX);
        (status.code(), log)
    }

    /// Stops the server in good order, and gives its log.
    pub fn stop(self) -> String {
        self.stop_within(END_MAX)
    }

    /// Sends SIGTERM; the server must be gone in time, in good order. Gives its log.
    pub fn stop_within(self, time: Duration) -> String {
        let id = self.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
        let (status, log) = self.end(time);
        assert_eq!(status.code(), Some(0), "{log}");
        log
    }

    fn end(mut self, within: Duration) -> (ExitStatus, String) {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.lock().unwrap().try_wait().unwrap() {
                break status;
            }
            assert!(started.elapsed() < within, "the server runs for {within:?} and does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        (status, self.log.take().unwrap().join().unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Of a failed test; one that has ended is not killed.
        let child = self.child.get_mut().unwrap();
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// A server that may not be ready yet.
pub struct Starting {
    child: Child,
}

impl Starting {
    /// Waits for the end of a server that does not start.
    pub fn output(self) -> Output {
        self.child.wait_with_output().unwrap()
    }

    pub fn kill_after(mut self, time: Duration) {
        std::thread::sleep(time);
        self.child.kill().unwrap();
        let output = self.child.wait_with_output().unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), None, "ended by itself, {}:\n{log}", output.status);
    }
}
