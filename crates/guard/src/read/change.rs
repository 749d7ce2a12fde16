//! Changes as clients see them, for change streams: documents with the arrays whole that a change
//! is about, and what has been appended without reading the rest.

use super::transaction::Inside;
use super::{Show, show, with_part};
use crate::patterns::overflow::{Counters, has_pages, has_room};
use crate::patterns::{Plan, fields, place};
use crate::policy::{ArrayRule, Overflow, Policy, Read};
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use language::Extent;
use language::update::{Scope, Update};
use value::{ArrayWriter, Element, Path};
use write::limits::DOCUMENT_BYTES_MAX;
use write::{ShownChange, ShownDocument, Transaction, Version};

/// Every element, or an error where that is too much.
const ALL: Show = Show::Part(Extent { len: true, first: usize::MAX, last: 0 });

/// The arrays that clients see whole and that an update may change; without one, all of them.
fn arrays<'p>(policy: &'p Policy, plan: Option<&Plan>) -> impl Iterator<Item = &'p Overflow> {
    let rules = policy.arrays.iter().enumerate();
    let rules = rules.filter(move |(at, _)| plan.is_none_or(|plan| plan.reach.touches(*at)));
    rules.filter_map(|(_, rule)| merged(rule))
}

fn merged(rule: &ArrayRule) -> Option<&Overflow> {
    rule.overflow().filter(|rule| rule.read == Read::Merged)
}

/// The paths of the arrays that an update may change.
pub fn looked_at<'p>(policy: &'p Policy, plan: &Plan) -> impl Iterator<Item = &'p Path> {
    arrays(policy, Some(plan)).map(|rule| &rule.path)
}

/// A document with its arrays whole, or those that an update may change; `None` if none of them
/// has pages. One that is too large for that stays a head: no write fails because it is watched.
pub async fn whole<T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    version: Version<'_>,
    plan: Option<&Plan>,
) -> Result<Option<ShownDocument>> {
    with_whole(policy, transaction, version, arrays(policy, plan)).await
}

async fn with_whole<'p, T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    version: Version<'_>,
    arrays: impl Iterator<Item = &'p Overflow> + Send,
) -> Result<Option<ShownDocument>> {
    let Version { document, sidecar } = version;
    let mut whole: Option<ShownDocument> = None;
    for rule in arrays.filter(|rule| has_pages(version, rule)) {
        let mut shown = whole.unwrap_or_else(|| ShownDocument::from(document));
        let mut pages = Inside { policy, transaction, document };
        let seen = Version { document: &shown.document, sidecar };
        match show(rule, &ALL, seen, &mut pages, DOCUMENT_BYTES_MAX).await {
            Ok(completed) => shown.document = completed.unwrap_or(shown.document),
            Err(error) if error.code() == Code::BSONObjectTooLarge => {
                shown.heads.push(rule.path.clone());
            }
            Err(error) => return Err(error),
        }
        whole = Some(shown);
    }
    Ok(whole)
}

/// What is different between two documents, shown by `whole`. Where no more than the head of an
/// array is shown, that is shown as its new value.
pub fn compared(
    policy: &Policy,
    plan: &Plan,
    before: ShownDocument,
    after: ShownDocument,
) -> Result<ShownChange> {
    let is_head = |rule: &&Overflow| [&before, &after].iter().any(|it| it.has_head(&rule.path));
    let is_there = |rule: &&Overflow| {
        [&before, &after].iter().all(|it| place::find(&it.document, &rule.path).is_some())
    };
    let heads = arrays(policy, Some(plan)).filter(is_head).filter(is_there);
    let heads: fields::Edits<'_> = heads.map(|rule| (&rule.path, Some(RawBson::Null))).collect();
    if heads.is_empty() {
        return Ok(ShownChange::of(before.document, after.document));
    }
    let masked = fields::edit(&before.document, &heads)?;
    let images = Some([before.document, after.document.clone()]);
    Ok(ShownChange { images, ..ShownChange::of(masked, after.document) })
}

/// The array that an update appends to, if it does nothing to others that clients see whole. What
/// it does to the rest of the document shows there.
pub fn appended<'p>(policy: &'p Policy, update: &Update, plan: &'p Plan) -> Option<Appended<'p>> {
    let touched = policy.arrays.iter().enumerate().filter(|(at, _)| plan.reach.touches(*at));
    let mut merged = touched.filter_map(|(at, rule)| Some((at, merged(rule)?)));
    let (at, rule) = merged.next()?;
    if merged.next().is_some() {
        return None;
    }
    let part = plan.apart.part(policy, update, at).filter(|part| part.scope == Scope::End)?;
    Some(Appended { rule, added: part.added() })
}

/// Elements that are added at the end of an array.
pub struct Appended<'p> {
    rule: &'p Overflow,
    added: Vec<Element<'p>>,
}

impl Appended<'_> {
    /// Whether that is all: at its bound an array loses at its front what it gets at its end.
    pub fn is_all(&self, before: Version<'_>) -> bool {
        has_room(before, self.rule, self.added.len())
    }

    /// Whether it may be more than that.
    pub fn may_drop(&self) -> bool {
        self.rule.drops()
    }

    /// Both documents with the last element before the new ones, and these behind it; `None` if
    /// the array has no pages: it shows as it is stored. No page is read.
    pub fn change(&self, before: &RawDocument, after: Version<'_>) -> Result<Option<ShownChange>> {
        let Appended { rule, added } = self;
        let counters = Counters::read(after, rule);
        if counters.pages == 0 {
            return Ok(None);
        }
        let was = counters.count.unwrap_or(0).saturating_sub(added.len());
        if was == 0 {
            // It is as new as its elements.
            let after = with_part(rule, after.document, &array(&[], added))?;
            return Ok(Some(ShownChange::of(before.to_owned(), after)));
        }
        let last = [RawBsonRef::Null];
        let before = with_part(rule, before, &array(&last, &[]))?;
        let after = with_part(rule, after.document, &array(&last, added))?;
        let cut = Some((rule.path.clone(), was - 1));
        Ok(Some(ShownChange { cut, ..ShownChange::of(before, after) }))
    }
}

fn array(first: &[RawBsonRef<'_>], items: &[Element<'_>]) -> value::OwnedValue {
    let mut array = ArrayWriter::new();
    first.iter().for_each(|value| array.push(*value));
    items.iter().for_each(|item| array.copy(*item));
    array.finish_value()
}
