//! What the tests of the whole share: a server in this process or in one of its own, a connection that speaks to it
//! in plain messages, a readable notation for BSON, the runner of the golden scripts, and requests
//! that can be made at any size.

pub mod ask;
pub mod connection;
pub mod cost;
pub mod evaluation;
pub mod mask;
pub mod pipe;
pub mod print;
pub mod process;
pub mod samples;
pub mod script;
pub mod served;
pub mod syntax;

/// Why a test could not go on, in words.
pub type Error = Box<dyn std::error::Error>;
pub type Result<T> = std::result::Result<T, Error>;
