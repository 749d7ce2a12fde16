//! A collection's documents looked through, in the order of `_id`s, for what they lack under a
//! policy. Nothing is written.

mod documents;

pub use documents::Documents;

use crate::adopt::{Need, PageSize, looked_at};
use crate::patterns::overflow::{Counters, Seen, page_filter};
use crate::patterns::place;
use crate::policy::{OnLimit, Overflow, Policy};
use bson::{RawBsonRef, rawdoc};
use error::Result;
use language::Needs;
use write::{Outline, Snapshot, StoredRow, Visit};

#[derive(Debug, Clone, Copy)]
pub struct Survey<'a> {
    pub policy: &'a Policy,
    /// Whether it is to be known what settling costs, or only who is over.
    pub costs: bool,
}

impl Survey<'_> {
    /// What a document lacks, and the document with what was loaded to see that.
    pub async fn need<S: Snapshot>(
        &self,
        snapshot: &mut S,
        row: &S::Row,
    ) -> Result<(S::Row, Need)> {
        let (needs, surely_over) = self.looked_at(snapshot, row);
        let row = snapshot.load(row, &needs).await?;
        let mut pages = Vec::new();
        for rule in self.policy.overflows() {
            pages.push(match Seen::of(row.version(), rule).counters().pages {
                0 => Vec::new(),
                _ => page_sizes(snapshot, rule, place::id(&row)).await?,
            });
        }
        let mut need = Need::of(self.policy, row.version(), snapshot.size(&row), &pages);
        need.bounds |= surely_over;
        // Where they can be trusted, a value that is not loaded is not missed.
        need.counters &= !self.policy.is_counted();
        Ok((row, need))
    }

    /// Which values must be loaded, and whether the weight of some array is enough to know that
    /// it is over its bounds.
    fn looked_at<S: Snapshot>(&self, snapshot: &S, row: &S::Row) -> (Needs, bool) {
        let all = looked_at(self.policy);
        if matches!(all, Needs::All) {
            return (all, false);
        }
        let (mut paths, mut surely_over) = (Vec::new(), false);
        for rule in &self.policy.arrays {
            let holds = match snapshot.outline(row, &rule.path) {
                Some(Outline { bytes, items: Some(items) }) => Some(rule.bounds.hold(items, bytes)),
                Some(Outline { bytes, items: None }) => rule.bounds.hold_bytes(bytes),
                None => None,
            };
            let counted = match &rule.on_limit {
                OnLimit::Overflow(overflow) => {
                    let seen = Seen::of(row.version(), overflow);
                    let Counters { pages, bytes, .. } = seen.counters();
                    let weighed = overflow.total.max_bytes.is_none() || bytes.is_some();
                    (overflow.counted && (pages == 0 || weighed)) || !seen.says_something()
                }
                _ => true,
            };
            match holds {
                Some(true) if counted => {}
                Some(false) if counted && !self.costs => surely_over = true,
                _ => paths.push(rule.path.clone()),
            }
        }
        (Needs::Paths(paths), surely_over)
    }
}

/// The pages of a document's array, without what they hold.
async fn page_sizes<S: Snapshot>(
    snapshot: &mut S,
    rule: &Overflow,
    parent: RawBsonRef<'_>,
) -> Result<Vec<PageSize>> {
    let mut sizes = Vec::new();
    each_page(snapshot, rule, parent, &Needs::none(), &mut |page, bytes| {
        sizes.push(PageSize::of(rule, parent, page, bytes));
    })
    .await?;
    Ok(sizes)
}

/// Visits the pages of a document's array in order, with what each weighs.
pub(crate) async fn each_page<S: Snapshot>(
    snapshot: &mut S,
    rule: &Overflow,
    parent: RawBsonRef<'_>,
    needs: &Needs,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let (filter, sort) = (page_filter(rule, parent, None)?, rawdoc! { "page": 1 });
    snapshot.each(&rule.into, &filter, &sort, needs, visit).await
}
