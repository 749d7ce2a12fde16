//! `connectionStatus`.

use error::Result;

use crate::Request;
use crate::fields::Fields;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionStatus {
    pub show_privileges: bool,
}

impl ConnectionStatus {
    pub fn parse(request: &Request) -> Result<ConnectionStatus> {
        let mut show_privileges = false;
        let mut fields = Fields::of_command(request, "connectionStatus")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "showPrivileges" => show_privileges = field.boolean()?.unwrap_or(false),
                _ => return Err(field.unknown()),
            }
        }
        Ok(ConnectionStatus { show_privileges })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        ConnectionStatus::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "connectionStatus": 1, "$db": "admin" };
        check_strict(parse, &base);
        check_fields(parse, &base, &[("showPrivileges", "bool null", 14)]);
    }
}
