//! Whose a cursor is.

use crate::storage::SessionId;
use error::{Code, Error, Result};

/// The session and the transaction that a cursor was opened in: only there may it
/// be read on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Owner {
    pub session: Option<SessionId>,
    pub transaction: Option<i64>,
}

impl Owner {
    /// Whether another command, of this session and transaction, may go on with the
    /// cursor.
    pub fn check(&self, cursor: i64, by: Owner) -> Result<()> {
        let refused = |code: i32, why: String| -> Error {
            Code::location(code).error(format!("Cannot run getMore on cursor {cursor}, {why}"))
        };
        let shown = bson::Uuid::from_bytes;
        match (self.session.map(shown), by.session.map(shown)) {
            (None, Some(by)) => {
                return Err(refused(
                    50736,
                    format!("which was not created in a session, in session {by}"),
                ));
            }
            (Some(own), None) => {
                return Err(refused(
                    50737,
                    format!("which was created in session {own}, without an lsid"),
                ));
            }
            (Some(own), Some(by)) if own != by => {
                return Err(refused(
                    50738,
                    format!("which was created in session {own}, in session {by}"),
                ));
            }
            _ => {}
        }
        match (self.transaction, by.transaction) {
            (None, Some(by)) => Err(refused(
                50739,
                format!("which was not created in a transaction, in transaction {by}"),
            )),
            (Some(own), None) => Err(refused(
                50740,
                format!("which was created in transaction {own}, without a txnNumber"),
            )),
            (Some(own), Some(by)) if own != by => Err(refused(
                50741,
                format!("which was created in transaction {own}, in transaction {by}"),
            )),
            _ => Ok(()),
        }
    }
}
