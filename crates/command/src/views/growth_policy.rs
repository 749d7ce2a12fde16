//! `getGrowthPolicy`, `dropGrowthPolicy` and `growthStats`, which name a collection
//! and no more, and `listGrowthPolicies`, which does not even that.

use error::Result;

use crate::fields::{self, Fields};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct GrowthPolicy {
    pub namespace: Namespace,
}

impl GrowthPolicy {
    /// Reads the command called `name`.
    pub fn parse(request: &Request, name: &'static str) -> Result<GrowthPolicy> {
        let namespace = fields::namespace(request)?;
        refuse_fields(request, name)?;
        Ok(GrowthPolicy { namespace })
    }
}

#[derive(Debug, Clone)]
pub struct ListGrowthPolicies;

impl ListGrowthPolicies {
    pub fn parse(request: &Request) -> Result<ListGrowthPolicies> {
        refuse_fields(request, "listGrowthPolicies")?;
        Ok(ListGrowthPolicies)
    }
}

fn refuse_fields(request: &Request, name: &'static str) -> Result<()> {
    match Fields::of_command(request, name)?.next()? {
        Some(field) => Err(field.unknown()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    #[test]
    fn they_take_a_name_and_nothing_else() {
        let base = doc! { "getGrowthPolicy": "c", "$db": "d" };
        let parse = |request: &Request| GrowthPolicy::parse(request, "getGrowthPolicy").map(|_| ());
        check_strict(parse, &base);
        check_fields(parse, &base, &[("getGrowthPolicy", "string symbol", 73)]);
        let list = |request: &Request| ListGrowthPolicies::parse(request).map(|_| ());
        check_strict(list, &doc! { "listGrowthPolicies": 1, "$db": "d" });
    }
}
