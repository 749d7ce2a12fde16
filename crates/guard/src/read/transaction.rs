//! Reading inside a transaction, as `findAndModify` and merged filters do.

use super::{Completion, Pages, SEEN_BYTES_MAX, Show, TakePage, show};
use crate::patterns::overflow::page::{Look, Walk};
use crate::patterns::overflow::{Work, filters_head, has_pages};
use crate::patterns::place;
use crate::policy::{Overflow, Policy, Read};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::Result;
use language::Needs;
use language::query::{Filter, Matched};
use std::ops::RangeInclusive;
use std::sync::Arc;
use value::{OwnedValue, Path};
use write::limits::DOCUMENT_BYTES_MAX;
use write::{StoredRow, Transaction, Version};

/// What a client is to see of a document under a projection.
pub async fn shown<T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    version: Version<'_>,
    projection: Option<&RawDocument>,
    needs: &Needs,
) -> Result<RawDocumentBuf> {
    let Version { document, sidecar } = version;
    let Some(mut completion) = Completion::new(policy, projection, &Needs::none()) else {
        return Ok(document.to_owned());
    };
    completion.restrict(needs);
    let mut whole = document.to_owned();
    for (rule, how) in &completion.arrays {
        let mut pages = Inside { policy, transaction, document };
        let seen = Version { document: &whole, sidecar };
        let shown = show(rule, how, seen, &mut pages, DOCUMENT_BYTES_MAX).await?;
        whole = shown.unwrap_or(whole);
    }
    Ok(whole)
}

/// Whether a document matches, its arrays seen as its policy says. Where that is no more than
/// the head of one, a match is refused, be it by the head or by what is in pages: a client that
/// goes by what it sees would write to the wrong document, or twice.
pub async fn matches<T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    row: &T::Row,
    filter: &Filter,
) -> Result<Option<Matched>> {
    let hidden = hidden(policy, row.version(), filter);
    let matched = matches_with(policy, policy.merged(), transaction, row, filter).await?;
    let Some(rule) = hidden else { return Ok(matched) };
    let is_matched = match matched {
        Some(_) => true,
        None => {
            let all = policy.overflows();
            matches_with(policy, all, transaction, row, filter).await?.is_some()
        }
    };
    if is_matched { Err(filters_head(rule)) } else { Ok(None) }
}

/// Refuses a match of which the filter of a write has seen no more than the head of an array.
pub fn refuse_head(policy: &Policy, version: Version<'_>, filter: &Filter) -> Result<()> {
    hidden(policy, version, filter).map_or(Ok(()), |rule| Err(filters_head(rule)))
}

/// An array with pages that a filter names, where the policy shows no more than its head.
fn hidden<'p>(
    policy: &'p Policy,
    version: Version<'_>,
    filter: &Filter,
) -> Option<&'p Arc<Overflow>> {
    let mut looks_at = Needs::none();
    filter.depends_on(&mut looks_at);
    policy.overflows().find(|rule| {
        let is_hidden = rule.read == Read::Head && looks_at.contains(&rule.path);
        is_hidden && has_pages(version, rule)
    })
}

/// Whether a document matches, with some of its arrays whole.
async fn matches_with<'p, T: Transaction>(
    policy: &'p Policy,
    rules: impl Iterator<Item = &'p Arc<Overflow>> + Send,
    transaction: &mut T,
    row: &T::Row,
    filter: &Filter,
) -> Result<Option<Matched>> {
    let mut needs = Needs::none();
    let mut whole: Option<RawDocumentBuf> = None;
    for rule in rules {
        if !has_pages(row.version(), rule) {
            continue;
        }
        filter.needs(&mut needs);
        if needs.contains(&rule.path) {
            let mut pages = Inside { policy, transaction, document: row };
            let document = whole.as_deref().unwrap_or(row);
            let version = Version { document, sidecar: row.sidecar() };
            let how = needs.extent(&rule.path).map_or(Show::Whole, Show::Part);
            let seen = show(rule, &how, version, &mut pages, SEEN_BYTES_MAX).await?;
            whole = seen.or(whole);
        }
    }
    filter.matches_at(whole.as_deref().unwrap_or(row))
}

/// Pages as a transaction sees them.
pub(super) struct Inside<'a, T> {
    pub policy: &'a Policy,
    pub transaction: &'a mut T,
    /// With the arrays loaded that are to be shown.
    pub document: &'a RawDocument,
}

impl<T: Transaction> Pages for Inside<'_, T> {
    async fn head(&mut self, rule: &Overflow) -> Result<Option<OwnedValue>> {
        Ok(place::find(self.document, &rule.path).map(OwnedValue::of))
    }

    async fn counts(
        &mut self,
        rule: &Overflow,
        parent: RawBsonRef<'_>,
    ) -> Result<Vec<(i64, usize)>> {
        let mut work = Work { policy: self.policy, rule, transaction: self.transaction, parent };
        let mut counts = Vec::new();
        let mut walk = Walk::new(Look::Count);
        while let Some(pages) = work.next(&mut walk).await? {
            counts.extend(pages.iter().map(|page| (page.number, page.count())));
        }
        Ok(counts)
    }

    async fn each_page(
        &mut self,
        rule: &Overflow,
        parent: RawBsonRef<'_>,
        numbers: RangeInclusive<i64>,
        take: &mut TakePage<'_>,
    ) -> Result<()> {
        let mut work = Work { policy: self.policy, rule, transaction: self.transaction, parent };
        let needs = Needs::Paths(vec![Path::new(rule.name())]);
        // Many are found at once; the array of each is loaded when it is its turn.
        let mut walk = Walk::after(numbers.start() - 1, Look::Count);
        while walk.last < *numbers.end()
            && let Some(pages) = work.next(&mut walk).await?
        {
            for page in pages {
                if numbers.contains(&page.number) {
                    take(work.reload(page, &needs).await?.document())?;
                }
            }
        }
        Ok(())
    }
}
