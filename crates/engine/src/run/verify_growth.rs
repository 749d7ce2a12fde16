//! `verifyGrowth`: everything a policy has kept of a collection, counted anew and
//! compared: counters, flags, pages, indexes and views. With `repair`, what can be
//! mended safely is, a transaction a document.

mod repair;

use super::{Call, figures, lookup, reading};
use crate::catalog::Collection;
use crate::define::Progress;
use crate::policies::survey::Survey;
use crate::storage::Record;
use bson::{RawBson, RawBsonRef, RawDocument};
use command::views::VerifyGrowth;
use command::{Namespace, Reply, ReplyWriter};
use error::{Code, Result};
use guard::Policy;
use guard::adopt::{Need, Over, PageSize, looked_at};
use guard::policy::Overflow;
use guard::verify::{Drift, Kind, Sequence};
use language::Needs;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use value::element::{get, get_value};
use value::{Number, Path};

/// What is told one by one; the rest is counted.
const TOLD_MAX: usize = 100;
/// What is kept in mind to be mended by one command.
const KEPT_MAX: usize = 10_000;
/// Documents between two looks at whether to stop.
const DOCUMENTS_PER_CHECK: u64 = 128;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let verify = VerifyGrowth::parse(call.request)?;
    let guarded = call.engine.policies.get(&verify.namespace);
    if let Some(of) = guarded.as_ref().and_then(|roles| roles.pages_of.as_ref()) {
        return Err(Code::BadValue.error(format!(
            "'{}' holds the pages of '{of}'; verify '{of}' instead",
            verify.namespace
        )));
    }
    let policy = match &guarded {
        Some(roles) if roles.has_policy() => roles.rules()?,
        _ => {
            return Err(Code::BadValue
                .error(format!("'{}' has no growth policy to verify", verify.namespace)));
        }
    };
    let mut check = Check::default();
    let catalog = call.engine.registry.current();
    // Its pages are looked at even where it is not there itself.
    let collection = catalog.get(&verify.namespace).cloned();
    collection.as_deref().map_or(Ok(()), lookup::refuse_view)?;
    let interrupt = call.operation.interrupt.clone();
    let view = reading::view(call)?;
    let survey =
        Survey { policy, catalog, collection, view, interrupt: interrupt.clone(), costs: true };
    let what = Some("Verification");
    let progress = Arc::new(Progress { interrupt, what, ..Progress::default() });
    // `currentOp` shows it.
    let _ = call.operation.progress.set(progress.clone());
    turn::aside(|| check.run(&survey, &progress))?;
    if verify.repair {
        check.repair(call, &verify.namespace, policy).await?;
    }
    Ok(lookup::finish(call, check.reply(&verify.namespace)))
}

/// What has been found so far.
#[derive(Default)]
struct Check {
    documents: u64,
    elements: u64,
    pages: u64,
    gaps: u64,
    oversize: u64,
    over: Vec<(RawBson, Over)>,
    /// The first drifts, and whether they have been mended.
    drifts: Vec<(Drift, bool)>,
    drifted: u64,
    repaired: Option<u64>,
}

impl Check {
    fn run(&mut self, survey: &Survey<'_>, progress: &Progress) -> Result<()> {
        survey.missing().into_iter().for_each(|drift| self.note(drift));
        let mut met = vec![0; survey.policy.overflows().count()];
        if let Some(collection) = &survey.collection {
            self.documents(survey, collection, progress, &mut met)?;
        }
        for (rule, met) in survey.policy.overflows().zip(met) {
            let Some(pages) = survey.catalog.get(&rule.into) else { continue };
            // Each page that belongs to a document was met from there.
            if survey.view.counts(pages.id)?.documents != met {
                self.orphans(survey, rule)?;
            }
        }
        Ok(())
    }

    fn documents(
        &mut self,
        survey: &Survey<'_>,
        collection: &Collection,
        progress: &Progress,
        met: &mut [u64],
    ) -> Result<()> {
        let counts = survey.view.counts(collection.id)?;
        progress.total.store(counts.documents, Ordering::Relaxed);
        for record in collection.records_after(None, &survey.view) {
            if self.documents.is_multiple_of(DOCUMENTS_PER_CHECK) {
                survey.interrupt.check()?;
                progress.done.store(self.documents, Ordering::Relaxed);
            }
            self.documents += 1;
            self.document(survey, &record?, met)?;
        }
        Ok(())
    }

    /// Looks at a document with its pages; `met` counts the pages of each rule.
    fn document(&mut self, survey: &Survey<'_>, record: &Record, met: &mut [u64]) -> Result<()> {
        let document = record.load(&survey.view, &looked_at(survey.policy))?;
        let parent = get_value(&document, "_id").unwrap_or(RawBsonRef::Null);
        let mut sizes: Vec<(&Path, Vec<PageSize>)> = Vec::new();
        for (rule, met) in survey.policy.overflows().zip(met) {
            let mut sequence = Sequence::new(rule, parent);
            let mut own = Vec::new();
            let needs = Needs::Paths(vec![Path::new(&rule.parent_key), Path::new(rule.name())]);
            survey.each_page(rule, parent, &needs, &mut |page, bytes| {
                let before = sequence.elements;
                sequence.page(page, bytes);
                own.push(PageSize { count: (sequence.elements - before) as usize, bytes });
            })?;
            sequence.finish(&document);
            *met += sequence.pages;
            self.elements += sequence.elements;
            self.pages += sequence.pages;
            self.gaps += sequence.gaps;
            sequence.drifts.into_iter().for_each(|drift| self.note(drift));
            sizes.push((&rule.path, own));
        }
        let pages = &mut |rule: &Overflow, _: RawBsonRef<'_>| {
            let own = sizes.iter().find(|(path, _)| **path == rule.path);
            Ok(own.map(|(_, sizes)| sizes.clone()).unwrap_or_default())
        };
        let need = Need::of(survey.policy, &document, record.size(), pages)?;
        self.elements += heads(survey.policy, &document);
        if need.is_over() {
            self.oversize(parent, need, &document, survey.policy);
        }
        Ok(())
    }

    /// Notes a document over some bound, and the first of its arrays. Pages over theirs have
    /// been told by themselves.
    fn oversize(
        &mut self,
        id: RawBsonRef<'_>,
        need: Need,
        document: &RawDocument,
        policy: &Policy,
    ) {
        let movable = || Over::movable(policy, document);
        let Some(first) = need.over.into_iter().next().or_else(movable) else { return };
        self.oversize += 1;
        if self.over.len() < TOLD_MAX {
            self.over.push((id.into(), first));
        }
    }

    /// Looks for pages whose document is not there.
    fn orphans(&mut self, survey: &Survey<'_>, rule: &Overflow) -> Result<()> {
        let Some(pages) = survey.catalog.get(&rule.into) else { return Ok(()) };
        let needs = Needs::Paths(vec![Path::new(&rule.parent_key)]);
        for (seen, record) in (0_u64..).zip(pages.records_after(None, &survey.view)) {
            if seen.is_multiple_of(DOCUMENTS_PER_CHECK) {
                survey.interrupt.check()?;
            }
            let page = record?.load(&survey.view, &needs)?;
            let parent = get(&page, &rule.parent_key).map(|parent| parent.value());
            let wanted = parent.unwrap_or(RawBsonRef::Null);
            let found = match &survey.collection {
                Some(collection) => collection.record_of(wanted, &survey.view)?,
                None => None,
            };
            if parent.is_some() && found.is_some() {
                continue;
            }
            self.pages += 1;
            self.note(Drift {
                kind: Kind::Orphan,
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

    fn reply(self, namespace: &Namespace) -> ReplyWriter {
        let mut reply = ReplyWriter::new();
        let left = self.drifted - self.repaired.unwrap_or(0);
        reply.append("ns", &*namespace.to_string());
        reply.append("clean", left == 0 && self.oversize == 0);
        let out = reply.writer();
        figures::append(out, "documents", self.documents);
        figures::append(out, "elements", self.elements);
        figures::append(out, "pages", self.pages);
        figures::append(out, "gaps", self.gaps);
        figures::append(out, "oversize", self.oversize);
        out.begin_array("over");
        for (id, over) in &self.over {
            out.begin_next_document();
            guard::verify::append_id(out, "_id", id.as_raw_bson_ref());
            over.write(out);
            out.end();
        }
        out.end();
        figures::append(out, "drifted", self.drifted);
        if let Some(repaired) = self.repaired {
            figures::append(out, "repaired", repaired);
        }
        out.begin_array("drift");
        for (drift, repaired) in self.drifts.iter().take(TOLD_MAX) {
            out.begin_next_document();
            drift.write(out);
            if self.repaired.is_some() {
                out.append_bool("repaired", *repaired);
            }
            out.end();
        }
        out.end();
        reply
    }
}

/// How many elements documents hold of the arrays that overflow.
fn heads(policy: &Policy, document: &RawDocument) -> u64 {
    let arrays = |rule: &Arc<Overflow>| guard::patterns::place::arrays(document, &rule.path);
    let found = policy.overflows().flat_map(arrays);
    found.map(|array| array.children().count() as u64).sum()
}
