//! `createIndexes`.

use error::{Code, Result};

use super::IndexSpec;
use super::Unknown;
use crate::fields::{self, Field, Fields, safe_i64};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct CreateIndexes<'a> {
    pub namespace: Namespace,
    pub indexes: Vec<IndexSpec<'a>>,
    pub collection_uuid: Option<[u8; 16]>,
}

impl<'a> CreateIndexes<'a> {
    pub fn parse(request: &'a Request) -> Result<CreateIndexes<'a>> {
        let namespace = fields::namespace(request)?;
        let (mut specs, mut collection_uuid) = (None, None);
        let mut unknown = Unknown::Refused;
        let mut fields = Fields::of_command(request, "createIndexes")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "indexes" => specs = field.objects()?,
                "commitQuorum" => check_quorum(&field)?,
                "v" => {
                    field.safe_int()?;
                }
                "ignoreUnknownIndexOptions" => {
                    if field.safe_bool()? == Some(true) {
                        unknown = Unknown::Ignored;
                    }
                }
                "returnOnStart" => {
                    field.boolean_not_null()?;
                }
                "collectionUUID" => collection_uuid = field.uuid()?,
                "isTimeseriesNamespace" => {
                    return Err(super::unsupported("createIndexes", field.name()));
                }
                _ => return Err(field.unknown()),
            }
        }
        let specs = fields.required(specs, "indexes")?;
        if specs.is_empty() {
            return Err(Code::BadValue.error("Must specify at least one index to create"));
        }
        namespace.check_write()?;
        let indexes = specs.into_iter().map(|spec| IndexSpec::parse_with(spec, unknown));
        let indexes = indexes.collect::<Result<_>>()?;
        Ok(CreateIndexes { namespace, indexes, collection_uuid })
    }
}

/// How many members must be ready; there is one here, so any answer will do.
fn check_quorum(field: &Field<'_, '_>) -> Result<()> {
    let fail = |message: &str| Err(Code::FailedToParse.error(message));
    match (safe_i64(field.value()), field.value().as_str()) {
        (Some(members), _) if !(0..=50).contains(&members) => {
            fail("commitQuorum has to be a non-negative number and not greater than 50")
        }
        (None, None) if !field.is_absent() => fail("commitQuorum has to be a number or a string"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        CreateIndexes::parse(request).map(|_| ())
    }

    #[test]
    fn indexes_are_read() {
        let body = rawdoc! {
            "createIndexes": "c", "$db": "d", "commitQuorum": "votingMembers",
            "indexes": [{ "key": { "a": 1 }, "name": "a_1" }, { "key": { "b": "hashed" }, "name": "b" }],
        };
        let request = Request::from(body);
        let view = CreateIndexes::parse(&request).unwrap();
        let kinds: Vec<_> = view.indexes.iter().map(|index| index.kind).collect();
        assert_eq!(kinds, [super::super::IndexKind::Ordered, super::super::IndexKind::Hashed]);
    }

    #[test]
    fn every_argument_has_its_type() {
        let index = doc! { "key": { "a": 1 }, "name": "a_1" };
        let base = doc! { "createIndexes": "c", "$db": "d", "indexes": [index] };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("createIndexes", "string symbol", 73),
                ("indexes", "array null", 14),
                ("commitQuorum", "number string null", 9),
                ("v", "number null", 14),
                ("ignoreUnknownIndexOptions", "bool number null", 14),
            ],
        );
        check_codes(
            parse,
            &base,
            &[
                (doc! { "indexes": [] }, 2),
                (doc! { "indexes": [1] }, 14),
                (doc! { "indexes": [{}] }, 9),
                (doc! { "indexes": bson::Bson::Null }, 40414),
                (doc! { "createIndexes": "system.profile" }, 73),
            ],
        );
    }
}
