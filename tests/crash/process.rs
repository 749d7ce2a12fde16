//! The binary in a process of its own.

use crate::connection::Connection;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::Duration;

pub struct Process {
    child: Mutex<Child>,
    address: String,
    /// Reads the log as it is written: a full pipe would stop the server.
    log: JoinHandle<String>,
}

/// A server that may not be ready yet.
pub struct Starting {
    child: Child,
}

impl Process {
    /// Starts the server and waits until it is ready.
    pub fn start(data: &Path, arguments: &[&str]) -> Process {
        let Starting { mut child } = Process::spawn(data, arguments);
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("listening on ") else {
            let output = child.wait_with_output().unwrap();
            let log = String::from_utf8_lossy(&output.stderr);
            panic!("the server did not start, {}:\n{log}", output.status);
        };
        let address = address.to_owned();
        let mut pipe = child.stderr.take().unwrap();
        let log = std::thread::spawn(move || {
            let mut log = Vec::new();
            pipe.read_to_end(&mut log).unwrap();
            String::from_utf8_lossy(&log).into_owned()
        });
        Process { address, child: Mutex::new(child), log }
    }

    pub fn spawn(data: &Path, arguments: &[&str]) -> Starting {
        let mut command = Command::new(env!("CARGO_BIN_EXE_freeboard"));
        for variable in [
            "DATA",
            "LISTEN",
            "HTTP",
            "LOG",
            "RESERVE",
            "GROWTH_HORIZON",
            "BACKUPS",
            "REPLICA_SET",
            "ADVERTISE",
            "TEST_COMMANDS",
        ] {
            command.env_remove(format!("FREEBOARD_{variable}"));
        }
        let child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Starting { child }
    }

    pub fn connect(&self) -> Connection {
        Connection::open(&self.address)
    }

    pub fn kill(&self) {
        self.child.lock().unwrap().kill().unwrap();
    }

    /// Waits for the end of a killed server, and gives its log; it must not have ended
    /// by itself.
    pub fn wait(self) -> String {
        let (status, log) = self.end();
        assert_eq!(status.code(), None, "ended by itself, {status}:\n{log}");
        assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
        log
    }

    /// Waits for the end of a server that ends by itself; gives its exit code and log.
    pub fn ended(self) -> (Option<i32>, String) {
        let (status, log) = self.end();
        (status.code(), log)
    }

    /// Stops the server in good order, and gives its log.
    pub fn stop(self) -> String {
        let process = self.child.lock().unwrap().id().to_string();
        assert!(Command::new("kill").arg(process).status().unwrap().success());
        let (status, log) = self.end();
        assert_eq!(status.code(), Some(0), "{log}");
        log
    }

    fn end(self) -> (ExitStatus, String) {
        let status = self.child.into_inner().unwrap().wait().unwrap();
        (status, self.log.join().unwrap())
    }
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
