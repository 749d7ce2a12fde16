//! Why there is no report, in one sentence that says what to do.

use mongodb::error::{Error as DriverError, ErrorKind};
use std::fmt;
use std::path::PathBuf;

#[derive(Debug)]
pub enum Error {
    /// The URI is none.
    Uri(DriverError),
    /// The server could not be reached or let nobody in.
    Client(DriverError),
    /// A file could not be read.
    File(PathBuf, std::io::Error),
    /// Wrong use.
    Use(String),
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Uri(error) => {
                write!(f, "this is no URI of a server, such as mongodb://host:27017: ")?;
                f.write_str(&explain(error))
            }
            Error::Client(error) => f.write_str(&explain(error)),
            Error::File(path, error) => write!(f, "{}: {error}", path.display()),
            Error::Use(message) => f.write_str(message),
        }
    }
}

/// What the driver says, without its own names for things.
pub fn explain(error: &DriverError) -> String {
    match &*error.kind {
        ErrorKind::Authentication { message, .. } => {
            format!("the server refused the user name or password of the URI: {message}")
        }
        ErrorKind::Command(error) => {
            format!("the server answered {} ({}): {}", error.code, error.code_name, error.message)
        }
        ErrorKind::ServerSelection { message, .. } => {
            format!("no server answers; check the address and that one is running ({message})")
        }
        ErrorKind::InvalidArgument { message, .. } => message.clone(),
        ErrorKind::Io(error) => format!("the connection was lost: {error}"),
        _ => error.to_string(),
    }
}
