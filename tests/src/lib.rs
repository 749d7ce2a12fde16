//! What the tests of the whole share: a server in this process, a connection that speaks to it
//! in plain messages, a readable notation for BSON, and the runner of the golden scripts.

pub mod ask;
pub mod connection;
pub mod evaluation;
pub mod mask;
pub mod pipe;
pub mod print;
pub mod samples;
pub mod script;
pub mod served;
pub mod syntax;

/// Why a test could not go on, in words.
pub type Error = Box<dyn std::error::Error>;
pub type Result<T> = std::result::Result<T, Error>;
