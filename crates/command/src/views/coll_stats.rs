//! `collStats`.

use error::Result;

use crate::fields::{self, Fields};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct CollStats {
    pub namespace: Namespace,
    /// What sizes are divided by.
    pub scale: i32,
}

impl CollStats {
    pub fn parse(request: &Request) -> Result<CollStats> {
        let namespace = fields::namespace(request)?;
        let mut scale = 1;
        let mut fields = Fields::of_command(request, "collStats")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "scale" => {
                    let given = field.safe_int()?;
                    field.at_least(given.map(i64::from), 1)?;
                    scale = given.unwrap_or(1);
                }
                "waitForLock" => {
                    field.safe_bool()?;
                }
                _ => {}
            }
        }
        Ok(CollStats { namespace, scale })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        CollStats::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "collStats": "c", "$db": "d", "unheeded": 1 };
        check_fields(
            parse,
            &base,
            &[("collStats", "string symbol", 73), ("scale", "number null", 14)],
        );
        check_codes(parse, &base, &[(doc! { "scale": 0 }, 2), (doc! { "scale": 1024.5 }, 0)]);
    }
}
