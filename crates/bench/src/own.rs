//! The server that a run starts itself: in this process, or apart from it where its CPU time
//! is to be told from that of the clients.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use server::Running;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{Error, Options};

pub enum Own {
    Inside(Inside),
    Apart(Apart),
}

/// On threads and a data directory of its own.
pub struct Inside {
    uri: String,
    // In the order in which they must go: the server, its threads, its data.
    running: Running,
    runtime: Runtime,
    _data: TempDir,
}

/// The binary in a process of its own.
pub struct Apart {
    uri: String,
    child: Child,
    _data: TempDir,
}

impl Own {
    pub fn start(options: &Options) -> Result<Own, Error> {
        let data = TempDir::with_prefix("freeboard-bench-")?;
        match &options.program {
            Some(program) if options.growth => Apart::start(program, data).map(Own::Apart),
            _ => Inside::start(data).map(Own::Inside),
        }
    }

    pub fn uri(&self) -> &str {
        match self {
            Own::Inside(inside) => &inside.uri,
            Own::Apart(apart) => &apart.uri,
        }
    }

    pub fn is_apart(&self) -> bool {
        matches!(self, Own::Apart(_))
    }

    pub fn stop(self) {
        match self {
            Own::Inside(inside) => inside.runtime.block_on(inside.running.stop()),
            // Its data go, so it need not stop in good order.
            Own::Apart(apart) => drop(apart),
        }
    }
}

impl Inside {
    fn start(data: TempDir) -> Result<Inside, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_name("server")
            .enable_all()
            .build()?;
        let running = runtime
            .block_on(embedded::start(embedded::Options::local(data.path())))
            .map_err(|error| Error::Own(error.to_string()))?;
        let uri = format!("mongodb://{}/", running.address);
        Ok(Inside { uri, running, runtime, _data: data })
    }
}

impl Apart {
    fn start(program: &Path, data: TempDir) -> Result<Apart, Error> {
        let child = Command::new(program)
            .env("FREEBOARD_LOG", "warn")
            .args(["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"])
            .arg(data.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut apart = Apart { uri: String::new(), child, _data: data };
        let mut line = String::new();
        if let Some(output) = &mut apart.child.stdout {
            BufReader::new(output).read_line(&mut line)?;
        }
        let address = line.trim().strip_prefix("listening on ");
        let address =
            address.ok_or_else(|| Error::Own("it did not say where it listens".into()))?;
        apart.uri = format!("mongodb://{address}/");
        Ok(apart)
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
