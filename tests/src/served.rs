//! One server for all tests of a process, on threads and a data directory of its own. With
//! `FREEBOARD_TEST_ADDRESS` the tests speak to another one instead: the binary, or a MongoDB to
//! compare with.

use std::net::SocketAddr;
use std::sync::OnceLock;

use server::Running;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::Result;

const ADDRESS_VARIABLE: &str = "FREEBOARD_TEST_ADDRESS";

/// Fields are dropped in this order.
pub struct Served {
    pub address: SocketAddr,
    _running: Option<Running>,
    _runtime: Option<Runtime>,
    _data: Option<TempDir>,
}

static SERVED: OnceLock<std::result::Result<Served, String>> = OnceLock::new();

/// Where the server of this process is. The first call starts it.
pub fn address() -> Result<SocketAddr> {
    match SERVED.get_or_init(|| start().map_err(|error| error.to_string())) {
        Ok(served) => Ok(served.address),
        Err(error) => Err(format!("the server did not start: {error}").into()),
    }
}

fn start() -> Result<Served> {
    if let Ok(address) = std::env::var(ADDRESS_VARIABLE) {
        let address = address.parse()?;
        return Ok(Served { address, _running: None, _runtime: None, _data: None });
    }
    own(|_| {})
}

/// A server of its own, with other options.
pub fn own(change: impl FnOnce(&mut server::Options)) -> Result<Served> {
    let data = TempDir::with_prefix("freeboard-tests-")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // On a thread of its own: a test may be on a runtime's thread already.
    let mut options = embedded::Options::local(data.path());
    change(&mut options.server);
    let starting = std::thread::scope(|scope| {
        scope.spawn(|| runtime.block_on(embedded::start(options))).join()
    });
    let running = starting.map_err(|_| "starting the server panicked")??;
    Ok(Served {
        address: running.address,
        _running: Some(running),
        _runtime: Some(runtime),
        _data: Some(data),
    })
}
