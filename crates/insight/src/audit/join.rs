//! One policy for all findings of a collection.
//!
//! A collection has one policy, and setting it replaces the one before. So every finding
//! proposes the same: what is declared already, and what cures all of them together.

use super::facts::Collection;
use crate::report::{Cure, Finding, Remedy, merge};
use guard::policy::file::File;
use serde_json::json;

pub fn join_policies(collection: &Collection, findings: &mut [Finding]) {
    let declared = collection.declared.clone().unwrap_or(json!({}));
    let Remedy::Policy(mut joined) = Cure::policy("", &collection.namespace, declared).remedy
    else {
        return;
    };
    let mut cured = Vec::new();
    for finding in findings {
        let Remedy::Policy(policy) = &mut finding.cure.remedy else { continue };
        let mut tried = joined.clone();
        merge(&mut tried, policy);
        // Rules that cannot stand together stay apart.
        if File::parse(&tried.to_string()).is_ok() {
            joined = tried;
            cured.push(policy);
        }
    }
    for policy in cured {
        policy.clone_from(&joined);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::facts::Kind;
    use crate::report::Severity;
    use command::Namespace;
    use serde_json::Value;

    #[test]
    fn one_policy_cures_all() {
        let namespace = Namespace { database: "shop".into(), collection: "users".into() };
        let mut collection = Collection::new(namespace.clone(), Kind::Ordinary, bson::doc! {});
        collection.declared = Some(json!({ "arrays": { "tags": { "max": 5 } } }));
        let finding = |policy: Value| {
            let cure = Cure::policy("outlier", &namespace, policy);
            Finding::new(Severity::Warn, &namespace, String::new(), cure)
        };
        let mut findings = [
            finding(json!({ "arrays": { "log": { "max": 10, "on_limit": "overflow" } } })),
            finding(json!({ "document": { "max_bytes": "8MB" } })),
            // Below an array that has a rule: it stays by itself.
            finding(json!({ "arrays": { "log.items": { "max": 3 } } })),
        ];
        join_policies(&collection, &mut findings);
        let policy = |at: usize| match &findings[at].cure.remedy {
            Remedy::Policy(policy) => policy["collections"]["users"].clone(),
            other => panic!("{other:?}"),
        };
        let joined = json!({
            "arrays": { "tags": { "max": 5 }, "log": { "max": 10, "on_limit": "overflow" } },
            "document": { "max_bytes": "8MB" },
        });
        assert_eq!((policy(0), policy(1)), (joined.clone(), joined));
        assert_eq!(policy(2), json!({ "arrays": { "log.items": { "max": 3 } } }));
    }
}
