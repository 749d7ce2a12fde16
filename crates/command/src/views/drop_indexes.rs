//! `dropIndexes`.

use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use error::Result;

use crate::fields::{self, Field, Fields};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct DropIndexes<'a> {
    pub namespace: Namespace,
    pub selection: Selection<'a>,
    pub collection_uuid: Option<[u8; 16]>,
}

/// Which indexes to drop.
#[derive(Debug, Clone, PartialEq)]
pub enum Selection<'a> {
    /// `"*"`: all but `_id`'s.
    All,
    Name(&'a str),
    Names(Vec<&'a str>),
    Key(&'a RawDocument),
}

impl<'a> DropIndexes<'a> {
    pub fn parse(request: &'a Request) -> Result<DropIndexes<'a>> {
        let namespace = fields::namespace(request)?;
        let (mut selection, mut collection_uuid) = (None, None);
        let mut fields = Fields::of_command(request, "dropIndexes")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "index" => selection = select(&field)?,
                "collectionUUID" => collection_uuid = field.uuid()?,
                "isTimeseriesNamespace" => {
                    return Err(super::unsupported("dropIndexes", field.name()));
                }
                _ => return Err(field.unknown()),
            }
        }
        let selection = fields.required(selection, "index")?;
        Ok(DropIndexes { namespace, selection, collection_uuid })
    }
}

fn select<'a>(field: &Field<'a, '_>) -> Result<Option<Selection<'a>>> {
    match field.value() {
        RawBsonRef::String("*") => Ok(Some(Selection::All)),
        RawBsonRef::String(name) => Ok(Some(Selection::Name(name))),
        RawBsonRef::Document(key) => Ok(Some(Selection::Key(key))),
        RawBsonRef::Array(array) => {
            let scope = field.scope();
            let mut names = Vec::new();
            for element in value::element::array_elements(array) {
                names.extend(Field::new(element, &scope).string()?);
            }
            Ok(Some(Selection::Names(names)))
        }
        _ if field.is_absent() => Ok(None),
        _ => Err(field.wrong_type(&[
            ElementType::String,
            ElementType::Array,
            ElementType::EmbeddedDocument,
        ])),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        DropIndexes::parse(request).map(|_| ())
    }

    #[test]
    fn indexes_are_chosen_in_four_ways() {
        let select = |index: bson::Bson| {
            let request = request(&doc! { "dropIndexes": "c", "$db": "d", "index": index });
            format!("{:?}", DropIndexes::parse(&request).unwrap().selection)
        };
        assert_eq!(select("*".into()), "All");
        assert_eq!(select("a_1".into()), "Name(\"a_1\")");
        assert_eq!(
            select(bson::Bson::Array(vec!["a".into(), "b".into()])),
            "Names([\"a\", \"b\"])"
        );
        assert!(select(doc! { "a": 1 }.into()).starts_with("Key"));
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "dropIndexes": "c", "$db": "d", "index": "*" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[("dropIndexes", "string symbol", 73), ("index", "string array object null", 14)],
        );
        check_codes(parse, &base, &[(doc! { "index": [1] }, 14)]);
        assert_eq!(code(parse, &doc! { "dropIndexes": "c", "$db": "d" }), 40414);
    }
}
