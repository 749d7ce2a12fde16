//! A push onto an array that its document keeps whole: most of all writes that meet an array
//! that overflows, and so the one that is kept short.

use super::sidecar;
use crate::patterns::fields::Overwrite;
use crate::patterns::measured::{ArrayLength, Length, Measured};
use crate::patterns::plan::Plan;
use crate::policy::{OnLimit, Overflow, Policy};
use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use smallvec::smallvec;
use value::{Element, Path, elements};
use write::Version;

/// An update that does nothing but append to one array, which its document keeps whole.
pub struct Push<'a> {
    /// Which array of the policy it is about.
    at: usize,
    rule: &'a Overflow,
    array: Element<'a>,
    /// Where its length stands, if the policy names a field for that.
    count: Option<Element<'a>>,
    /// How many elements there were and will be.
    was: usize,
    len: usize,
}

impl<'a> Push<'a> {
    /// `None` if there is more to it.
    pub fn of(policy: &'a Policy, row: Version<'a>, plan: &Plan) -> Option<Push<'a>> {
        let (at, appended) = (plan.reach.only?, plan.reach.appended?);
        let OnLimit::Overflow(rule) = &policy.arrays.get(at)?.on_limit else { return None };
        let is_flat = |path: &Path| path.len() == 1;
        let all_flat = is_flat(&rule.path) && rule.named().all(is_flat);
        if !rule.counted || !all_flat || sidecar::read(row.sidecar, rule).is_some() {
            return None;
        }
        let name = |name: &'a Option<Path>| name.as_ref().unwrap_or(&rule.path);
        let paths = [&rule.path, name(&rule.count), name(&rule.pages)];
        let [array, count, pages] = elements(row.document).find_keys(paths.map(Path::as_str));
        let array = array.filter(|it| it.kind == ElementType::Array)?;
        if rule.pages.is_some() && pages.is_some() {
            return None;
        }
        let (count, was) = match &rule.count {
            None => (None, array.children().count()),
            Some(_) => {
                let count = count.filter(|it| it.kind == ElementType::Int32)?;
                let number = i32::from_le_bytes(*count.bytes.first_chunk()?);
                (Some(count), usize::try_from(number).ok()?)
            }
        };
        Some(Push { at, rule, array, count, was, len: was.checked_add(appended)? })
    }

    /// The document with the count of what the update has appended; `None` if it has no room
    /// for that.
    pub fn count(
        &self,
        row: &RawDocument,
        after: RawDocumentBuf,
    ) -> Result<Option<RawDocumentBuf>> {
        let grown = after.as_bytes().len().saturating_sub(row.as_bytes().len());
        if !self.rule.head.hold(self.len, self.array.bytes.len() + grown) {
            return Ok(None);
        }
        let Some(count) = self.count else { return Ok(Some(after)) };
        match self.count_in(row, count, grown) {
            Some(count) => count.write(after).map(Some),
            None => Ok(None),
        }
    }

    /// Where the count is to be written once the array has grown: what stands behind that
    /// has moved with it.
    fn count_in(&self, row: &RawDocument, count: Element<'_>, grown: usize) -> Option<Overwrite> {
        let number = i32::try_from(self.len).ok()?;
        let is_behind = count.bytes.as_ptr() > self.array.bytes.as_ptr();
        let count = Overwrite::new(row, count, number)?;
        Some(if is_behind { count.moved_by(grown) } else { count })
    }

    pub fn measured(&self) -> Measured {
        let length = |elements| Some(Length { elements, pages: 0 });
        let array =
            ArrayLength { rule: self.at, before: length(self.was), after: length(self.len) };
        Measured { arrays: smallvec![array], complete: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::legacy;
    use bson::{RawBson, RawBsonRef, rawdoc};
    use command::Namespace;
    use language::Context;
    use language::query::Matched;
    use language::update::Update;

    fn pushed(update: RawDocumentBuf, row: &RawDocument) -> Option<RawDocumentBuf> {
        let policy = rawdoc! { "arrays": { "o": { "max": 4, "on_limit": "overflow" } } };
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = legacy::written_out(&namespace, &policy);
        let policy = Policy::parse(&namespace, &policy).unwrap();
        let update = Update::parse(RawBsonRef::Document(&update), None, &Context::new()).unwrap();
        let push = Push::of(&policy, row.into(), &Plan::of(&policy, &update))?;
        assert!(push.measured().complete);
        let after = update.apply(row, Matched::default()).unwrap()?;
        push.count(row, after).unwrap()
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
