//! Why a run could not start or go on.

use std::fmt;

#[derive(Debug)]
pub enum Error {
    /// The driver or the server behind it.
    Client(mongodb::error::Error),
    /// A server that is not there, or a URI that is none.
    Unreached(jobs::Error),
    Interrupted,
    /// The auditor, where it is what is measured.
    Audit(insight::Error),
    /// The server in this process.
    Own(String),
    /// A name that is no workload.
    NoWorkload(String),
    /// A name that is no pair of workloads.
    NoPair(String),
    /// A server that does not tell its CPU time, or shares a process with the clients.
    NoCpuTime,
    /// Nothing to measure.
    NoTarget,
    Io(std::io::Error),
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Client(error) => f.write_str(&jobs::explain(error)),
            Error::Unreached(error) => write!(f, "{error}"),
            Error::Interrupted => write!(f, "interrupted, and cleaned up; run it again"),
            Error::Audit(error) => write!(f, "{error}"),
            Error::Own(message) => write!(f, "the server of this run did not start: {message}"),
            Error::NoWorkload(name) => {
                write!(f, "there is no workload {name:?}; there are:")?;
                for workload in crate::workloads::WORKLOADS {
                    write!(f, " {}", workload.name)?;
                }
                Ok(())
            }
            Error::NoPair(name) => {
                write!(f, "there is no pair {name:?}; there are:")?;
                for pair in crate::growth::PAIRS {
                    write!(f, " {}", pair.name)?;
                }
                Ok(())
            }
            Error::NoCpuTime => {
                write!(f, "the server does not report the CPU time of its process")
            }
            Error::NoTarget => {
                write!(f, "no server to measure: give a --uri or leave out --no-own")
            }
            Error::Io(error) => write!(f, "{error}"),
        }
    }
}

impl From<mongodb::error::Error> for Error {
    fn from(error: mongodb::error::Error) -> Error {
        Error::Client(error)
    }
}

impl From<jobs::Error> for Error {
    fn from(error: jobs::Error) -> Error {
        Error::Unreached(error)
    }
}

impl From<insight::Error> for Error {
    fn from(error: insight::Error) -> Error {
        Error::Audit(error)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Io(error)
    }
}
