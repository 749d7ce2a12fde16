//! `listIndexes`.

use error::{Code, Result};

use super::cursor;
use crate::fields::{self, Fields};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct ListIndexes {
    pub namespace: Namespace,
    pub batch_size: Option<i64>,
    pub include_build_uuids: bool,
    pub include_build_info: bool,
}

impl ListIndexes {
    pub fn parse(request: &Request) -> Result<ListIndexes> {
        let namespace = fields::namespace(request)?;
        let (mut batch_size, mut uuids, mut info) = (None, false, false);
        let mut fields = Fields::of_command(request, "listIndexes")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "cursor" => batch_size = cursor::batch_size(&field)?,
                "includeBuildUUIDs" => uuids = field.safe_bool()?.unwrap_or(false),
                "includeIndexBuildInfo" => info = field.safe_bool()?.unwrap_or(false),
                "isTimeseriesNamespace" => {
                    return Err(super::unsupported("listIndexes", field.name()));
                }
                _ => return Err(field.unknown()),
            }
        }
        if uuids && info {
            return Err(Code::InvalidOptions
                .error("The includeBuildUUIDs flag and includeBuildIndexInfo flag cannot both be set to true"));
        }
        Ok(ListIndexes {
            namespace,
            batch_size,
            include_build_uuids: uuids,
            include_build_info: info,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        ListIndexes::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "listIndexes": "c", "$db": "d" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("listIndexes", "string symbol", 73),
                ("cursor", "object null", 14),
                ("includeBuildUUIDs", "bool number null", 14),
                ("includeIndexBuildInfo", "bool number null", 14),
            ],
        );
        check_codes(
            parse,
            &base,
            &[
                (doc! { "cursor": { "batchSize": 2 } }, 0),
                (doc! { "cursor": { "batchSize": -1 } }, 2),
                (doc! { "cursor": { "x": 1 } }, 40415),
                (doc! { "includeBuildUUIDs": true, "includeIndexBuildInfo": true }, 72),
            ],
        );
    }
}
