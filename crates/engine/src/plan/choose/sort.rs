//! Whether an index gives its rows in the order asked for.

use crate::catalog::IndexKind;
use crate::index::multikey;
use crate::plan::bounds::Intervals;
use crate::plan::{IndexScan, Scan, SortField};
use std::sync::Arc;
use value::key::Direction;

/// A list of values is split into at most this many scans to be merged.
const SPLIT_MAX: usize = 200;

/// The direction in which a scan gives this order, if one does. Fields bounded to
/// a single value are in any order.
pub fn provided(scan: &IndexScan, sort: &[SortField]) -> Option<Scan> {
    if scan.has_wildcard() {
        return match (sort, &scan.wildcard) {
            ([], _) => Some(Scan::Forward),
            ([field], Some(path))
                if field.path == *path && scan.multikey == 0 && scan.index.fields.len() == 1 =>
            {
                Some(toward(Direction::Ascending, field.direction))
            }
            _ => None,
        };
    }
    let fields = &scan.index.fields;
    let fixed =
        |at: usize| scan.bounds[at].is_point() && !multikey::field(&scan.index, scan.multikey, at);
    let mut at = 0;
    let mut direction = None;
    for wanted in sort {
        let position = fields.iter().position(|field| field.path == wanted.path)?;
        if fields[position].kind == IndexKind::Hashed {
            return None;
        }
        if fixed(position) {
            continue;
        }
        while at < position && scan.bounds[at].is_point() {
            at += 1;
        }
        if at != position || !whole_value(scan, position) {
            return None;
        }
        let needed = toward(fields[position].direction(), wanted.direction);
        if *direction.get_or_insert(needed) != needed {
            return None;
        }
        at += 1;
    }
    Some(direction.unwrap_or(Scan::Forward))
}

fn toward(stored: Direction, wanted: Direction) -> Scan {
    if stored == wanted { Scan::Forward } else { Scan::Backward }
}

/// Whether the first entry met of a document has the value that orders it. With
/// arrays that holds only if no bound hides some of the document's entries.
fn whole_value(scan: &IndexScan, at: usize) -> bool {
    let index = &scan.index;
    if !multikey::field(index, scan.multikey, at) {
        return true;
    }
    let path = &index.fields[at].path;
    (0..index.fields.len()).filter(|other| !scan.bounds[*other].is_all()).all(|other| {
        let shared = path
            .components()
            .zip(index.fields[other].path.components())
            .take_while(|(a, b)| a == b);
        !(0..shared.count())
            .any(|component| multikey::component(index, scan.multikey, at, component))
    })
}

/// If leading lists of values are all that stands between the scan and the order,
/// the scans of the single values: each is in order.
pub fn split(scan: &IndexScan, sort: &[SortField]) -> Option<Vec<Arc<IndexScan>>> {
    if sort.is_empty() || scan.has_wildcard() || scan.range.is_some() {
        return None;
    }
    let lists = scan.bounds.iter().take_while(|bounds| bounds.are_points()).count();
    let mut combinations: Vec<Vec<Intervals>> = vec![Vec::new()];
    for bounds in &scan.bounds[..lists] {
        let points: Vec<Intervals> =
            bounds.as_slice().iter().map(|point| Intervals::one(point.clone())).collect();
        if points.len() * combinations.len() > SPLIT_MAX {
            return None;
        }
        combinations = combinations
            .into_iter()
            .flat_map(|prefix| {
                points
                    .iter()
                    .map(move |point| [prefix.as_slice(), std::slice::from_ref(point)].concat())
            })
            .collect();
    }
    if combinations.len() < 2 {
        return None;
    }
    let scans = combinations.into_iter().map(|mut bounds| {
        bounds.extend_from_slice(&scan.bounds[lists..]);
        let mut one = IndexScan {
            index: Arc::clone(&scan.index),
            scan: Scan::Forward,
            bounds,
            range: None,
            filter: scan.filter.clone(),
            multikey: scan.multikey,
            wildcard: None,
        };
        one.scan = provided(&one, sort)?;
        Some(Arc::new(one))
    });
    scans.collect()
}
