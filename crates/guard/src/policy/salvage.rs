//! What is still known of a policy that cannot be read: where its pages are, and by
//! what they are known.

use super::reader::Reader;
use super::{
    ArrayRule, Bounds, Digest, DocumentBounds, OnLimit, Overflow, Policy, Undeclared, overflow,
};
use bson::RawDocument;
use bson::spec::ElementType;
use command::Namespace;
use std::sync::Arc;
use value::element::get_value;
use value::{DocumentWriter, Path, elements};

/// What pages and counters are known by. The rest may change while there are pages.
const IDENTITY: &[&str] = &["count", "elements", "flag", "into", "keep", "pages", "parent_key"];
/// The same, where the end that documents keep is called by an unknown word,
const WITHOUT_KEEP: &[&str] = &["count", "elements", "flag", "into", "pages", "parent_key"];
/// and where nothing else can be made out.
const PLACE: &[&str] = &["into"];

/// The arrays that overflow, without bounds: nothing is to be written under this policy.
pub fn salvage(namespace: &Namespace, policy: &RawDocument) -> Policy {
    let arrays = get_value(policy, "arrays").and_then(|arrays| arrays.as_document());
    let rules = arrays.into_iter().flat_map(elements);
    let overflows = rules.filter_map(|rule| {
        let path = Path::new(rule.key);
        overflow_of(namespace, &path, rule.value().as_document()?)
    });
    let rule = |overflow: Overflow| ArrayRule {
        path: overflow.path.clone(),
        bounds: overflow.head,
        on_limit: OnLimit::Overflow(Arc::new(overflow)),
    };
    let arrays: Vec<ArrayRule> = overflows.map(rule).collect();
    let salvaged = Policy {
        namespace: namespace.clone(),
        document: DocumentBounds::default(),
        undeclared: Undeclared::default(),
        digest: Digest::of(Undeclared::default(), &arrays),
        arrays,
        leaving: false,
    };
    // The version that wrote the policy may have kept counters of another kind.
    salvaged.with_counted(false)
}

fn overflow_of(namespace: &Namespace, path: &Path, rule: &RawDocument) -> Option<Overflow> {
    let options = get_value(rule, "overflow").and_then(|options| options.as_document());
    let on_limit = get_value(rule, "on_limit").and_then(|word| word.as_str());
    if options.is_none() && on_limit != Some("overflow") {
        return None;
    }
    [IDENTITY, WITHOUT_KEEP, PLACE].into_iter().find_map(|keys| {
        let known = only(options, keys);
        let bounds = Bounds { max: None, max_bytes: None };
        overflow::read(namespace, &Reader::new(rule), Some(&Reader::new(&known)), path, bounds).ok()
    })
}

/// Those of the options that are texts under these keys.
fn only(options: Option<&RawDocument>, keys: &[&str]) -> bson::RawDocumentBuf {
    let mut known = DocumentWriter::new();
    let options = options.into_iter().flat_map(elements);
    options
        .filter(|option| keys.contains(&option.key) && option.kind == ElementType::String)
        .for_each(|option| known.copy(option));
    known.finish()
}

#[cfg(test)]
mod tests {
    use super::super::Keep;
    use super::*;
    use bson::rawdoc;

    #[test]
    fn pages_are_found_whatever_else_a_policy_says() {
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = rawdoc! {
            "shards": 3,
            "arrays": {
                "a": { "max": 2, "on_limit": "overflow" },
                "b": { "spread": true, "overflow": { "into": "p", "parent_key": "k", "size": 9 } },
                "e": { "on_limit": "overflow", "overflow": { "keep": "middle", "parent_key": "k" } },
                "f": { "max": 2 },
                "g": 7,
                "h": { "on_limit": "overflow", "overflow": { "keep": "newest", "into": "$" } },
            },
        };
        let salvaged = salvage(&namespace, &policy);
        let found = |it: &Arc<Overflow>| {
            format!("{} {} {} {}", it.path, it.into, it.parent_key, it.keep == Keep::Oldest)
        };
        let found: Vec<String> = salvaged.overflows().map(found).collect();
        assert_eq!(found, ["a d.c_a parentId true", "b d.p k true", "e d.c_e k true"]);
        assert!(!salvaged.is_counted());
    }
}
