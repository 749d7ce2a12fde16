//! A server in this process, on threads and a data directory of its own.

use server::{Running, Server};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::Error;

pub struct Own {
    uri: String,
    // In the order in which they must go: the server, its threads, its data.
    running: Running,
    runtime: Runtime,
    _data: TempDir,
}

impl Own {
    pub fn start() -> Result<Own, Error> {
        let data = TempDir::with_prefix("freeboard-bench-")?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_name("server")
            .enable_all()
            .build()?;
        let running = runtime
            .block_on(Server::start(server::Options::local(data.path())))
            .map_err(|error| Error::Own(error.to_string()))?;
        let uri = format!("mongodb://{}/", running.address);
        Ok(Own { uri, running, runtime, _data: data })
    }

    pub fn uri(&self) -> &str {
        &self.uri
    }

    pub fn stop(self) {
        self.runtime.block_on(self.running.stop());
    }
}
