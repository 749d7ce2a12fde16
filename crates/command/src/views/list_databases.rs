//! `listDatabases`.

use bson::RawDocument;
use error::Result;

use crate::Request;
use crate::fields::Fields;

#[derive(Debug, Clone)]
pub struct ListDatabases<'a> {
    pub filter: Option<&'a RawDocument>,
    pub name_only: bool,
    pub authorized_databases: Option<bool>,
}

impl<'a> ListDatabases<'a> {
    pub fn parse(request: &'a Request) -> Result<ListDatabases<'a>> {
        let mut view = ListDatabases { filter: None, name_only: false, authorized_databases: None };
        let mut fields = Fields::of_command(request, "listDatabases")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "filter" => view.filter = field.object()?,
                "nameOnly" => view.name_only = field.safe_bool()?.unwrap_or(false),
                "authorizedDatabases" => view.authorized_databases = field.safe_bool()?,
                _ => return Err(field.unknown()),
            }
        }
        Ok(view)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        ListDatabases::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "listDatabases": 1, "$db": "admin" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("filter", "object null", 14),
                ("nameOnly", "bool number null", 14),
                ("authorizedDatabases", "bool number null", 14),
            ],
        );
    }
}
