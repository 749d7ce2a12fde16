//! Failures of the storage engine as the rest of the store knows them.

use crate::storage::trees::{Damage, Failure, Full};
use fjall::LsmError;
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

    /// A failure to write. Once the storage engine has failed it does not say why.
    pub fn writing(&self, error: fjall::Error, is_full: impl FnOnce() -> bool) -> Failure {
        match &error {
            fjall::Error::Io(io) | fjall::Error::Storage(LsmError::Io(io))
                if matches!(io.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) =>
            {
                Full.into()
            }
            fjall::Error::Poisoned if is_full() => Full.into(),
            fjall::Error::Poisoned => {
                "the storage engine has failed before; the log tells why".into()
            }
            _ => error.into(),
        }
    }
}
