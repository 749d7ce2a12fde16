//! Why the trees could not be opened.

use std::fmt;

#[derive(Debug)]
pub enum Fault {
    /// The files are not as they were written.
    Damage(String),
    Io(std::io::Error),
    Engine(fjall::Error),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Damage(what) => f.write_str(what),
            Fault::Io(error) => error.fmt(f),
            Fault::Engine(error) => error.fmt(f),
        }
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Fault {
        Fault::Io(error)
    }
}

impl From<fjall::Error> for Fault {
    fn from(error: fjall::Error) -> Fault {
        match error {
            fjall::Error::Io(error) => Fault::Io(error),
            error => Fault::Engine(error),
        }
    }
}
