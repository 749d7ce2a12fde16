//! `commitTransaction` and `abortTransaction`, which take the same fields.

use error::Result;

use crate::Request;
use crate::fields::Fields;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndTransaction;

impl EndTransaction {
    pub fn parse(request: &Request, name: &'static str) -> Result<EndTransaction> {
        let mut fields = Fields::of_command(request, name)?;
        while let Some(field) = fields.next()? {
            match field.name() {
                // What a mongos gives out, for another mongos to find the transaction by.
                "recoveryToken" => {
                    field.object()?;
                }
                _ => return Err(field.unknown()),
            }
        }
        Ok(EndTransaction)
    }
}
