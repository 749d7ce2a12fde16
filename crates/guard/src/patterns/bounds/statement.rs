//! Bounds that one statement can keep.

use crate::patterns::declaration::{OneStatement, Single};
use crate::policy::{ArrayRule, OnLimit, Policy, Undeclared};
use bson::{RawBsonRef, RawDocumentBuf, rawdoc};
use value::element::get;
use value::{DocumentWriter, elements};

/// What an element adds to its array beside its value, at the most: its type, and the digits
/// of its number with the zero behind them.
const ELEMENT_BYTES_MAX: usize = 16;

/// An append to one array, or an update that no rule is about.
pub fn keep_arrays(policy: &Policy, change: &Single<'_>, one: &mut OneStatement) -> bool {
    if policy.undeclared != Undeclared::Allow || change.plan.brings {
        return false;
    }
    let reach = &change.plan.reach;
    let mut touched = reach.touched(policy).filter(|rule| !rule.overflows());
    let Some(rule) = touched.next() else { return true };
    let (Some(_), Some(appended)) = (reach.only, reach.appended) else { return false };
    append(rule, appended, change, one).is_some()
}

fn append(
    rule: &ArrayRule,
    appended: usize,
    change: &Single<'_>,
    one: &mut OneStatement,
) -> Option<()> {
    let max = rule.bounds.max.filter(|_| rule.bounds.max_bytes.is_none())?;
    if rule.path.len() > 1 || appended == 0 {
        return None;
    }
    let path = rule.path.as_str();
    match rule.on_limit {
        OnLimit::Reject => {
            // The last place that may be taken before.
            let free = max.checked_sub(appended)?;
            let mut condition = DocumentWriter::new();
            condition.append_document(&format!("{path}.{free}"), &rawdoc! { "$exists": false });
            one.conditions.push(condition.finish());
        }
        OnLimit::DropOldest => one.update = sliced(path, -i64::try_from(max).ok()?, change)?,
        OnLimit::DropNewest => one.update = sliced(path, i64::try_from(max).ok()?, change)?,
        OnLimit::Overflow(_) => return None,
    }
    Some(())
}

/// The push with a `$slice` that keeps so many elements.
fn sliced(path: &str, slice: i64, change: &Single<'_>) -> Option<RawDocumentBuf> {
    let push = get(change.document, "$push")?;
    let pushed = push.value().as_document().and_then(|push| get(push, path))?;
    let each = pushed.value().as_document().and_then(|pushed| get(pushed, "$each"));
    let mut update = DocumentWriter::new();
    for operator in elements(change.document).filter(|operator| operator.key != "$push") {
        update.copy(operator);
    }
    update.begin_document("$push");
    update.begin_document(path);
    match each {
        Some(each) => update.copy_as("$each", each),
        None => {
            update.begin_array("$each");
            update.push(pushed.value());
            update.end();
        }
    }
    update.append("$slice", RawBsonRef::Int64(slice));
    update.end();
    update.end();
    Some(update.finish())
}

/// An append that leaves the document within its bound by a wide enough margin.
pub fn keep_size(policy: &Policy, change: &Single<'_>, one: &mut OneStatement) -> bool {
    let Some(max) = policy.document.max_bytes else { return true };
    let Some(appended) = change.plan.reach.appended else { return false };
    let grows = change.document.as_bytes().len() + appended.saturating_mul(ELEMENT_BYTES_MAX);
    let Some(before) = max.checked_sub(grows).and_then(|it| i64::try_from(it).ok()) else {
        return false;
    };
    let size = rawdoc! { "$bsonSize": "$$ROOT" };
    one.conditions.push(rawdoc! { "$expr": { "$lte": [size, before] } });
    true
}
