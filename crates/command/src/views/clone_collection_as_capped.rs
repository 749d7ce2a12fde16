//! `cloneCollectionAsCapped`. As in MongoDB, what it does not know is passed over.

use bson::RawBsonRef;
use error::{Code, Result};

use super::convert_to_capped::{bytes, positive};
use crate::fields::{Field, Fields, Scope};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct CloneCollectionAsCapped {
    pub from: Namespace,
    pub to: Namespace,
    pub size: i64,
}

impl CloneCollectionAsCapped {
    pub fn parse(request: &Request) -> Result<CloneCollectionAsCapped> {
        let scope = Scope::new("cloneCollectionAsCapped");
        let first = value::elements(request.body()).next().map(|first| Field::new(first, &scope));
        let (mut to, mut size) = (None, 0);
        let mut fields = Fields::of_command(request, "cloneCollectionAsCapped")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "toCollection" => to = Some(text(&field)?),
                "size" => size = bytes(&field),
                _ => {}
            }
        }
        let to = to.ok_or_else(|| not_text("toCollection"))?;
        let from = first.as_ref().map(text).transpose()?.unwrap_or_default();
        let database = request.database();
        Ok(CloneCollectionAsCapped {
            from: Namespace::new(database, from)?,
            to: Namespace::new(database, to)?,
            size: positive(size)?,
        })
    }
}

fn text<'a>(field: &Field<'a, '_>) -> Result<&'a str> {
    match field.value() {
        RawBsonRef::String(text) => Ok(text),
        _ => Err(not_text(field.name())),
    }
}

fn not_text(name: &str) -> error::Error {
    Code::TypeMismatch.error(format!("'{name}' must be of type String"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        CloneCollectionAsCapped::parse(request).map(|_| ())
    }

    #[test]
    fn names_and_size() {
        let base =
            doc! { "cloneCollectionAsCapped": "c", "$db": "d", "toCollection": "e", "size": 1000 };
        check_codes(
            parse,
            &base,
            &[
                (doc! { "temp": true }, 0),
                (doc! { "size": 0 }, 72),
                (doc! { "size": "x" }, 72),
                (doc! { "toCollection": 1 }, 14),
                (doc! { "toCollection": "" }, 73),
                (doc! { "cloneCollectionAsCapped": 1 }, 14),
                (doc! { "cloneCollectionAsCapped": "" }, 73),
            ],
        );
    }
}
