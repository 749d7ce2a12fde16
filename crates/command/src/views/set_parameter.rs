//! `setParameter`.

use error::{Code, Result};
use value::Element;

use crate::Request;
use crate::fields::Fields;

#[derive(Debug, Clone)]
pub struct SetParameter<'a> {
    /// Names and values, in order.
    pub parameters: Vec<Element<'a>>,
}

impl<'a> SetParameter<'a> {
    pub fn parse(request: &'a Request) -> Result<SetParameter<'a>> {
        let mut parameters = Vec::new();
        let mut fields = Fields::of_command(request, "setParameter")?;
        while let Some(field) = fields.next()? {
            parameters.push(field.element());
        }
        if parameters.is_empty() {
            return Err(
                Code::InvalidOptions.error("no option found to set, use help:true to see options ")
            );
        }
        Ok(SetParameter { parameters })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn something_is_set() {
        let request = Request::from(rawdoc! { "setParameter": 1, "$db": "admin", "logLevel": 1 });
        let view = SetParameter::parse(&request).unwrap();
        assert_eq!(view.parameters[0].key, "logLevel");
        let request = Request::from(rawdoc! { "setParameter": 1, "$db": "admin" });
        assert_eq!(SetParameter::parse(&request).unwrap_err().code(), Code::InvalidOptions);
    }
}
