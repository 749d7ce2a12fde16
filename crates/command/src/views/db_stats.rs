//! `dbStats`.

use error::Result;

use crate::Request;
use crate::fields::Fields;

#[derive(Debug, Clone, Copy)]
pub struct DbStats {
    /// What sizes are divided by.
    pub scale: i32,
    /// Whether to tell the space that could be given back.
    pub free_storage: bool,
}

impl DbStats {
    pub fn parse(request: &Request) -> Result<DbStats> {
        let mut view = DbStats { scale: 1, free_storage: false };
        let mut fields = Fields::of_command(request, "dbStats")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "scale" => {
                    let given = field.safe_int()?;
                    field.at_least(given.map(i64::from), 1)?;
                    view.scale = given.unwrap_or(1);
                }
                "freeStorage" => view.free_storage = field.safe_bool()?.unwrap_or(false),
                _ => return Err(field.unknown()),
            }
        }
        Ok(view)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        DbStats::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "dbStats": 1, "$db": "d" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[("scale", "number null", 14), ("freeStorage", "bool number null", 14)],
        );
        check_codes(parse, &base, &[(doc! { "scale": -1 }, 2)]);
    }
}
