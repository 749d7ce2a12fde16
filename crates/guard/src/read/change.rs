//! Changes as clients see them, for change streams: documents with the arrays whole that a change
//! is about, and what has been appended without reading the rest.

use super::transaction::Inside;
use super::{Show, show, with_part};
use crate::patterns::overflow::{Counters, has_pages, has_room};
use crate::patterns::{Plan, fields, place};
use crate::policy::{ArrayRule, Overflow, Policy, Read};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Result};
use language::update::{Scope, Update};
use language::{Extent, Needs};
use value::{ArrayWriter, Element, Path};
use write::limits::DOCUMENT_BYTES_MAX;
use write::{ShownChange, ShownDocument, StoredRow, Transaction, Version, Watched};

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

/// A document of which the policy itself moves elements: between it and its pages, or away.
/// Clients see that only where something is not what it was to them.
pub struct Moved<'a, R> {
    policy: &'a Policy,
    watched: Watched,
    row: &'a R,
    /// As it was, where its event is to hold that.
    former: Option<ShownDocument>,
}

impl<'a, R: StoredRow> Moved<'a, R> {
    /// Before anything is written.
    pub async fn new<T: Transaction<Row = R>>(
        policy: &'a Policy,
        transaction: &mut T,
        row: &'a R,
    ) -> Result<Moved<'a, R>> {
        let watched = transaction.watched(&policy.namespace);
        let former = match watched {
            Watched::Documents => whole(policy, transaction, row.version(), None).await?,
            Watched::Not | Watched::Changes => None,
        };
        Ok(Moved { policy, watched, row, former })
    }

    /// What of the document must be loaded.
    pub fn needs<T: Transaction>(transaction: &T, namespace: &Namespace, needs: &mut Needs) {
        if transaction.watched(namespace) == Watched::Documents {
            needs.all();
        }
    }

    /// Says how clients see what has become of the document. `shorter` are the arrays that have
    /// lost elements. Whether they see anything.
    pub async fn announce<T: Transaction<Row = R>>(
        self,
        transaction: &mut T,
        after: Version<'_>,
        shorter: &[&Path],
    ) -> Result<bool> {
        if self.watched == Watched::Not {
            return Ok(false);
        }
        let is_shorter = |rule: &&Overflow| shorter.contains(&&rule.path);
        let lost = arrays(self.policy, None).filter(is_shorter);
        let latter = with_whole(self.policy, transaction, after, lost).await?;
        let latter = latter.map_or_else(|| after.document.to_owned(), |latter| latter.document);
        let change = self.change(latter, shorter)?;
        if !change.is_visible() {
            return Ok(false);
        }
        let images = match self.watched {
            Watched::Documents => {
                let latter = whole(self.policy, transaction, after, None).await?;
                let former = self.former.unwrap_or_else(|| ShownDocument::from(&**self.row));
                let latter = latter.unwrap_or_else(|| ShownDocument::from(after.document));
                Some([former.document, latter.document])
            }
            Watched::Not | Watched::Changes => None,
        };
        transaction.announce(ShownChange { images, ..change });
        Ok(true)
    }

    /// Of what clients see whole, what has only been moved stays as it was. Any other array that
    /// has changed is shown as its new value: where its elements were is not compared.
    fn change(&self, after: RawDocumentBuf, shorter: &[&Path]) -> Result<ShownChange> {
        let (mut masked, mut kept) = (fields::Edits::new(), fields::Edits::new());
        for rule in self.policy.overflows() {
            let was = place::find(self.row, &rule.path);
            let is = place::find(&after, &rule.path);
            if rule.read == Read::Merged && !shorter.contains(&&rule.path) {
                kept.push((&rule.path, was.map(|was| RawBson::from(was.value()))));
            } else if was.is_some() && is.is_some() && !place::are_identical(was, is) {
                masked.push((&rule.path, Some(RawBson::Null)));
            }
        }
        let before = fields::edit(self.row, &masked)?;
        Ok(ShownChange::of(before, fields::edit(&after, &kept)?))
    }
}

fn array(first: &[RawBsonRef<'_>], items: &[Element<'_>]) -> value::OwnedValue {
    let mut array = ArrayWriter::new();
    first.iter().for_each(|value| array.push(*value));
    items.iter().for_each(|item| array.copy(*item));
    array.finish_value()
}
