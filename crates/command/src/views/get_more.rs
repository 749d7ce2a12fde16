//! `getMore`.

use bson::spec::ElementType;
use error::{Code, Result};

use crate::fields::{Field, Fields, Scope};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct GetMore {
    pub cursor_id: i64,
    pub namespace: Namespace,
    pub batch_size: Option<i64>,
}

impl GetMore {
    pub fn parse(request: &Request) -> Result<GetMore> {
        let cursor_id = cursor_id(request)?;
        let (mut collection, mut batch_size) = (None, None);
        let mut fields = Fields::of_command(request, "getMore")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "collection" => collection = field.string()?,
                "batchSize" => batch_size = field.count()?,
                "term" => {
                    field.long()?;
                }
                "lastKnownCommittedOpTime" => {
                    field.object()?;
                }
                "includeQueryStatsMetrics" => {
                    field.boolean_not_null()?;
                }
                _ => return Err(field.unknown()),
            }
        }
        let collection = fields.required(collection, "collection")?;
        if collection.is_empty() {
            return Err(Code::InvalidNamespace.error("Collection names cannot be empty"));
        }
        let namespace = Namespace::new(request.database(), collection)?;
        Ok(GetMore { cursor_id, namespace, batch_size })
    }
}

fn cursor_id(request: &Request) -> Result<i64> {
    let scope = Scope::new("getMore");
    let Some(first) = value::elements(request.body()).next() else { return Ok(0) };
    let field = Field::new(first, &scope);
    field.long()?.ok_or_else(|| field.wrong_type(&[ElementType::Int64]))
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        GetMore::parse(request).map(|_| ())
    }

    #[test]
    fn a_cursor_is_named() {
        let body = rawdoc! { "getMore": 7_i64, "collection": "c", "$db": "d", "batchSize": 2 };
        let more = GetMore::parse(&Request::from(body)).unwrap();
        assert_eq!((more.cursor_id, more.batch_size), (7, Some(2)));
        assert_eq!(more.namespace.to_string(), "d.c");
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "getMore": 7_i64, "collection": "c", "$db": "d" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("getMore", "long", 14),
                ("collection", "string null", 14),
                ("batchSize", "number null", 14),
                ("term", "long null", 14),
            ],
        );
        check_codes(
            parse,
            &base,
            &[
                (doc! { "batchSize": -1 }, 2),
                (doc! { "collection": "" }, 73),
                (doc! { "collection": ".c" }, 73),
                (doc! { "collection": bson::Bson::Null }, 40414),
            ],
        );
        assert_eq!(code(parse, &doc! { "getMore": 7_i64, "$db": "d" }), 40414);
    }
}
