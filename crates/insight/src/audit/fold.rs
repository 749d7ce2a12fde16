//! One finding for what has one cause.
//!
//! Detectors look from different sides: an array without a bound is long, makes its document
//! large, multiplies the entries of an index and has no guard. And what is found in the
//! collection of one tenant is found in those of all.

use super::detectors::Family;
use crate::report::{Also, Finding, Remedy, merge};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// Collections that a folded finding names.
const EXAMPLES_MAX: usize = 5;
/// Of findings that are as grave, the one that says most about the cause.
const TELLING: &[&str] = &["unbounded_array", "massive_document", "multikey_bloat"];

/// Joins the findings of one collection that have the same cause.
pub fn by_cause(findings: Vec<Finding>) -> Vec<Finding> {
    let mut joined: Vec<Finding> = Vec::new();
    for finding in findings {
        let known = joined.iter_mut().find(|it| it.cause.is_some() && it.cause == finding.cause);
        match known {
            Some(known) => join(known, finding),
            None => joined.push(finding),
        }
    }
    // What is found elsewhere has a cause of its own.
    joined.iter_mut().for_each(|finding| finding.cause = None);
    joined
}

fn join(known: &mut Finding, other: Finding) {
    let telling = |it: &Finding| {
        let at = TELLING.iter().position(|name| *name == it.detector);
        std::cmp::Reverse(at.unwrap_or(TELLING.len()))
    };
    let rank = |it: &Finding| (it.severity, telling(it));
    let (mut less, main) = match rank(&other) > rank(known) {
        true => (std::mem::replace(known, other), known),
        false => (other, known),
    };
    if let (Remedy::Policy(main), Remedy::Policy(less)) = (&mut main.cure.remedy, &less.cure.remedy)
    {
        merge(main, less);
    }
    // Reasons of the rule that both propose, or that only one does.
    if main.cure.why.is_empty() {
        main.cure.why.append(&mut less.cure.why);
    }
    main.cure.seen = main.cure.seen.take().or(less.cure.seen);
    main.also.append(&mut less.also);
    main.also.push(Also { detector: less.detector, summary: less.summary });
}

/// What findings of one family have in common: family, detector, path.
type Alike = (usize, String, Option<String>);

/// Joins what is found alike in several collections of a family.
pub fn by_family(findings: Vec<Finding>, families: &[Family<'_>]) -> Vec<Finding> {
    let mut family_of: FxHashMap<String, usize> = FxHashMap::default();
    for (at, family) in families.iter().enumerate() {
        family_of.extend(family.namespaces().map(|namespace| (namespace, at)));
    }
    let mut folded: Vec<Finding> = Vec::new();
    let mut groups: FxHashMap<Alike, (usize, Vec<String>)> = FxHashMap::default();
    for finding in findings {
        let Some(family) = family_of.get(&finding.namespace) else {
            folded.push(finding);
            continue;
        };
        let key = (*family, finding.detector.clone(), finding.path.clone());
        match groups.get_mut(&key) {
            Some((at, namespaces)) => {
                namespaces.push(finding.namespace.clone());
                if let Some(known) = folded.get_mut(*at) {
                    add(known, finding);
                }
            }
            None => {
                groups.insert(key, (folded.len(), vec![finding.namespace.clone()]));
                folded.push(finding);
            }
        }
    }
    for ((family, ..), (at, namespaces)) in groups {
        if let (Some(finding), Some(family), true) =
            (folded.get_mut(at), families.get(family), namespaces.len() > 1)
        {
            name(finding, family, &namespaces);
        }
    }
    folded
}

/// Takes in the same finding of another collection: the graver one stays, both cures do.
fn add(known: &mut Finding, mut other: Finding) {
    if other.severity > known.severity {
        std::mem::swap(known, &mut other);
    }
    match (&mut known.cure.remedy, other.cure.remedy) {
        (Remedy::Policy(known), Remedy::Policy(other)) => merge(known, &other),
        (Remedy::Command(known), Remedy::Command(other)) => {
            known.push('\n');
            known.push_str(&other);
        }
        _ => {}
    }
}

fn name(finding: &mut Finding, family: &Family<'_>, namespaces: &[String]) {
    let first = std::mem::replace(&mut finding.namespace, family.name());
    finding.summary = format!(
        "In {} collections of this family, such as {first}: {}",
        crate::figures::count(namespaces.len() as u64),
        finding.summary
    );
    let examples = namespaces.iter().take(EXAMPLES_MAX).map(|it| Value::from(&**it));
    finding.evidence.examples = examples.collect();
    finding.evidence.figures.insert("collections".to_owned(), json!(namespaces.len()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Cure, Severity};
    use command::Namespace;

    fn finding(detector: &str, severity: Severity, rule: Value) -> Finding {
        let namespace = Namespace { database: "shop".into(), collection: "users".into() };
        let cure = Cure::policy("outlier", &namespace, rule);
        let finding = Finding::new(severity, &namespace, detector.to_uppercase(), cure);
        Finding { detector: detector.to_owned(), ..finding.path("log").cause("array log") }
    }

    #[test]
    fn one_cause_is_one_finding_with_all_of_the_cure() {
        let document = json!({ "document": { "warn_bytes": "1MB" } });
        let array = json!({ "arrays": { "log": { "max": 10 } } });
        let found = vec![
            finding("massive_document", Severity::Warn, document),
            finding("multikey_bloat", Severity::Critical, array.clone()),
            finding("unbounded_array", Severity::Critical, array.clone()),
            finding("unguarded_growth", Severity::Warn, array),
            Finding { cause: None, ..finding("unused_index", Severity::Info, json!({})) },
        ];
        let folded = by_cause(found);
        assert_eq!(folded.len(), 2);
        let main = &folded[0];
        assert_eq!((&*main.detector, main.severity), ("unbounded_array", Severity::Critical));
        let also: Vec<&str> = main.also.iter().map(|it| &*it.detector).collect();
        assert_eq!(also, ["massive_document", "multikey_bloat", "unguarded_growth"]);
        assert_eq!(main.also[0].summary, "MASSIVE_DOCUMENT");
        assert!(main.is_of(&["unguarded_growth"]) && !main.is_of(&["unused_index"]));
        let Remedy::Policy(policy) = &main.cure.remedy else { panic!() };
        let users = &policy["collections"]["users"];
        assert_eq!(users["document"]["warn_bytes"], json!("1MB"));
        assert_eq!(users["arrays"]["log"]["max"], json!(10));
    }
}
