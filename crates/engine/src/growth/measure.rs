//! How long the arrays are that a policy names, read from documents as they are
//! stored: of an array out of line the stub knows the length.

use super::event::{Lengthened, LengthenedArrays, Lengths};
use crate::storage::large::{self, Secret};
use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use guard::Policy;
use guard::patterns::ArrayLength;
use guard::patterns::overflow::{Counters, Seen};
use guard::patterns::place;
use guard::policy::{ArrayRule, OnLimit};
use language::Needs;
use language::update::Update;
use smallvec::SmallVec;
use value::{Element, Elements, Path, elements};
use write::Version;

/// Loads what of a document is out of line; `None` if nothing was.
pub type Load<'l> = dyn FnMut(&RawDocument, &Needs) -> Result<Option<RawDocumentBuf>> + 'l;

/// A document becomes another.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    pub before: Option<Version<'a>>,
    pub after: Option<Version<'a>>,
    /// The update, which bounds what may have changed.
    pub update: Option<&'a Update>,
    /// What patterns have measured.
    pub measured: &'a [ArrayLength],
}

/// Which of the arrays that have been measured change their lengths.
pub fn measured(measured: &[ArrayLength]) -> LengthenedArrays {
    measured.iter().filter_map(Lengthened::of).collect()
}

/// Which of a policy's arrays change their lengths.
pub fn lengthened(
    policy: &Policy,
    exchange: Exchange<'_>,
    secret: &Secret,
    load: &mut Load<'_>,
) -> Result<LengthenedArrays> {
    let Exchange { before, after, update, measured } = exchange;
    let mut changed = LengthenedArrays::new();
    for (at, rule) in policy.arrays.iter().enumerate() {
        if let Some(measured) = measured.iter().find(|measured| measured.rule == at) {
            changed.extend(Lengthened::of(measured));
            continue;
        }
        if update.is_some_and(|update| !may_lengthen(update, rule)) {
            continue;
        }
        let glance = |version| Glance::of(version, rule, secret);
        let (before, after) = (before.map(glance), after.map(glance));
        if let (Some(before), Some(after)) = (&before, &after)
            && before.is_same(after, rule)
        {
            continue;
        }
        let mut measure = |glance: Option<Glance<'_>>| match glance {
            Some(glance) => glance.lengths(rule, secret, load),
            None => Ok(Lengths::default()),
        };
        let (before, after) = (measure(before)?, measure(after)?);
        if before != after {
            changed.push(Lengthened { rule: at, before, after });
        }
    }
    Ok(changed)
}

/// What the arrays that a policy shows whole take beyond what the document holds of them.
pub fn paged(policy: &Policy, version: Version<'_>, secret: &Secret) -> u64 {
    if version.sidecar.is_none() || !policy.merges() {
        return 0;
    }
    let beyond = policy.merged().map(|rule| {
        let counters = Counters::read(version, rule);
        if counters.pages == 0 || counters.bytes.is_none() {
            return 0;
        }
        let head = place::find(version.document, &rule.path);
        let head = head.map_or(0, |head| large::bytes(&head, secret));
        counters.mass().array_bytes().saturating_sub(head) as u64
    });
    beyond.sum()
}

/// Whether an update may change how long the arrays of a rule are. Until those that overflow
/// have been counted, whatever is written first may.
fn may_lengthen(update: &Update, rule: &ArrayRule) -> bool {
    !rule.is_counted() || rule.paths().any(|path| update.touches(path))
}

/// How long the arrays of a rule are in a document. Of one that overflows the
/// document has counted all elements, those on pages too.
pub fn lengths(
    version: Version<'_>,
    rule: &ArrayRule,
    secret: &Secret,
    load: &mut Load<'_>,
) -> Result<Lengths> {
    Glance::of(version, rule, secret).lengths(rule, secret, load)
}

/// A document, and what its counters say of an array that overflows.
struct Glance<'d> {
    document: &'d RawDocument,
    counters: Counters,
}

impl<'d> Glance<'d> {
    fn of(version: Version<'d>, rule: &ArrayRule, secret: &Secret) -> Glance<'d> {
        let mut counters = Counters::default();
        if let OnLimit::Overflow(overflow) = &rule.on_limit {
            let seen = Seen::of(version, overflow);
            let said = seen.counters();
            // A count beside no array counts nothing.
            if said.pages > 0 || seen.array.is_some_and(|it| is_array(&it, secret)) {
                counters = said;
            }
        }
        Glance { document: version.document, counters }
    }

    /// Whether the arrays are as long as in the other, as far as that is known.
    fn is_same(&self, other: &Glance<'_>, rule: &ArrayRule) -> bool {
        if self.counters.count.is_some() || other.counters.count.is_some() {
            return self.counters == other.counters;
        }
        place::unchanged(self.document, other.document, &rule.path)
    }

    fn lengths(self, rule: &ArrayRule, secret: &Secret, load: &mut Load<'_>) -> Result<Lengths> {
        if let Some(length) = self.counters.length() {
            return Ok(length.into());
        }
        let pages = u32::try_from(self.counters.pages).unwrap_or(u32::MAX);
        let mut found = Found { path: &rule.path, secret, each: SmallVec::new(), unknown: false };
        found.look(elements(self.document), 0);
        if found.unknown {
            // Arrays in an array that is out of line.
            let needs = Needs::Paths([rule.path.clone()].into_iter().collect());
            if let Some(loaded) = load(self.document, &needs)? {
                found.each.clear();
                found.look(elements(&loaded), 0);
            }
        }
        Ok(Lengths { each: found.each, pages })
    }
}

/// Whether this is an array, be it out of line.
fn is_array(field: &Element<'_>, secret: &Secret) -> bool {
    match field.kind {
        ElementType::Array => true,
        ElementType::Binary => {
            large::hidden(field, secret).is_some_and(|hidden| hidden.kind == ElementType::Array)
        }
        _ => false,
    }
}

struct Found<'a> {
    path: &'a Path,
    secret: &'a Secret,
    each: SmallVec<[u32; 1]>,
    /// Whether something was met that would have to be loaded.
    unknown: bool,
}

impl Found<'_> {
    fn look(&mut self, mut fields: Elements<'_>, at: usize) {
        let Some(field) = fields.find_key(self.path.component(at)) else { return };
        let last = at + 1 == self.path.len();
        match field.kind {
            ElementType::Array if last => self.each.push(large::items(&field)),
            ElementType::EmbeddedDocument if !last => self.look(field.children(), at + 1),
            ElementType::Array => {
                for item in field.children().items() {
                    if item.kind == ElementType::EmbeddedDocument {
                        self.look(item.children(), at + 1);
                    }
                }
            }
            ElementType::Binary => match large::hidden(&field, self.secret) {
                Some(hidden) if last && hidden.kind == ElementType::Array => match hidden.items {
                    Some(items) => self.each.push(items),
                    None => self.unknown = true,
                },
                Some(hidden) => self.unknown |= !last && hidden.kind == ElementType::Array,
                None => {}
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;
    use command::Namespace;

    const SECRET: Secret = [7; 8];

    fn policy() -> Policy {
        let policy = rawdoc! {
            "arrays": {
                "a": { "max": 5_000 },
                "c.d": { "max": 5_000 },
                "o": { "max": 3, "on_limit": "overflow" },
            },
        };
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = guard::policy::legacy::written_out(&namespace, &policy);
        Policy::parse(&namespace, &policy).unwrap()
    }

    /// What is stored of a document, and its lengths by rule.
    fn measured(document: &RawDocument) -> Vec<Vec<u32>> {
        let split = large::split(document, None, &SECRET, &[]);
        let length = u32::from_le_bytes(*split.record.first_chunk().unwrap()) as usize;
        let stored = RawDocument::from_bytes(&split.record[..length]).unwrap();
        let mut loaded = 0;
        let mut load = |_: &RawDocument, _: &Needs| {
            loaded += 1;
            Ok(Some(document.to_owned()))
        };
        let policy = policy();
        let rules = policy.arrays.iter();
        let lengths: Vec<_> = rules
            .map(|rule| lengths(stored.into(), rule, &SECRET, &mut load).unwrap().each.into_vec())
            .collect();
        assert!(loaded <= 1, "only what is in an array out of line is loaded");
        lengths
    }

    #[test]
    fn arrays_are_measured_where_they_stand() {
        let document = rawdoc! { "_id": 1, "a": [1, 2, 3], "c": [{ "d": [1] }, { "d": [] }, 5] };
        assert_eq!(measured(&document), [vec![3], vec![1, 0], vec![]]);
        let counted = rawdoc! { "_id": 1, "o": [1, 2], "oCount": 9, "oOverflowPages": 3 };
        assert_eq!(measured(&counted), [vec![], vec![], vec![9]]);
        let lies = rawdoc! { "_id": 1, "o": 5, "oCount": 9 };
        assert_eq!(measured(&lies), [vec![], vec![], vec![]]);
        let not_yet = rawdoc! { "_id": 1, "a": 1, "c": 2, "o": [1, 2] };
        assert_eq!(measured(&not_yet), [vec![], vec![], vec![2]]);
    }

    #[test]
    fn arrays_out_of_line_are_measured_too() {
        let long: bson::RawArrayBuf = (0..4_000).map(bson::RawBson::Int32).collect();
        let document = rawdoc! { "_id": 1, "a": long.clone(), "c": [{ "d": long }, { "d": [1] }] };
        assert_eq!(measured(&document), [vec![4_000], vec![4_000, 1], vec![]]);
    }

    #[test]
    fn only_what_changes_is_noted() {
        let mut load = |_: &RawDocument, _: &Needs| Ok(None);
        let mut noted = |before: Option<&RawDocument>, after: Option<&RawDocument>| -> Vec<_> {
            let (before, after) = (before.map(Version::from), after.map(Version::from));
            let exchange = Exchange { before, after, update: None, measured: &[] };
            let changed = lengthened(&policy(), exchange, &SECRET, &mut load).unwrap();
            let each = |lengths: Lengths| lengths.each.into_vec();
            changed.into_iter().map(|it| (it.rule, each(it.before), each(it.after))).collect()
        };
        let before = rawdoc! { "_id": 1, "a": [1], "o": [1], "oCount": 1, "x": 1 };
        let same = rawdoc! { "_id": 1, "a": [1], "o": [2], "oCount": 1, "x": 2 };
        let pushed = rawdoc! { "_id": 1, "a": [1, 2], "o": [1, 2], "oCount": 2, "x": 1 };
        assert!(noted(Some(&before), Some(&same)).is_empty());
        let both = [(0, vec![1], vec![2]), (2, vec![1], vec![2])];
        assert_eq!(noted(Some(&before), Some(&pushed)), both);
        assert_eq!(noted(None, Some(&before)), [(0, vec![], vec![1]), (2, vec![], vec![1])]);
        assert_eq!(noted(Some(&before), None), [(0, vec![1], vec![]), (2, vec![1], vec![])]);
    }
}
