//! What a stored document shows of its arrays that overflow, before an update is applied.

use super::push::Push;
use super::{Counters, Seen};
use crate::patterns::measured::{ArrayLength, ArrayLengths, Length};
use crate::patterns::place;
use crate::patterns::plan::{Plan, Reach};
use crate::policy::{OnLimit, Overflow, Policy};
use bson::RawDocument;
use bson::spec::ElementType;
use language::Needs;
use language::update::Update;
use smallvec::SmallVec;
use std::sync::Arc;
use value::{Element, wide};
use write::{Applied, Version};

/// What a row shows.
#[derive(Default)]
pub struct Glance<'a> {
    /// The update is a push onto one array, and nothing else.
    pub push: Option<Push<'a>>,
    /// Otherwise the arrays that it meets.
    pub arrays: SmallVec<[Met<'a>; 2]>,
}

impl<'a> Glance<'a> {
    /// Where the row alone decides what becomes of it: it keeps its arrays whole and has what
    /// the update looks at.
    pub fn of(
        policy: &'a Policy,
        row: Version<'a>,
        applied: &Applied<'_, Plan>,
    ) -> Option<Glance<'a>> {
        let push = Push::of(policy, row, applied.plan);
        if push.is_some() {
            return Some(Glance { push, ..Glance::default() });
        }
        let _entered = wide::enter(row.document);
        let mut arrays = SmallVec::new();
        for met in Met::all(policy, &applied.plan.reach, row) {
            if !met.is_simple() {
                return None;
            }
            arrays.push(met);
        }
        let is_loaded = missing(&arrays, applied.update, applied.loaded).next().is_none();
        is_loaded.then_some(Glance { push: None, arrays })
    }

    pub fn is_push(&self) -> bool {
        self.push.is_some()
    }
}

/// An array that an update meets.
#[derive(Clone, Copy)]
pub struct Met<'a> {
    /// Which array of the policy it is.
    pub at: usize,
    pub rule: &'a Arc<Overflow>,
    /// What the row shows of it, and says.
    pub was: Seen<'a>,
    counters: Counters,
    /// Whether it has pages.
    pub paged: bool,
}

impl<'a> Met<'a> {
    /// The arrays of a document that overflow. Those that have been counted, and that an update
    /// leaves as they are, have nothing to do with it.
    pub fn all(
        policy: &'a Policy,
        reach: &Reach,
        row: Version<'a>,
    ) -> impl Iterator<Item = Met<'a>> {
        policy.arrays.iter().enumerate().filter_map(move |(at, rule)| {
            let OnLimit::Overflow(rule) = &rule.on_limit else { return None };
            if rule.counted && !reach.may_change(at) && is_settled(row.document, rule) {
                return None;
            }
            let was = Seen::of(row, rule);
            let counters = was.counters();
            Some(Met { at, rule, was, counters, paged: counters.pages > 0 })
        })
    }

    /// What a document shows of the array after an update.
    pub fn seen<'n>(&self, reach: &Reach, after: &'n RawDocument) -> Seen<'n>
    where
        'a: 'n,
    {
        match reach.counters {
            true => self.was.in_written(after, self.rule),
            false => self.was.in_next(after, self.rule),
        }
    }

    /// Whether the document alone counts the array, in one field.
    fn is_simple(&self) -> bool {
        !self.paged && self.rule.counted && self.rule.path.len() == 1
    }

    /// Adds how long the array was and is, if the document says how long it was.
    pub fn measure(&self, after: Counters, lengths: &mut ArrayLengths) {
        let unsaid = after.count.is_none() && self.rule.count.is_none() && self.was.array.is_some();
        if !unsaid && let Known::Length(before) = self.known() {
            lengths.push(ArrayLength { rule: self.at, before, after: after.length() });
        }
    }

    /// What is said of the array's length, or can be counted. A count beside no array says
    /// nothing.
    fn known(&self) -> Known {
        let array = self.was.array.filter(|found| found.kind == ElementType::Array);
        match (self.counters.length(), array) {
            (Some(length), _) if self.paged => Known::Length(Some(length)),
            (Some(length), Some(_)) => Known::Length(Some(length)),
            (None, Some(array)) if self.rule.count.is_none() && self.counters.pages == 0 => {
                let elements = array.children().count();
                Known::Length(Some(Length { elements, pages: 0 }))
            }
            _ if self.was.array.is_none() && self.counters.pages == 0 => Known::Length(None),
            _ => Known::Nothing,
        }
    }
}

/// What is known of an array's length.
enum Known {
    /// `None`: there is no array.
    Length(Option<Length>),
    Nothing,
}

/// Whether a document has nothing to say of an array that stays as it is: it has been counted,
/// or is not there. The first write under a policy counts what there was before.
fn is_settled(row: &RawDocument, rule: &Overflow) -> bool {
    let is_number = |it: Element<'_>| matches!(it.kind, ElementType::Int32 | ElementType::Int64);
    let Some(count) = &rule.count else { return true };
    let [array, count] = place::find_all(row, [&rule.path, count]);
    array.is_some() == count.is_some_and(is_number)
}

/// The arrays that parts of an update are about and that are not loaded.
pub fn missing<'m, 'r>(
    arrays: &'m [Met<'r>],
    update: &'m Update,
    loaded: &'m Needs,
) -> impl Iterator<Item = &'r Overflow> + use<'m, 'r> {
    let is_missing = move |met: &&Met<'_>| {
        let path = &met.rule.path;
        met.was.array.is_some_and(|found| found.kind != ElementType::Array)
            && !loaded.contains(path)
            && update.has_part(path)
    };
    arrays.iter().filter(is_missing).map(|met| &**met.rule)
}
