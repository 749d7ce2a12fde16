//! `verifyGrowth`.

use error::Result;

use crate::fields::{self, Fields};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct VerifyGrowth {
    pub namespace: Namespace,
    /// Mend what can be mended safely.
    pub repair: bool,
}

impl VerifyGrowth {
    pub fn parse(request: &Request) -> Result<VerifyGrowth> {
        let namespace = fields::namespace(request)?;
        let mut repair = false;
        let mut fields = Fields::of_command(request, "verifyGrowth")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "repair" => repair = field.safe_bool()?.unwrap_or(false),
                _ => return Err(field.unknown()),
            }
        }
        Ok(VerifyGrowth { namespace, repair })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "verifyGrowth": "c", "$db": "d" };
        let parse = |request: &Request| VerifyGrowth::parse(request).map(|_| ());
        check_strict(parse, &base);
        let fields = [("verifyGrowth", "string symbol", 73), ("repair", "bool number null", 14)];
        check_fields(parse, &base, &fields);
    }
}
