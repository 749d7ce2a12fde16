//! `renameCollection`.

use bson::RawBsonRef;
use bson::spec::{BinarySubtype, ElementType};
use error::{Code, Result};

use crate::fields::{Field, Fields, Scope};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct RenameCollection {
    pub from: Namespace,
    pub to: Namespace,
    pub drop_target: bool,
    pub collection_uuid: Option<[u8; 16]>,
}

impl RenameCollection {
    pub fn parse(request: &Request) -> Result<RenameCollection> {
        let from = source(request)?;
        let (mut to, mut drop_target, mut collection_uuid) = (None, false, None);
        let mut fields = Fields::of_command(request, "renameCollection")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "to" => to = field.string()?,
                "dropTarget" => drop_target = drops(&field)?,
                "collectionUUID" => collection_uuid = field.uuid()?,
                "stayTemp" => {
                    field.boolean()?;
                }
                _ => return Err(field.unknown()),
            }
        }
        let to = Namespace::parse(fields.required(to, "to")?)?;
        if to.is_views() || from.is_views() {
            return Err(Code::IllegalOperation.error(
                "renaming system.views collection or renaming to system.views is not allowed",
            ));
        }
        if to == from {
            return Err(Code::IllegalOperation.error("Can't rename a collection to itself"));
        }
        to.check_write()?;
        Ok(RenameCollection { from, to, drop_target, collection_uuid })
    }
}

fn source(request: &Request) -> Result<Namespace> {
    let scope = Scope::new("renameCollection");
    let Some(first) = value::elements(request.body()).next() else { return Namespace::parse("") };
    let field = Field::new(first, &scope);
    match field.string()? {
        Some(name) => Namespace::parse(name),
        None => Err(field.wrong_type(&[ElementType::String])),
    }
}

fn drops(field: &Field<'_, '_>) -> Result<bool> {
    match field.value() {
        RawBsonRef::Boolean(drop) => Ok(drop),
        RawBsonRef::Binary(binary) if binary.subtype == BinarySubtype::Uuid => {
            Err(super::unsupported("renameCollection", "dropTarget: <UUID>"))
        }
        _ if field.is_absent() => Ok(false),
        _ => Err(field.wrong_type(&[ElementType::Boolean, ElementType::Binary])),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        RenameCollection::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "renameCollection": "d.a", "$db": "admin", "to": "d.b" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("renameCollection", "string", 14),
                ("to", "string null", 14),
                ("dropTarget", "bool binData null", 14),
                ("stayTemp", "bool null", 14),
            ],
        );
        check_codes(
            parse,
            &base,
            &[
                (doc! { "to": "d.a" }, 20),
                (doc! { "to": "d" }, 73),
                (doc! { "to": "d." }, 73),
                (doc! { "to": "d.system.views" }, 20),
                (doc! { "to": "d.system.profile" }, 73),
                (doc! { "to": "d.a$b" }, 73),
                (doc! { "renameCollection": "" }, 73),
                (doc! { "to": "d.b", "dropTarget": true }, 0),
            ],
        );
        assert_eq!(code(parse, &doc! { "renameCollection": "d.a", "$db": "admin" }), 40414);
    }
}
