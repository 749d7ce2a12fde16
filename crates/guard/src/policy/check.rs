//! What the parts of a policy may not say together.

use super::{ArrayRule, OnLimit, Overflow, Policy};
use error::{Code, Error, Result};
use rustc_hash::FxHashSet;
use value::Path;
use value::path::Apart;

/// The fields of a page that are not the array.
const PAGE_FIELDS: &[&str] = &["_id", "page", "count"];
/// What the view of all elements has beside them, and beside the parent key.
const VIEW_FIELDS: &[&str] = &["at", "item"];

pub fn check(policy: &Policy) -> Result<()> {
    let apart = is_apart(policy);
    for (at, rule) in policy.arrays.iter().enumerate() {
        let earlier = &policy.arrays[..at];
        let overlapping = |other: &&ArrayRule| !apart && other.path.overlaps(&rule.path);
        if let Some(other) = earlier.iter().find(overlapping) {
            return Err(refused(
                &rule.path,
                &format!("overlaps the path '{}'; expected paths apart", other.path),
            ));
        }
        if let OnLimit::Overflow(overflow) = &rule.on_limit {
            check_overflow(policy, overflow, apart)?;
        }
    }
    Ok(())
}

/// Whether no two arrays want the same field or collection. Where two do, each is compared
/// with each, to name the two that overlap.
fn is_apart(policy: &Policy) -> bool {
    let arrays = policy.arrays.iter().map(|rule| &rule.path);
    let counters = policy.overflows().flat_map(|overflow| overflow.named());
    let mut names = FxHashSet::from_iter([&policy.namespace]);
    let targets = policy.overflows().flat_map(|it| [Some(&it.into), it.view.as_ref()]);
    Apart::all(arrays.chain(counters)) && targets.flatten().all(|target| names.insert(target))
}

fn check_overflow(policy: &Policy, overflow: &Overflow, apart: bool) -> Result<()> {
    let path = &overflow.path;
    let key = |key: &str| Path::new(&format!("{path}.overflow.{key}"));
    let targets = [("into", Some(&overflow.into)), ("elements", overflow.view.as_ref())];
    let targets = targets.into_iter().filter_map(|(name, target)| Some((name, target?)));
    for (name, target) in targets.filter(|_| !apart) {
        let others = policy.overflows().filter(|other| other.path != overflow.path);
        let taken = *target == policy.namespace
            || others.into_iter().any(|it| it.into == *target || it.view.as_ref() == Some(target))
            || (name == "elements" && overflow.into == *target);
        if taken {
            return Err(refused(
                &key(name),
                &format!("names '{target}', which is taken; expected a collection of its own"),
            ));
        }
    }
    if PAGE_FIELDS.contains(&overflow.name()) {
        return Err(refused(
            path,
            &format!(
                "overflows, and pages have a field '{}' of their own; expected an array whose last \
                 name is none of {}",
                overflow.name(),
                PAGE_FIELDS.join(", ")
            ),
        ));
    }
    let parent_key = &*overflow.parent_key;
    let taken = [&[overflow.name()], PAGE_FIELDS, VIEW_FIELDS].concat();
    if taken.contains(&parent_key) {
        return Err(refused(
            &key("parent_key"),
            &format!(
                "is '{parent_key}', which pages have already, or the view of all elements; \
                 expected a name other than {}",
                taken.join(", ")
            ),
        ));
    }
    let names = ["count", "flag", "pages"].into_iter().zip(overflow.names());
    let named = names.filter_map(|(name, counter)| Some((name, counter?)));
    for (at, (name, counter)) in named.enumerate() {
        let arrays = policy.arrays.iter().map(|rule| &rule.path);
        let others = policy.overflows().filter(|other| other.path != overflow.path);
        let counters = others.flat_map(|other| other.named());
        let own = overflow.named().take(at);
        let mut taken = arrays.chain(counters).chain(own);
        if !apart && let Some(taken) = taken.find(|taken| taken.overlaps(counter)) {
            return Err(refused(
                &key(name),
                &format!(
                    "is '{counter}', which is taken by '{taken}'; expected a field of its own"
                ),
            ));
        }
        if counter.first() == "_id" {
            return Err(refused(&key(name), "is in '_id'; expected a field of its own"));
        }
    }
    Ok(())
}

fn refused(path: &Path, why: &str) -> Error {
    Code::BadValue.error(format!("the policy key 'arrays.{path}' {why}"))
}
