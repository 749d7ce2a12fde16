//! Failures of the storage engine as the rest of the store knows them.

use crate::storage::trees::{Damage, Failure, Full};
use fjall::LsmError;
use rustix::io::Errno;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells damage from other failures, and logs the first that is met.
#[derive(Debug, Default)]
pub struct Alarm {
    rung: AtomicBool,
}

impl Alarm {
    /// A failure to read.
    pub fn reading(&self, error: fjall::Error) -> Failure {
        let what = match &error {
            fjall::Error::Io(io) | fjall::Error::Storage(LsmError::Io(io))
                if io.kind() != ErrorKind::UnexpectedEof =>
            {
                return error.into();
            }
            fjall::Error::Storage(LsmError::ChecksumMismatch { .. }) => {
                "what was read does not fit its checksum".to_owned()
            }
            error => error.to_string(),
        };
        if !self.rung.swap(true, Ordering::Relaxed) {
            tracing::error!(
                %error,
                "the store is damaged: commands that meet the damage fail; restore it from a backup"
            );
        }
        Damage(what).into()
    }

    /// A failure to write. Once the storage engine has failed it does not say why, so what is
    /// lacking now is the likely cause.
    pub fn writing(&self, error: fjall::Error, lacking: impl FnOnce() -> Option<Lack>) -> Failure {
        let lack = match &error {
            fjall::Error::Io(io) | fjall::Error::Storage(LsmError::Io(io)) => Lack::of(io),
            fjall::Error::Poisoned => lacking(),
            _ => None,
        };
        match (lack, &error) {
            (Some(Lack::Room), _) => Full.into(),
            (Some(Lack::Descriptors), _) => {
                "a file could not be opened: the server has no descriptors left, see ulimit -n"
                    .into()
            }
            (None, fjall::Error::Poisoned) => {
                "the storage engine has failed before; see the log for the cause".into()
            }
            (None, _) => error.into(),
        }
    }
}

/// What there is too little of to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    Room,
    Descriptors,
}

impl Lack {
    pub fn of(error: &std::io::Error) -> Option<Lack> {
        match (error.kind(), Errno::from_io_error(error)) {
            (ErrorKind::StorageFull | ErrorKind::QuotaExceeded, _) => Some(Lack::Room),
            (_, Some(Errno::MFILE | Errno::NFILE)) => Some(Lack::Descriptors),
            _ => None,
        }
    }
}
