//! `freeboardBackup`, which MongoDB does not have.

use crate::Request;
use crate::fields::Fields;
use error::Result;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeboardBackup<'a> {
    /// Where the copy goes, on the server's machine.
    pub directory: &'a str,
}

impl<'a> FreeboardBackup<'a> {
    pub fn parse(request: &'a Request) -> Result<FreeboardBackup<'a>> {
        let mut directory = None;
        let mut fields = Fields::of_command(request, "freeboardBackup")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "directory" => directory = field.string()?,
                _ => return Err(field.unknown()),
            }
        }
        Ok(FreeboardBackup { directory: fields.required(directory, "directory")? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        FreeboardBackup::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "freeboardBackup": 1, "$db": "admin", "directory": "/backup" };
        check_strict(parse, &base);
        check_fields(parse, &base, &[("directory", "string null", 14)]);
        assert_eq!(code(parse, &doc! { "freeboardBackup": 1, "$db": "admin" }), 40414);
    }
}
