//! Plans for arrays that are in part in pages.

use super::world::{World, query, summary};
use crate::plan::choose::choose;
use crate::plan::explain::{Explained, explain};
use crate::plan::{Interrupt, Paged, PagedArray, Plan, Query, Residual, Stage};
use bson::{RawDocument, RawDocumentBuf, rawdoc};
use command::Namespace;
use command::views::Verbosity;
use guard::Policy;
use guard::read::Show;
use language::Needs;
use std::sync::Arc;
use value::{DocumentWriter, Path};

/// Heads and pages of an array `a`.
struct Paging {
    heads: World,
    pages: World,
}

impl Paging {
    fn new(heads: &[RawDocumentBuf], mirrors: &[RawDocumentBuf]) -> Paging {
        Paging { heads: World::new(heads, Vec::new()), pages: World::new(mirrors, Vec::new()) }
    }

    /// Documents whose arrays decide with all their elements what matches.
    fn query(&self, filter: &RawDocument) -> Query {
        let policy = rawdoc! { "arrays": { "a": { "max": 2, "on_limit": "overflow" } } };
        let policy = Policy::parse(&Namespace::new("test", "things").unwrap(), &policy).unwrap();
        let array = PagedArray {
            rule: policy.overflows().next().unwrap().clone(),
            seen: Show::Whole,
            show: Show::Whole,
            shown: true,
            pages: Some(self.pages.collection.clone()),
        };
        let mut query = query(filter);
        query.paged = Some(Paged {
            arrays: vec![array],
            filtered: vec![Path::new("a")],
            sorted: false,
            shown_bytes_max: usize::MAX,
            needs: Needs::All,
        });
        query
    }

    fn summaries(&self, query: Query) -> Vec<String> {
        self.plans(query).iter().map(|plan| summary(&plan.root)).collect()
    }

    fn plans(&self, query: Query) -> Vec<Plan> {
        choose(Some(&self.heads.collection), &Arc::new(query)).unwrap()
    }
}

fn index(key: RawDocumentBuf) -> RawDocumentBuf {
    rawdoc! { "key": key }
}

fn key(paths: &[&str]) -> RawDocumentBuf {
    let mut key = RawDocumentBuf::new();
    paths.iter().for_each(|path| {
        key.append(bson::raw::CString::try_from(*path).unwrap(), 1);
    });
    key
}

/// What the stages of heads check.
fn checks(stage: &Stage) -> Vec<&Arc<Residual>> {
    let own = match stage {
        Stage::Fetch { filter, .. } | Stage::Complete { filter, .. } => filter.as_ref(),
        Stage::IndexScan(scan) => scan.filter.as_ref(),
        Stage::Parents(_) => return Vec::new(),
        _ => None,
    };
    own.into_iter().chain(stage.inputs().iter().flat_map(checks)).collect()
}

#[test]
fn no_plan_copies_the_filter() {
    let paging = Paging::new(
        &[index(rawdoc! { "a.n": 1 }), index(rawdoc! { "a.m": 1 }), index(rawdoc! { "k": 1 })],
        &[index(rawdoc! { "a.n": 1, "parentId": 1 }), index(rawdoc! { "a.m": 1, "parentId": 1 })],
    );
    let filter = rawdoc! { "a.n": 3, "a.m": 4, "k": { "$in": [1, 2] }, "x": { "$ne": 1 } };
    let plans = paging.plans(paging.query(&filter));
    assert!(plans.len() > 2);
    for plan in plans {
        let checks = checks(&plan.root);
        assert!(!checks.is_empty());
        assert!(checks.iter().all(|it| it.is_part_of(&plan.query.filter)), "{:?}", plan.root);
    }
}

#[test]
fn conditions_without_an_index_are_not_among_those_tried() {
    let paging =
        Paging::new(&[index(rawdoc! { "a.n": 1 })], &[index(rawdoc! { "a.n": 1, "parentId": 1 })]);
    let filter = rawdoc! { "a.p": 1, "a.q": 2, "a.r": 3, "a.s": 4, "a.n": 5 };
    let plans = paging.summaries(paging.query(&filter));
    assert!(plans[0].contains("HEADS_AND_PAGES"), "{plans:?}");
}

#[test]
fn elements_do_not_push_out_what_goes_by_another_field() {
    let mut heads: Vec<_> = ["k", "l"].map(|name| index(key(&[name]))).into();
    let arrays = ["a.n", "a.m", "a.o", "a.p"];
    heads.extend(arrays.map(|path| index(key(&[path]))));
    let paging = Paging::new(&heads, &arrays.map(|path| index(key(&[path, "parentId"]))));
    let filter = rawdoc! { "a.n": 1, "a.m": 2, "a.o": 3, "a.p": 4, "k": 5, "l": { "$gt": 1 } };
    let plans = paging.summaries(paging.query(&filter));
    let by_k = |plan: &String| plan.contains("IXSCAN k_1") && !plan.contains("HEADS_AND_PAGES");
    assert!(plans.iter().any(by_k), "{plans:#?}");
}

#[test]
fn an_order_that_stops_early_stays() {
    let paging = Paging::new(
        &[index(rawdoc! { "a.n": 1 }), index(rawdoc! { "ts": 1 })],
        &[index(rawdoc! { "a.n": 1, "parentId": 1 })],
    );
    let query = |limit| {
        let query = paging.query(&rawdoc! { "a.n": 1 }).sorted(&rawdoc! { "ts": -1 });
        if limit > 0 { query.limited(limit) } else { query }
    };
    let in_order = |plan: &String| plan.contains("IXSCAN ts_1 backward");
    let plans = paging.summaries(query(20));
    assert!(plans[0].contains("HEADS_AND_PAGES") && plans.iter().any(in_order), "{plans:?}");
    assert!(!paging.summaries(query(0)).iter().any(in_order));
}

#[test]
fn the_way_to_pages_shows_nothing_of_the_projection_above() {
    let paging =
        Paging::new(&[index(rawdoc! { "a.n": 1 })], &[index(rawdoc! { "a.n": 1, "parentId": -1 })]);
    let query = paging.query(&rawdoc! { "a.n": 1 }).projected(&rawdoc! { "k": 1 });
    let explained = Explained {
        namespace: &paging.heads.collection.namespace,
        collection: Some(&paging.heads.collection),
        query,
        above: None,
        verbosity: Verbosity::QueryPlanner,
    };
    let mut out = DocumentWriter::new();
    explain(explained, &paging.heads.view, &Interrupt::default(), &mut out).unwrap();
    let text = value::text::document(&out.finish());
    assert!(text.contains("PROJECTION_COVERED"), "{text}");
    assert_eq!(text.matches("transformBy").count(), 1, "{text}");
}
