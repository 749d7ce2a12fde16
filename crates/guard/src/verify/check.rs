//! A whole collection compared with what its policy has kept of it.

use super::{Drift, DriftKind, Sequence, append_count, append_over};
use crate::adopt::{Need, Over, PageSize, looked_at};
use crate::patterns::place;
use crate::policy::{Overflow, Policy};
use crate::restore;
use crate::survey::{Documents, each_page};
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;
use language::Needs;
use std::sync::Arc;
use value::element::{get, get_value};
use value::{DocumentWriter, Number, Path};
use write::{Snapshot, StoredRow};

/// What is listed one by one; the rest is counted.
const LISTED_MAX: usize = 100;
/// What is kept in mind to be repaired by one command.
const KEPT_MAX: usize = 10_000;
/// Documents between two reports of progress.
const DOCUMENTS_PER_REPORT: u64 = 128;

/// What has been found so far.
#[derive(Debug, Default)]
pub struct Check {
    pub documents: u64,
    pub elements: u64,
    pub pages: u64,
    pub gaps: u64,
    pub oversize: u64,
    over: Vec<(RawBson, Over)>,
    /// The first drifts, and whether they have been repaired.
    pub(super) drifts: Vec<(Drift, bool)>,
    pub drifted: u64,
    pub(super) repaired: Option<u64>,
}

/// Takes how many documents have been looked at, and how many there are.
pub type Report<'a> = dyn Fn(u64, u64) + Sync + 'a;

impl Check {
    /// What the backend has found missing beside the data: indexes of pages, views.
    pub fn new(missing: Vec<Drift>) -> Check {
        let mut check = Check::default();
        missing.into_iter().for_each(|drift| check.note(drift));
        check
    }

    /// Nothing is left that is not as the policy has it.
    pub fn is_clean(&self) -> bool {
        self.drifted == self.repaired.unwrap_or(0) && self.oversize == 0
    }

    /// The drifts that are kept.
    pub fn drifts(&self) -> impl Iterator<Item = &Drift> {
        self.drifts.iter().map(|(drift, _)| drift)
    }

    /// Looks at all documents and pages, as of one moment.
    pub async fn look<S: Snapshot>(
        &mut self,
        policy: &Policy,
        snapshot: &mut S,
        report: &Report<'_>,
    ) -> Result<()> {
        let mut met = vec![0; policy.overflows().count()];
        let total = snapshot.count(&policy.namespace).await?;
        let mut documents = Documents::all(&policy.namespace);
        while let Some(row) = documents.next(snapshot).await? {
            if self.documents.is_multiple_of(DOCUMENTS_PER_REPORT) {
                report(self.documents, total);
            }
            self.documents += 1;
            self.document(policy, snapshot, &row, &mut met).await?;
        }
        for (rule, met) in policy.overflows().zip(met) {
            // Each page that belongs to a document was met from there.
            if snapshot.count(&rule.into).await? != met {
                self.orphans(policy, snapshot, rule).await?;
            }
        }
        Ok(())
    }

    /// Looks at a document with its pages; `met` counts the pages of each rule.
    async fn document<S: Snapshot>(
        &mut self,
        policy: &Policy,
        snapshot: &mut S,
        row: &S::Row,
        met: &mut [u64],
    ) -> Result<()> {
        let document = snapshot.load(row, &looked_at(policy)).await?;
        let parent = place::id(&document);
        let mut sizes: Vec<Vec<PageSize>> = Vec::new();
        for (rule, met) in policy.overflows().zip(met) {
            let mut sequence = Sequence::new(rule, parent);
            let mut own = Vec::new();
            let needs = Needs::Paths(vec![Path::new(&rule.parent_key), Path::new(rule.name())]);
            each_page(snapshot, rule, parent, &needs, &mut |page, bytes| {
                let mass = sequence.page(page, bytes);
                own.push(PageSize { bytes, mass });
            })
            .await?;
            sequence.finish(document.version());
            *met += sequence.pages;
            self.elements += sequence.elements;
            self.pages += sequence.pages;
            self.gaps += sequence.gaps;
            sequence.drifts.into_iter().for_each(|drift| self.note(drift));
            sizes.push(own);
        }
        let need = Need::of(policy, document.version(), snapshot.size(&document), &sizes);
        self.elements += heads(policy, &document);
        // One that is free of a policy that is being left is over no bound.
        if need.is_over() && !restore::is_free(policy, document.version()) {
            self.note_oversize(parent, need, &document, policy);
        }
        Ok(())
    }

    /// Notes a document over some bound, and the first of its arrays. Pages over theirs are
    /// drifts of their own.
    fn note_oversize(
        &mut self,
        id: RawBsonRef<'_>,
        need: Need,
        document: &RawDocument,
        policy: &Policy,
    ) {
        let movable = || Over::movable(policy, document);
        let shortened = || need.shortened.into_iter().next();
        let over = need.over.into_iter().next();
        let Some(first) = over.or_else(movable).or_else(shortened) else { return };
        self.oversize += 1;
        if self.over.len() < LISTED_MAX {
            self.over.push((id.into(), first));
        }
    }

    /// Looks for pages whose document is not there.
    async fn orphans<S: Snapshot>(
        &mut self,
        policy: &Policy,
        snapshot: &mut S,
        rule: &Overflow,
    ) -> Result<()> {
        let needs = Needs::Paths(vec![Path::new(&rule.parent_key)]);
        let mut pages = Documents::all(&rule.into);
        while let Some(row) = pages.next(snapshot).await? {
            let page = snapshot.load(&row, &needs).await?;
            let parent = get(&page, &rule.parent_key).map(|parent| parent.value());
            let wanted = parent.unwrap_or(RawBsonRef::Null);
            if parent.is_some() && snapshot.contains(&policy.namespace, wanted).await? {
                continue;
            }
            self.pages += 1;
            self.note(Drift {
                kind: DriftKind::Orphan,
                id: Some(wanted.into()),
                path: rule.path.as_str().to_owned(),
                page: get_value(&page, "page")
                    .and_then(Number::from_value)
                    .map(Number::to_i64_saturated),
                found: get_value(&page, "_id").map(RawBson::from),
                expected: None,
            });
        }
        Ok(())
    }

    fn note(&mut self, drift: Drift) {
        self.drifted += 1;
        if self.drifts.len() < KEPT_MAX {
            self.drifts.push((drift, false));
        }
    }

    /// As replies have it.
    pub fn write(&self, out: &mut DocumentWriter) {
        out.append_bool("clean", self.is_clean());
        append_count(out, "documents", self.documents);
        append_count(out, "elements", self.elements);
        append_count(out, "pages", self.pages);
        append_count(out, "gaps", self.gaps);
        append_count(out, "oversize", self.oversize);
        append_over(out, &self.over);
        append_count(out, "drifted", self.drifted);
        if let Some(repaired) = self.repaired {
            append_count(out, "repaired", repaired);
        }
        out.begin_array("drift");
        for (drift, repaired) in self.drifts.iter().take(LISTED_MAX) {
            out.begin_next_document();
            drift.write(out);
            if self.repaired.is_some() {
                out.append_bool("repaired", *repaired);
            }
            out.end();
        }
        out.end();
    }
}

/// How many elements documents hold of the arrays that overflow.
fn heads(policy: &Policy, document: &RawDocument) -> u64 {
    let arrays = |rule: &Arc<Overflow>| place::arrays(document, &rule.path);
    let found = policy.overflows().flat_map(arrays);
    found.map(|array| array.children().count() as u64).sum()
}
