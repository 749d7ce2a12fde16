//! The fast path of inserts: a new document whose arrays are all within their bounds, as those
//! of most are. Every insert comes by here, so it is kept short.

use super::measured::{ArrayLength, ArrayLengths, Length};
use crate::policy::{ArrayRule, Field, OnLimit, Policy};
use bson::RawDocument;
use bson::spec::ElementType;
use value::{Element, elements};

/// The arrays of a document; `None` if one is not within its bounds, or if that takes more
/// than a glance at each field.
pub fn measure(policy: &Policy, document: &RawDocument) -> Option<ArrayLengths> {
    if !policy.digest.is_flat {
        return None;
    }
    let absent = |rule| ArrayLength { rule, before: None, after: None };
    let mut counted: ArrayLengths = (0..policy.arrays.len()).map(absent).collect();
    for (key, field) in elements(document).keyed() {
        if !policy.digest.paths.has(key) {
            continue;
        }
        if policy.digest.fields.is_empty() {
            for (rule, counted) in policy.arrays.iter().zip(&mut counted) {
                meet(rule, counted, key, field)?;
            }
            continue;
        }
        match policy.digest.fields.get(key) {
            None => {}
            Some(Field::Counter) => return None,
            Some(Field::Array(at)) => meet_array(&policy.arrays[*at], &mut counted[*at], field)?,
        }
    }
    Some(counted)
}

/// Counts a field if it is the array of a rule. `None` if that is no array, or there twice, or
/// over its bounds, or if the field is one that only the policy writes.
#[inline]
fn meet(rule: &ArrayRule, counted: &mut ArrayLength, key: &[u8], field: Element<'_>) -> Option<()> {
    if key == rule.path.as_str().as_bytes() {
        return meet_array(rule, counted, field);
    }
    match &rule.on_limit {
        OnLimit::Overflow(rule) => {
            let is_counter = rule.named().any(|path| key == path.as_str().as_bytes());
            (!is_counter).then_some(())
        }
        _ => Some(()),
    }
}

#[inline]
fn meet_array(rule: &ArrayRule, counted: &mut ArrayLength, field: Element<'_>) -> Option<()> {
    if field.kind != ElementType::Array || counted.after.is_some() {
        return None;
    }
    let elements = field.children().count();
    counted.after = Some(Length { elements, pages: 0 });
    rule.bounds.hold(elements, field.bytes.len()).then_some(())
}
