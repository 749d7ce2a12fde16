//! `convertToCapped`. As in MongoDB, what it does not know is passed over.

use error::{Code, Result};

use crate::fields::{self, Field, Fields, safe_i64};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct ConvertToCapped {
    pub namespace: Namespace,
    pub size: i64,
}

impl ConvertToCapped {
    pub fn parse(request: &Request) -> Result<ConvertToCapped> {
        let namespace = fields::namespace(request)?;
        let mut size = 0;
        let mut fields = Fields::of_command(request, "convertToCapped")?;
        while let Some(field) = fields.next()? {
            if field.name() == "size" {
                size = bytes(&field);
            }
        }
        Ok(ConvertToCapped { namespace, size: positive(size)? })
    }
}

/// A number of bytes; 0 for what is none.
pub(super) fn bytes(field: &Field<'_, '_>) -> i64 {
    safe_i64(field.value()).unwrap_or(0)
}

pub(super) fn positive(size: i64) -> Result<i64> {
    match size > 0 {
        true => Ok(size),
        false => {
            Err(Code::InvalidOptions.error("Capped collection size must be greater than zero"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        ConvertToCapped::parse(request).map(|_| ())
    }

    #[test]
    fn the_size_is_a_number_above_zero() {
        check_codes(
            parse,
            &doc! { "convertToCapped": "c", "$db": "d", "size": 1000 },
            &[
                (doc! {}, 0),
                (doc! { "size": 1000.5, "max": 3 }, 0),
                (doc! { "size": 0 }, 72),
                (doc! { "size": -1 }, 72),
                (doc! { "size": "1000" }, 72),
                (doc! { "convertToCapped": 1 }, 73),
                (doc! { "convertToCapped": "" }, 73),
            ],
        );
        assert_eq!(code(parse, &doc! { "convertToCapped": "c", "$db": "d" }), 72);
    }
}
