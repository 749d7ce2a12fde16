//! `setGrowthPolicy`.

use bson::RawDocument;
use error::Result;

use crate::fields::{self, Fields};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct SetGrowthPolicy<'a> {
    pub namespace: Namespace,
    pub policy: &'a RawDocument,
    /// Check the policy and count the documents over its bounds, and no more.
    pub dry_run: bool,
}

impl<'a> SetGrowthPolicy<'a> {
    pub fn parse(request: &'a Request) -> Result<SetGrowthPolicy<'a>> {
        let namespace = fields::namespace(request)?;
        let (mut policy, mut dry_run) = (None, false);
        let mut fields = Fields::of_command(request, "setGrowthPolicy")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "policy" => policy = field.object()?,
                "dryRun" => dry_run = field.safe_bool()?.unwrap_or(false),
                _ => return Err(field.unknown()),
            }
        }
        let policy = fields.required(policy, "policy")?;
        namespace.check_write()?;
        Ok(SetGrowthPolicy { namespace, policy, dry_run })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        SetGrowthPolicy::parse(request).map(|_| ())
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "setGrowthPolicy": "c", "policy": {}, "$db": "d" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[("setGrowthPolicy", "string symbol", 73), ("dryRun", "bool number null", 14)],
        );
        check_codes(parse, &base, &[(doc! { "policy": 1 }, 14), (doc! { "policy": null }, 40414)]);
    }
}
