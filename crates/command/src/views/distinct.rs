//! `distinct`.

use bson::RawDocument;
use error::{Code, Result};

use crate::fields::{self, Fields, Hint};
use crate::request::empty_document;
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct Distinct<'a> {
    pub namespace: Namespace,
    pub key: &'a str,
    pub query: &'a RawDocument,
    pub hint: Option<Hint<'a>>,
    pub collation: Option<&'a RawDocument>,
}

impl<'a> Distinct<'a> {
    pub fn parse(request: &'a Request) -> Result<Distinct<'a>> {
        let namespace = fields::namespace(request)?;
        let (mut key, mut query, mut hint, mut collation) = (None, None, None, None);
        let mut fields = Fields::of_command(request, "distinct")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "key" => key = field.string()?,
                "query" => query = field.object()?,
                "hint" => hint = field.hint()?,
                "collation" => collation = field.object()?.filter(|it| !it.is_empty()),
                "mirrored" | "includeQueryStatsMetrics" => {
                    field.boolean_not_null()?;
                }
                "querySettings" => {
                    field.object()?;
                }
                _ => return Err(field.unknown()),
            }
        }
        let key: &str = fields.required(key, "key")?;
        if key.contains('\0') {
            return Err(
                Code::location(31032).error("Key field cannot contain an embedded null byte")
            );
        }
        let query = query.unwrap_or(empty_document());
        Ok(Distinct { namespace, key, query, hint, collation })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        Distinct::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "distinct": "c", "$db": "d", "key": "a.b" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("distinct", "string symbol", 73),
                ("key", "string null", 14),
                ("query", "object null", 14),
                ("hint", "string object", 9),
                ("collation", "object null", 14),
            ],
        );
        assert_eq!(code(parse, &doc! { "distinct": "c", "$db": "d" }), 40414);
        let null = doc! { "distinct": "c", "$db": "d", "key": "a\0b" };
        assert_eq!(code(parse, &null), 31032);
    }
}
