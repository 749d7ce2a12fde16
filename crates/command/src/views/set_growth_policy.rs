//! `setGrowthPolicy`.

use bson::RawDocument;
use error::{Code, Result};

use crate::fields::{self, Fields};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct SetGrowthPolicy<'a> {
    pub namespace: Namespace,
    pub policy: &'a RawDocument,
    /// Check the policy and count the documents over its bounds, and no more.
    pub dry_run: bool,
    /// Whether a dry run looks at documents at all.
    pub count: bool,
}

impl<'a> SetGrowthPolicy<'a> {
    pub fn parse(request: &'a Request) -> Result<SetGrowthPolicy<'a>> {
        let namespace = fields::namespace(request)?;
        let (mut policy, mut dry_run, mut count) = (None, false, true);
        let mut fields = Fields::of_command(request, "setGrowthPolicy")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "policy" => policy = field.object()?,
                "count" => count = field.safe_bool()?.unwrap_or(true),
                "dryRun" => dry_run = field.safe_bool()?.unwrap_or(false),
                _ => return Err(field.unknown()),
            }
        }
        let policy = fields.required(policy, "policy")?;
        namespace.check_write()?;
        if !count && !dry_run {
            return Err(Code::InvalidOptions.error(
                "'count: false' is only supported with 'dryRun: true': what is set is counted",
            ));
        }
        Ok(SetGrowthPolicy { namespace, policy, dry_run, count })
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
        let wrong = [
            (doc! { "policy": 1 }, 14),
            (doc! { "policy": null }, 40414),
            (doc! { "count": "no" }, 14),
            (doc! { "count": false }, 72),
        ];
        check_codes(parse, &base, &wrong);
    }
}
