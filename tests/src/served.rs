//! One server for all tests of a process, on threads and a data directory of its own.

use std::net::SocketAddr;

use crate::Result;

pub fn address() -> Result<SocketAddr> {
    Ok(std::env::var("FREEBOARD_TEST_ADDRESS")?.parse()?)
}
