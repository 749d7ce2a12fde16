//! `migrateGrowth`.

use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};

use crate::fields::{self, Fields};
use crate::{Namespace, Request};

/// Documents that one command settles, where it does not say.
const DOCUMENTS: i64 = 100;
/// The most that one command may be asked to settle.
const DOCUMENTS_MAX: i64 = 100_000;

#[derive(Debug, Clone)]
pub struct MigrateGrowth<'a> {
    pub namespace: Namespace,
    /// The `_id` that the command before this one came to, as its `next` said.
    pub after: Option<RawBsonRef<'a>>,
    /// How many documents are settled at most.
    pub limit: usize,
    /// Tell what would be done, and do nothing.
    pub dry_run: bool,
    /// Put elements back from the pages into their documents, and leave the policy.
    pub undo: bool,
    /// The policy to tell it for, if it is not set yet.
    pub policy: Option<&'a RawDocument>,
}

impl<'a> MigrateGrowth<'a> {
    pub fn parse(request: &'a Request) -> Result<MigrateGrowth<'a>> {
        let namespace = fields::namespace(request)?;
        let (mut after, mut limit) = (None, None);
        let (mut dry_run, mut undo, mut policy) = (false, false, None);
        let mut fields = Fields::of_command(request, "migrateGrowth")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                // An `_id` may be null.
                "after" => after = Some(field.value()),
                "limit" => {
                    limit =
                        field.at_most(field.at_least(field.exact_int64()?, 1)?, DOCUMENTS_MAX)?;
                }
                "dryRun" => dry_run = field.safe_bool()?.unwrap_or(false),
                "undo" => undo = field.safe_bool()?.unwrap_or(false),
                "policy" => policy = field.object()?,
                _ => return Err(field.unknown()),
            }
        }
        if policy.is_some() && !dry_run {
            return Err(Code::InvalidOptions.error(
                "'policy' goes with dryRun: true; set a policy with setGrowthPolicy to migrate \
                 under it",
            ));
        }
        if policy.is_some() && undo {
            return Err(Code::InvalidOptions
                .error("'policy' does not go with undo: true, which undoes the one that is set"));
        }
        namespace.check_write()?;
        Ok(MigrateGrowth {
            namespace,
            after,
            limit: limit.unwrap_or(DOCUMENTS) as usize,
            dry_run,
            undo,
            policy,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{Bson, doc};

    fn parse(request: &Request) -> Result<()> {
        MigrateGrowth::parse(request).map(|_| ())
    }

    #[test]
    fn a_batch_begins_after_any_id() {
        for id in [Bson::Null, Bson::Int32(-1), "x".into(), Bson::MinKey, doc! { "a": 1 }.into()] {
            let request = request(&doc! { "migrateGrowth": "c", "$db": "d", "after": id.clone() });
            let after = MigrateGrowth::parse(&request).unwrap().after;
            assert_eq!(after.and_then(|after| Bson::try_from(after).ok()), Some(id));
        }
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "migrateGrowth": "c", "$db": "d" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("migrateGrowth", "string symbol", 73),
                ("dryRun", "bool number null", 14),
                ("undo", "bool number null", 14),
            ],
        );
        check_codes(
            parse,
            &base,
            &[
                (doc! { "limit": 0 }, 2),
                (doc! { "limit": 1_000_000 }, 2),
                (doc! { "policy": {} }, 72),
                (doc! { "policy": 1, "dryRun": true }, 14),
                (doc! { "policy": {}, "dryRun": true, "undo": true }, 72),
            ],
        );
    }
}
