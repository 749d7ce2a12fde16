//! `planCacheClear`, `planCacheClearFilters`, `planCacheListFilters`.

use bson::RawDocument;
use bson::spec::ElementType;
use error::{Code, Result};

use crate::fields::{self, Fields};
use crate::{Namespace, Request};

/// A shape of queries whose cached plans, or filters, are meant; all of them where no
/// query is given.
#[derive(Debug, Clone)]
pub struct PlanCache<'a> {
    pub namespace: Namespace,
    pub query: Option<&'a RawDocument>,
}

impl<'a> PlanCache<'a> {
    pub fn parse(request: &'a Request, name: &'static str) -> Result<PlanCache<'a>> {
        let namespace = fields::namespace(request)?;
        let mut query = None;
        let mut refined = false;
        let mut fields = Fields::of_command(request, name)?;
        while let Some(field) = fields.next()? {
            let given = match field.name() {
                "query" | "sort" | "projection" | "collation" => {
                    if field.kind() != ElementType::EmbeddedDocument {
                        let message = format!("required field {} must be an object", field.name());
                        return Err(Code::BadValue.error(message));
                    }
                    field.object()?
                }
                _ => continue,
            };
            match field.name() {
                "query" => query = given,
                _ => refined = true,
            }
        }
        if query.is_none() && refined {
            return Err(
                Code::BadValue.error("sort, projection, or collation provided without query")
            );
        }
        Ok(PlanCache { namespace, query })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        PlanCache::parse(request, "planCacheClear").map(|_| ())
    }

    #[test]
    fn a_shape_begins_with_its_query() {
        let base = doc! { "planCacheClear": "c", "$db": "d", "query": { "a": 1 } };
        check_fields(
            parse,
            &base,
            &[
                ("planCacheClear", "string symbol", 73),
                ("query", "object", 2),
                ("sort", "object", 2),
                ("projection", "object", 2),
                ("collation", "object", 2),
            ],
        );
        let alone = doc! { "planCacheClear": "c", "$db": "d", "sort": { "a": 1 } };
        assert_eq!(code(parse, &alone), 2);
    }
}
