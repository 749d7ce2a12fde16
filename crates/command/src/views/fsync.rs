//! `fsync`.

use error::Result;

use crate::Request;
use crate::fields::Fields;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fsync {
    /// Whether writes are to wait for `fsyncUnlock`.
    pub lock: bool,
}

impl Fsync {
    pub fn parse(request: &Request) -> Result<Fsync> {
        let mut lock = false;
        let mut fields = Fields::of_command(request, "fsync")?;
        while let Some(field) = fields.next()? {
            if field.name() == "lock" {
                lock = field.safe_bool()?.unwrap_or(false);
            }
        }
        Ok(Fsync { lock })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        Fsync::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "fsync": 1, "$db": "admin", "unheeded": 1 };
        check_fields(parse, &base, &[("lock", "bool number null", 14)]);
    }
}
