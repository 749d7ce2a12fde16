//! `listCollections`.

use bson::RawDocument;
use error::Result;

use super::cursor;
use crate::Request;
use crate::fields::Fields;

#[derive(Debug, Clone)]
pub struct ListCollections<'a> {
    pub filter: Option<&'a RawDocument>,
    pub name_only: bool,
    pub authorized_collections: bool,
    pub batch_size: Option<i64>,
}

impl<'a> ListCollections<'a> {
    pub fn parse(request: &'a Request) -> Result<ListCollections<'a>> {
        let mut view = ListCollections {
            filter: None,
            name_only: false,
            authorized_collections: false,
            batch_size: None,
        };
        let mut fields = Fields::of_command(request, "listCollections")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "filter" => view.filter = field.object()?,
                "nameOnly" => view.name_only = field.boolean()?.unwrap_or(false),
                "authorizedCollections" => {
                    view.authorized_collections = field.boolean()?.unwrap_or(false);
                }
                "cursor" => view.batch_size = cursor::batch_size(&field)?,
                "includePendingDrops" => {
                    field.safe_bool()?;
                }
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
        ListCollections::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "listCollections": 1, "$db": "d" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("filter", "object null", 14),
                ("nameOnly", "bool null", 14),
                ("authorizedCollections", "bool null", 14),
                ("cursor", "object null", 14),
                ("includePendingDrops", "bool number null", 14),
            ],
        );
    }
}
