//! `dropDatabase`.

use error::{Code, Result};

use crate::Request;
use crate::fields::{Field, Fields, Scope};

#[derive(Debug, Clone, Copy)]
pub struct DropDatabase;

impl DropDatabase {
    pub fn parse(request: &Request) -> Result<DropDatabase> {
        let scope = Scope::new("dropDatabase");
        if let Some(first) = value::elements(request.body()).next()
            && Field::new(first, &scope).safe_int64()? != Some(1)
        {
            return Err(Code::location(5255100).error("Have to pass 1 as 'dropDatabase' parameter"));
        }
        let mut fields = Fields::of_command(request, "dropDatabase")?;
        match fields.next()? {
            Some(field) => Err(field.unknown()),
            None => Ok(DropDatabase),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        DropDatabase::parse(request).map(|_| ())
    }

    #[test]
    fn one_is_passed() {
        let base = doc! { "dropDatabase": 1, "$db": "d" };
        check_strict(parse, &base);
        check_fields(parse, &base, &[("dropDatabase", "number null", 14)]);
        check_codes(parse, &base, &[(doc! { "dropDatabase": 2 }, 5255100)]);
    }
}
