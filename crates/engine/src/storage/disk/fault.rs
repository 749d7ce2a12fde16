//! Why the trees could not be opened.

use fjall::LsmError;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

#[derive(Debug)]
pub enum Fault {
    /// The files are not as they were written.
    Damage(String),
    Io(std::io::Error),
    Engine(fjall::Error),
}

impl Fault {
    pub fn missing(path: &Path) -> Fault {
        Fault::Damage(format!("{} is missing", path.display()))
    }
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

impl std::error::Error for Fault {}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Fault {
        Fault::Io(error)
    }
}

impl From<fjall::Error> for Fault {
    fn from(error: fjall::Error) -> Fault {
        use ErrorKind::{
            FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
        };
        match error {
            // These say nothing about what is stored.
            fjall::Error::Io(error) | fjall::Error::Storage(LsmError::Io(error))
                if matches!(
                    error.kind(),
                    FileTooLarge
                        | PermissionDenied
                        | QuotaExceeded
                        | ReadOnlyFilesystem
                        | StorageFull
                ) =>
            {
                Fault::Io(error)
            }
            error => Fault::Engine(error),
        }
    }
}
