//! The binary in a process of its own.

use crate::connection::Connection;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

pub struct Process {
    child: Mutex<Child>,
    address: String,
}

/// A server that may not be ready yet.
pub struct Starting {
    child: Child,
}

impl Process {
    /// Starts the server and waits until it is ready.
    pub fn start(data: &Path) -> Process {
        let Starting { mut child } = Process::spawn(data);
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("listening on ") else {
            let output = child.wait_with_output().unwrap();
            let log = String::from_utf8_lossy(&output.stderr);
            panic!("the server did not start, {}:\n{log}", output.status);
        };
        Process { address: address.to_owned(), child: Mutex::new(child) }
    }

    pub fn spawn(data: &Path) -> Starting {
        let mut command = Command::new(env!("CARGO_BIN_EXE_freeboard"));
        for variable in ["DATA", "LISTEN", "HTTP", "LOG"] {
            command.env_remove(format!("FREEBOARD_{variable}"));
        }
        let child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"])
            .arg(data)
            .env("FREEBOARD_LOG", "warn")
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

    /// Waits for the end of a killed server; it must not have ended by itself.
    pub fn wait(self) {
        let output = self.child.into_inner().unwrap().wait_with_output().unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), None, "ended by itself, {}:\n{log}", output.status);
        assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
    }

    /// Stops the server in good order.
    pub fn stop(self) {
        let child = self.child.into_inner().unwrap();
        let status = Command::new("kill").arg(child.id().to_string()).status();
        assert!(status.unwrap().success());
        let output = child.wait_with_output().unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{log}");
    }
}

impl Starting {
    pub fn kill_after(mut self, time: Duration) {
        std::thread::sleep(time);
        self.child.kill().unwrap();
        let output = self.child.wait_with_output().unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), None, "ended by itself, {}:\n{log}", output.status);
    }
}
