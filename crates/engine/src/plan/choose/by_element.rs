//! A filter by an element of an array that is in part in pages: the index of the heads and its
//! mirror on the pages, together. Each parent is found once, and no array is loaded for it.

use super::complete::{Conditions, above, below, reads_all};
use super::natural;
use crate::catalog::{Collection, Index, IndexField, IndexKind};
use crate::plan::bounds::Conjunct;
use crate::plan::{Paged, PagedArray, Parents, Plan, Purpose, Query, Sort, Stage};
use error::Result;
use guard::policy::Overflow;
use language::Needs;
use language::query::{Filter, Node};
use std::sync::Arc;
use value::Path;
use value::key::Direction;

/// The most conditions with an index that are tried as the one to go by.
const CONDITIONS_MAX: usize = 4;

/// A plan for each condition that both indexes can answer.
pub fn stages(
    collection: &Collection,
    query: &Query,
    paged: &Paged,
    conditions: &Conditions<'_>,
) -> Result<Vec<Stage>> {
    let goes_by_place = query.min.is_some() || query.max.is_some() || natural(query).is_some();
    if paged.filtered.is_empty() || goes_by_place {
        return Ok(Vec::new());
    }
    let (mut stages, mut tried) = (Vec::new(), 0);
    let found = conditions.whole.iter().filter_map(|conjunct| {
        let array = paged.arrays.iter().find(|it| by_element(it, conjunct.node))?;
        Some((conjunct, array))
    });
    for (conjunct, array) in found {
        let Some(parents) = parents(collection, query, array, conjunct.node)? else { continue };
        if tried == CONDITIONS_MAX {
            break;
        }
        tried += 1;
        let filter = conditions.left(Some(conjunct));
        let below = below(query, paged, filter.is_some());
        let found = heads(collection, &below, conditions, conjunct)?;
        let parents = Stage::Parents(Arc::new(parents));
        stages.extend(found.into_iter().map(|heads| {
            let keyed = key_of(&heads).filter(|_| has_one_field(&parents));
            let both = Stage::HeadsAndPages { inputs: vec![heads, parents.clone()], keyed };
            let stage = fetched(query, &below, conditions, both, filter.is_some());
            above(query, paged, stage, filter.clone())
        }));
    }
    Ok(stages)
}

/// The directions of the one index of a single field that it reads.
fn key_of(stage: &Stage) -> Option<Vec<Direction>> {
    match (stage, stage.inputs()) {
        (Stage::IndexScan(scan), _) => has_one_field(stage).then(|| scan.directions()),
        (_, [input]) => key_of(input),
        (_, inputs) => has_one_field(stage).then(|| inputs.first().and_then(key_of)).flatten(),
    }
}

/// Whether all it reads is an index of a single field, but for the parent in keys of pages.
fn has_one_field(stage: &Stage) -> bool {
    match (stage, stage.inputs()) {
        (Stage::Parents(parents), [Stage::IndexScan(scan)]) if parents.covered => {
            scan.index.fields.len() == 2
        }
        (Stage::IndexScan(scan), _) => scan.index.fields.len() == 1,
        (_, []) => false,
        (_, inputs) => inputs.iter().all(has_one_field),
    }
}

fn by_element(array: &PagedArray, node: &Node) -> bool {
    array.pages.is_some() && node.holds_by_one_element(&array.rule.path)
}

/// The way from the pages with such an element to their parents, if an index leads to them.
fn parents(
    collection: &Collection,
    query: &Query,
    array: &PagedArray,
    node: &Node,
) -> Result<Option<Parents>> {
    let (Some(pages), Some(index)) = (&array.pages, collection.id_index()) else {
        return Ok(None);
    };
    let rule = &array.rule;
    let on_page = |path: &Path| {
        let name = Path::new(rule.name());
        Some(match path.tail(rule.path.len()) {
            "" => name,
            below => name.join(below),
        })
    };
    let Some(root) = node.renamed(&on_page) else { return Ok(None) };
    let filter = Filter { root, collator: query.filter.collator.clone() };
    let mut wanted = Query::new(Arc::new(filter));
    wanted.collator = query.collator.clone();
    wanted.needs = Needs::Paths(vec![Path::new(&rule.parent_key)]);
    let wanted = Arc::new(wanted);
    let best = super::stages(pages, &wanted)?.into_iter().find(|stage| !reads_all(stage));
    Ok(best.map(|root| {
        // The parent is taken from the key as it is: neither the page nor what a covered
        // projection would make of the key is needed.
        let (root, covered) = match root {
            Stage::Fetch { input, filter: None } | Stage::Projection { input, .. }
                if ends_with_parent(&input, rule, index) =>
            {
                (*input, true)
            }
            root => (root, false),
        };
        let pages = Plan { query: wanted, collection: Some(Arc::clone(pages)), root };
        Parents { rule: Arc::clone(rule), index: Arc::clone(index), pages: pages.into(), covered }
    }))
}

/// Whether the keys of a scan end with the parent as the index of `_id`s has it.
fn ends_with_parent(stage: &Stage, rule: &Overflow, ids: &Index) -> bool {
    let Stage::IndexScan(scan) = stage else { return false };
    let fields = &scan.index.fields;
    let is_parent = |field: &IndexField| {
        field.kind == IndexKind::Ascending && field.path.as_str() == &*rule.parent_key
    };
    let is_ordered =
        |field: &IndexField| matches!(field.kind, IndexKind::Ascending | IndexKind::Descending);
    fields.last().is_some_and(is_parent)
        && fields.iter().all(is_ordered)
        && scan.index.collator.is_none()
        && ids.collator.is_none()
}

/// The ways to the documents with such an element in their heads, without a scan of all.
fn heads(
    collection: &Collection,
    below: &Query,
    conditions: &Conditions<'_>,
    conjunct: &Conjunct<'_>,
) -> Result<Vec<Stage>> {
    let mut heads = below.clone();
    // Both ways end before anything is sorted or left out, and say only which records they are.
    (heads.sort, heads.skip, heads.limit) = (Sort::None, 0, None);
    heads.needs = Needs::none();
    let conjuncts = conditions.stored.iter().chain([conjunct]).cloned().collect();
    let stages = super::stages_for(collection, &heads, conjuncts)?;
    Ok(stages.into_iter().filter(|stage| !reads_all(stage)).collect())
}

/// The documents of both ways that satisfy what is asked of other fields, in order.
fn fetched(
    query: &Query,
    below: &Query,
    conditions: &Conditions<'_>,
    stage: Stage,
    checked: bool,
) -> Stage {
    let filter = conditions.others();
    let shows_nothing = query.purpose == Purpose::Count || query.wants_nothing();
    let is_final = shows_nothing && !checked && query.sort.fields().is_empty();
    let stage = match filter.is_none() && is_final {
        true => stage,
        false => Stage::Fetch { input: Box::new(stage), filter },
    };
    match query.purpose {
        Purpose::Count => stage,
        _ => super::finish::documents(below, stage, false),
    }
}
