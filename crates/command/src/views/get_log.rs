//! `getLog`.

use error::{Code, Result};

use crate::Request;
use crate::fields::type_name;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GetLog<'a> {
    /// `*` asks for the names of the logs.
    pub name: &'a str,
}

impl<'a> GetLog<'a> {
    pub fn parse(request: &'a Request) -> Result<GetLog<'a>> {
        let first = value::elements(request.body()).next();
        match first.map(|first| (first.kind, first.value().as_str())) {
            Some((_, Some(name))) => Ok(GetLog { name }),
            Some((kind, None)) => Err(Code::TypeMismatch.error(format!(
                "Argument to getLog must be of type String; found a value of type {}",
                type_name(kind)
            ))),
            None => Ok(GetLog { name: "" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    #[test]
    fn a_log_is_named() {
        let base = doc! { "getLog": "startupWarnings", "$db": "admin" };
        check_fields(
            |request| GetLog::parse(request).map(|_| ()),
            &base,
            &[("getLog", "string", 14)],
        );
    }
}
