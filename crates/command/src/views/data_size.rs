//! `dataSize`.

use bson::RawDocument;
use bson::spec::ElementType;
use error::Result;

use crate::fields::{Field, Fields, Scope};
use crate::request::empty_document;
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct DataSize<'a> {
    pub namespace: Namespace,
    pub key_pattern: &'a RawDocument,
    pub min: &'a RawDocument,
    pub max: &'a RawDocument,
    pub estimate: bool,
}

impl<'a> DataSize<'a> {
    pub fn parse(request: &'a Request) -> Result<DataSize<'a>> {
        let mut view = DataSize {
            namespace: target(request)?,
            key_pattern: empty_document(),
            min: empty_document(),
            max: empty_document(),
            estimate: false,
        };
        let mut fields = Fields::of_command(request, "dataSize")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "keyPattern" => view.key_pattern = field.object()?.unwrap_or(empty_document()),
                "min" => view.min = field.object()?.unwrap_or(empty_document()),
                "max" => view.max = field.object()?.unwrap_or(empty_document()),
                "estimate" => view.estimate = field.safe_bool()?.unwrap_or(false),
                _ => {}
            }
        }
        Ok(view)
    }
}

fn target(request: &Request) -> Result<Namespace> {
    let scope = Scope::new("dataSize");
    let Some(first) = value::elements(request.body()).next() else { return Namespace::parse("") };
    let field = Field::new(first, &scope);
    match field.string()? {
        Some(name) => Namespace::parse(name),
        None => Err(field.wrong_type(&[ElementType::String])),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        DataSize::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "dataSize": "d.c", "$db": "d" };
        check_fields(
            parse,
            &base,
            &[
                ("dataSize", "string", 14),
                ("keyPattern", "object null", 14),
                ("min", "object null", 14),
                ("max", "object null", 14),
                ("estimate", "bool number null", 14),
            ],
        );
        check_codes(parse, &base, &[(doc! { "dataSize": "d" }, 73)]);
    }
}
