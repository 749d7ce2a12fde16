//! `getGrowthPolicy` and `growthStats`, which name a collection and no more,
//! `dropGrowthPolicy`, which may restore what is in pages, and `listGrowthPolicies`, which does
//! not even name a collection.

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
pub struct DropGrowthPolicy {
    pub namespace: Namespace,
    /// Put the elements back from the pages into their documents first.
    pub restore: bool,
}

impl DropGrowthPolicy {
    pub fn parse(request: &Request) -> Result<DropGrowthPolicy> {
        let namespace = fields::namespace(request)?;
        let mut restore = false;
        let mut fields = Fields::of_command(request, "dropGrowthPolicy")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "restore" => restore = field.safe_bool()?.unwrap_or(false),
                _ => return Err(field.unknown()),
            }
        }
        Ok(DropGrowthPolicy { namespace, restore })
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
        let base = doc! { "dropGrowthPolicy": "c", "$db": "d" };
        let drop = |request: &Request| DropGrowthPolicy::parse(request).map(|_| ());
        check_strict(drop, &base);
        check_fields(drop, &base, &[("restore", "bool number null", 14)]);
        let list = |request: &Request| ListGrowthPolicies::parse(request).map(|_| ());
        check_strict(list, &doc! { "listGrowthPolicies": 1, "$db": "d" });
    }
}
