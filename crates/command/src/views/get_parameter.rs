//! `getParameter`.

use bson::RawBsonRef;
use error::{Code, Result};

use crate::Request;
use crate::fields::{Field, Fields, Scope};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetParameter<'a> {
    pub all: bool,
    /// Whether each answer also says when the parameter can be set.
    pub show_details: bool,
    pub names: Vec<&'a str>,
}

impl<'a> GetParameter<'a> {
    pub fn parse(request: &'a Request) -> Result<GetParameter<'a>> {
        let mut view = GetParameter { all: false, show_details: false, names: Vec::new() };
        let scope = Scope::new("getParameter");
        if let Some(first) = value::elements(request.body()).next() {
            view.read_first(&Field::new(first, &scope))?;
        }
        let mut fields = Fields::of_command(request, "getParameter")?;
        while let Some(field) = fields.next()? {
            view.names.push(field.name());
        }
        if !view.all && view.names.is_empty() {
            return Err(Code::InvalidOptions.error("no option found to get"));
        }
        Ok(view)
    }

    fn read_first(&mut self, first: &Field<'a, '_>) -> Result<()> {
        match first.value() {
            RawBsonRef::String("*") => self.all = true,
            RawBsonRef::Document(options) => {
                let mut fields = Fields::of_document(options, first.scope());
                while let Some(field) = fields.next()? {
                    match field.name() {
                        "showDetails" => self.show_details = field.boolean()?.unwrap_or(false),
                        "allParameters" => self.all = field.boolean()?.unwrap_or(false),
                        "setAt" => {
                            field.string()?;
                        }
                        _ => return Err(field.unknown()),
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        GetParameter::parse(request).map(|_| ())
    }

    #[test]
    fn parameters_are_named() {
        let body = rawdoc! { "getParameter": 1, "$db": "admin", "featureCompatibilityVersion": 1 };
        let request = Request::from(body);
        assert_eq!(GetParameter::parse(&request).unwrap().names, ["featureCompatibilityVersion"]);
        check_codes(
            parse,
            &doc! { "getParameter": "*", "$db": "admin" },
            &[
                (doc! {}, 0),
                (doc! { "getParameter": 1 }, 72),
                (doc! { "getParameter": { "showDetails": true, "allParameters": true } }, 0),
                (doc! { "getParameter": { "showDetails": 1 } }, 14),
                (doc! { "getParameter": { "x": 1 } }, 40415),
            ],
        );
    }
}
