//! `drop`.

use error::Result;

use crate::fields::{self, Fields};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct Drop {
    pub namespace: Namespace,
    pub collection_uuid: Option<[u8; 16]>,
}

impl Drop {
    pub fn parse(request: &Request) -> Result<Drop> {
        let namespace = fields::namespace(request)?;
        let mut collection_uuid = None;
        let mut fields = Fields::of_command(request, "drop")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "collectionUUID" => collection_uuid = field.uuid()?,
                _ => return Err(field.unknown()),
            }
        }
        Ok(Drop { namespace, collection_uuid })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        Drop::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "drop": "c", "$db": "d" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[("drop", "string symbol", 73), ("collectionUUID", "binData null", 14)],
        );
        check_codes(parse, &base, &[(doc! { "drop": "" }, 73)]);
    }
}
