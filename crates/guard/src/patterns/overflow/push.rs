//! A push onto an array that its document keeps whole: most of all writes that meet an array
//! that overflows, and so the one that is kept short.

use crate::guarded;
use crate::patterns::bounds;
use crate::patterns::fields::Overwrite;
use crate::policy::{OnLimit, Overflow, Policy};
use bson::RawDocument;
use bson::spec::ElementType;
use error::Result;
use smallvec::smallvec;
use value::{Element, Path, elements};
use write::{Applied, Counted, Length, Outcome};

/// Applies an update that does nothing but append to one array, if the document has room for
/// it and has counted what is there.
pub fn push_at_once(
    policy: &Policy,
    row: &RawDocument,
    applied: &Applied<'_, guarded::Plan>,
) -> Result<Option<Outcome>> {
    let Some(push) = Push::of(policy, row, applied.plan) else { return Ok(None) };
    let Some(after) = applied.update.apply(row, applied.matched)? else {
        return Ok(Some(Outcome::default()));
    };
    let grown = after.as_bytes().len().saturating_sub(row.as_bytes().len());
    if !push.rule.head.hold(push.len, push.array.bytes.len() + grown) {
        return Ok(None);
    }
    let Some(count) = push.count_in(row, grown) else { return Ok(None) };
    if grown >= policy.digest.undeclared_bytes {
        bounds::check_undeclared(policy, Some(row), &after)?;
    }
    Ok(Some(Outcome {
        after: Some(count.write(after)?),
        counted: smallvec![push.counted()],
        all_counted: true,
        ..Outcome::default()
    }))
}

struct Push<'a> {
    /// Which array of the policy it is about.
    at: usize,
    rule: &'a Overflow,
    array: Element<'a>,
    count: Element<'a>,
    /// How many elements there were and will be.
    was: usize,
    len: usize,
}

impl<'a> Push<'a> {
    /// `None` if there is more to it.
    fn of(policy: &'a Policy, row: &'a RawDocument, plan: &guarded::Plan) -> Option<Push<'a>> {
        let (at, appended) = (plan.reach.only?, plan.reach.appended?);
        let OnLimit::Overflow(rule) = &policy.arrays.get(at)?.on_limit else { return None };
        let is_flat = |path: &Path| path.len() == 1;
        let all_flat = is_flat(&rule.path) && is_flat(&rule.count) && is_flat(&rule.pages);
        if !rule.counted || !all_flat {
            return None;
        }
        let paths = [&rule.path, &rule.count, &rule.pages];
        let [array, count, pages] = elements(row).find_keys(paths.map(Path::as_str));
        let array = array.filter(|it| it.kind == ElementType::Array)?;
        let count = count.filter(|it| it.kind == ElementType::Int32)?;
        if pages.is_some() {
            return None;
        }
        let was = usize::try_from(i32::from_le_bytes(*count.bytes.first_chunk()?)).ok()?;
        Some(Push { at, rule, array, count, was, len: was.checked_add(appended)? })
    }

    /// Where the count is to be written once the array has grown: what stands behind that
    /// has moved with it.
    fn count_in(&self, row: &RawDocument, grown: usize) -> Option<Overwrite> {
        let number = i32::try_from(self.len).ok()?;
        let count = Overwrite::new(row, self.count, number)?;
        let is_behind = self.count.bytes.as_ptr() > self.array.bytes.as_ptr();
        Some(if is_behind { count.moved_by(grown) } else { count })
    }

    fn counted(&self) -> Counted {
        let length = |elements| Some(Length { elements, pages: 0 });
        Counted { rule: self.at, before: length(self.was), after: length(self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{RawBson, RawBsonRef, RawDocumentBuf, rawdoc};
    use command::Namespace;
    use language::query::Matched;
    use language::update::Update;
    use language::{Context, Needs};

    fn pushed(update: RawDocumentBuf, row: &RawDocument) -> Option<RawDocumentBuf> {
        let policy = rawdoc! { "arrays": { "o": { "max": 4, "on_limit": "overflow" } } };
        let policy = Policy::parse(&Namespace::new("d", "c").unwrap(), &policy).unwrap();
        let update = Update::parse(RawBsonRef::Document(&update), None, &Context::new()).unwrap();
        let plan = guarded::plan(&policy, &update);
        let loaded = Needs::All;
        let matched = Matched::default();
        let applied = Applied { update: &update, plan: &plan, matched, loaded: &loaded };
        let outcome = push_at_once(&policy, row, &applied).unwrap()?;
        assert!(outcome.all_counted);
        outcome.after
    }

    fn array(items: &[i32]) -> RawBson {
        RawBson::Array(items.iter().copied().collect())
    }

    fn count_behind(items: &[i32], count: i32) -> RawDocumentBuf {
        rawdoc! { "_id": 1, "o": array(items), "x": "y", "oCount": count, "z": 1 }
    }

    fn count_before(items: &[i32], count: i32) -> RawDocumentBuf {
        rawdoc! { "_id": 1, "oCount": count, "x": "y", "o": array(items), "z": 1 }
    }

    #[test]
    fn the_count_is_written_where_it_has_moved_to() {
        for document in [count_behind, count_before] {
            let two = document(&[1, 2], 2);
            let one = rawdoc! { "$push": { "o": 3 } };
            assert_eq!(pushed(one, &two).unwrap(), document(&[1, 2, 3], 3));
            let each = rawdoc! { "$push": { "o": { "$each": [3, 4] } } };
            assert_eq!(pushed(each, &two).unwrap(), document(&[1, 2, 3, 4], 4));
        }
    }

    #[test]
    fn whatever_is_more_than_that_is_left_to_others() {
        let row = rawdoc! { "_id": 1, "o": [1, 2], "oCount": 2 };
        for update in [
            rawdoc! { "$push": { "o": { "$each": [3, 4, 5] } } },
            rawdoc! { "$push": { "o": { "$each": [3], "$slice": 2 } } },
            rawdoc! { "$push": { "o": 3 }, "$inc": { "n": 1 } },
            rawdoc! { "$addToSet": { "o": 3 } },
            rawdoc! { "$set": { "o.1": 3 } },
        ] {
            assert_eq!(pushed(update.clone(), &row), None, "{update:?}");
        }
        let one = || rawdoc! { "$push": { "o": 3 } };
        for row in [
            rawdoc! { "_id": 1, "o": [1, 2] },
            rawdoc! { "_id": 1, "o": [1, 2], "oCount": 2_i64 },
            rawdoc! { "_id": 1, "oCount": 2 },
            rawdoc! { "_id": 1, "o": 5, "oCount": 2 },
            rawdoc! { "_id": 1, "o": [1, 2], "oCount": 9, "oOverflowPages": 1 },
        ] {
            assert_eq!(pushed(one(), &row), None, "{row:?}");
        }
    }
}
