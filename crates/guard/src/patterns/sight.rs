//! What a document shows of the arrays that a policy names, found in one walk.

use super::overflow::Seen;
use super::place;
use crate::policy::{ArrayRule, OnLimit, Policy};
use bson::RawDocument;
use bson::spec::ElementType;
use error::Result;
use smallvec::{SmallVec, smallvec};
use value::{Element, elements};
use write::Length;

/// What is shown for each of some rules, in their order.
#[derive(Debug)]
pub struct Sight<'d> {
    document: &'d RawDocument,
    shown: SmallVec<[Shown<'d>; 2]>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Shown<'d> {
    pub seen: Seen<'d>,
    /// How many elements the array has, if it is one.
    pub len: Option<usize>,
    /// Whether the document has more than one field of a name that the rule looks at.
    twice: bool,
}

impl<'d> Sight<'d> {
    pub fn of(policy: &Policy, document: &'d RawDocument) -> Sight<'d> {
        let rules = &policy.arrays;
        let mut shown: SmallVec<[Shown<'_>; 2]> = smallvec![Shown::default(); rules.len()];
        for (key, field) in elements(document).keyed() {
            if !policy.digest.paths.has(key) {
                continue;
            }
            for (rule, shown) in rules.iter().zip(&mut shown) {
                shown.meet(key, field, rule);
            }
        }
        for (rule, shown) in rules.iter().zip(&mut shown) {
            match &rule.on_limit {
                OnLimit::Overflow(overflow) => shown.seen.look_deeper(document, overflow),
                _ if rule.path.len() > 1 => {
                    shown.seen.array = place::find(document, &rule.path);
                    // On a path through arrays there may be more of them.
                    continue;
                }
                _ => {}
            }
            let array = shown.seen.array.filter(|found| found.kind == ElementType::Array);
            shown.len = array.map(|array| array.children().count());
        }
        Sight { document, shown }
    }

    pub fn document(&self) -> &'d RawDocument {
        self.document
    }

    /// The rules, and what is seen of their arrays.
    pub fn rules<'s, 'p>(
        &'s self,
        rules: &'p [ArrayRule],
    ) -> impl Iterator<Item = (&'p ArrayRule, &'s Shown<'d>)> + use<'s, 'p, 'd> {
        rules.iter().zip(&self.shown)
    }

    /// Refuses a document with two fields of the same name on a path of the policy.
    pub fn check_single(&self, rules: &[ArrayRule]) -> Result<()> {
        for (rule, shown) in rules.iter().zip(&self.shown) {
            let mut checked = rule.paths().filter(|path| shown.twice || path.len() > 1);
            checked.try_for_each(|path| place::check_single(self.document, path))?;
        }
        Ok(())
    }
}

impl<'d> Shown<'d> {
    /// How long the array is, which has no pages.
    pub fn length(&self) -> Option<Length> {
        self.len.map(|elements| Length { elements, pages: 0 })
    }

    #[inline]
    fn meet(&mut self, key: &[u8], field: Element<'d>, rule: &ArrayRule) {
        if key == rule.path.as_str().as_bytes() {
            self.twice |= self.seen.array.is_some();
            self.seen.array.get_or_insert(field);
        }
        if let OnLimit::Overflow(overflow) = &rule.on_limit {
            self.twice |= self.seen.meet_counter(key, field, overflow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;
    use command::Namespace;
    use value::DocumentWriter;

    #[test]
    fn one_walk_sees_what_single_looks_find() {
        let policy = rawdoc! { "arrays": {
            "a": { "max": 3 },
            "o": { "max": 3, "on_limit": "overflow" },
            "deep.p": { "max": 3, "on_limit": "overflow" },
            "deep.q": { "max": 3 },
        } };
        let policy = Policy::parse(&Namespace::new("d", "c").unwrap(), &policy).unwrap();
        let document = rawdoc! {
            "_id": 1, "o": [1], "oCount": 1, "deep": { "p": [1, 2], "pCount": 2, "q": [] },
            "deep.q": 5, "a": 7,
        };
        let sight = Sight::of(&policy, &document);
        for (rule, Shown { seen, len, .. }) in sight.rules(&policy.arrays) {
            let found = place::find(&document, &rule.path).map(|it| it.bytes);
            assert_eq!(seen.array.map(|it| it.bytes), found, "{}", rule.path);
            if let OnLimit::Overflow(overflow) = &rule.on_limit {
                let alone = Seen::of(&document, overflow);
                assert_eq!(seen.counters(), alone.counters(), "{}", rule.path);
                assert!(seen.counters().count == *len && len.is_some());
            }
        }
        assert!(sight.check_single(&policy.arrays).is_ok());
    }

    #[test]
    fn names_that_stand_twice_are_refused() {
        let policy = rawdoc! { "arrays": { "a": { "max": 3 } } };
        let policy = Policy::parse(&Namespace::new("d", "c").unwrap(), &policy).unwrap();
        let mut twice = DocumentWriter::new();
        twice.append_i32("a", 1);
        twice.append_i32("a", 2);
        let twice = twice.finish();
        let refused = Sight::of(&policy, &twice).check_single(&policy.arrays).unwrap_err();
        assert!(refused.message().contains("more than one field 'a'"), "{refused}");
        let policy = rawdoc! { "arrays": { "o": { "max": 3, "on_limit": "overflow" } } };
        let policy = Policy::parse(&Namespace::new("d", "c").unwrap(), &policy).unwrap();
        let mut twice = DocumentWriter::new();
        twice.append_i32("oCount", 1);
        twice.append_i32("oCount", 2);
        let twice = twice.finish();
        let refused = Sight::of(&policy, &twice).check_single(&policy.arrays).unwrap_err();
        assert!(refused.message().contains("more than one field 'oCount'"), "{refused}");
    }
}
