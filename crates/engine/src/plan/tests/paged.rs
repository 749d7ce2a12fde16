//! Plans for arrays that are in part in pages.

use super::world::{World, query};
use crate::plan::choose::choose;
use crate::plan::{Paged, PagedArray, Plan, Query, Residual, Stage};
use bson::{RawDocument, RawDocumentBuf, rawdoc};
use command::Namespace;
use guard::Policy;
use guard::read::Show;
use language::Needs;
use std::sync::Arc;
use value::Path;

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

    fn plans(&self, query: Query) -> Vec<Plan> {
        choose(Some(&self.heads.collection), &Arc::new(query)).unwrap()
    }
}

fn index(key: RawDocumentBuf) -> RawDocumentBuf {
    rawdoc! { "key": key }
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
