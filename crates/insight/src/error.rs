//! Why there is no report, in one sentence that says what to do.

use std::fmt;
use std::path::PathBuf;

#[derive(Debug)]
pub enum Error {
    /// The server could not be reached or let nobody in.
    Client(jobs::Error),
    /// A file could not be read.
    File(PathBuf, std::io::Error),
    /// Wrong use.
    Use(String),
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Client(error) => write!(f, "{error}"),
            Error::File(path, error) => {
                write!(f, "{}: {error}; check its name and who may read it", path.display())
            }
            Error::Use(message) => f.write_str(message),
        }
    }
}

impl From<jobs::Error> for Error {
    fn from(error: jobs::Error) -> Error {
        Error::Client(error)
    }
}
