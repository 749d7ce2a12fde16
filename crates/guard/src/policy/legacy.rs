//! Policies that were stored when other defaults held. They keep their meaning: what they left
//! out is written out.

use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use command::Namespace;
use value::element::get_value;
use value::{DocumentWriter, Element, elements};

/// Which defaults a stored policy goes by, in its document. One that says nothing goes by the
/// first: reads show the head, counters are fields, and there is a view of all elements.
pub const DEFAULTS: &str = "defaults";
pub const DEFAULTS_NOW: i32 = 2;

/// A stored policy by the defaults of now.
pub fn explicit(namespace: &Namespace, stored: &RawDocument) -> Option<RawDocumentBuf> {
    let policy = get_value(stored, "policy")?.as_document()?;
    if get_value(stored, DEFAULTS).is_some() {
        return Some(policy.to_owned());
    }
    Some(written_out(namespace, policy))
}

/// A policy of the first defaults, with what it left out.
pub fn written_out(namespace: &Namespace, policy: &RawDocument) -> RawDocumentBuf {
    let mut out = DocumentWriter::new();
    for field in elements(policy) {
        match field.as_document().filter(|_| field.key == "arrays") {
            Some(arrays) => {
                out.begin_document(field.key);
                elements(arrays).for_each(|rule| write_rule(namespace, rule, &mut out));
                out.end();
            }
            None => out.copy(field),
        }
    }
    out.finish()
}

fn write_rule(namespace: &Namespace, rule: Element<'_>, out: &mut DocumentWriter) {
    let document = rule.as_document().filter(|_| rule.kind == ElementType::EmbeddedDocument);
    let overflows = |rule: &RawDocument| {
        get_value(rule, "on_limit").and_then(|word| word.as_str()) == Some("overflow")
    };
    let Some(document) = document.filter(|document| overflows(document)) else {
        return out.copy(rule);
    };
    out.begin_document(rule.key);
    elements(document).filter(|key| key.key != "overflow").for_each(|key| out.copy(key));
    let nothing = RawDocumentBuf::new();
    let options = get_value(document, "overflow").and_then(|options| options.as_document());
    out.begin_document("overflow");
    write_options(namespace, rule.key, options.unwrap_or(&nothing), out);
    out.end();
    out.end();
}

fn write_options(
    namespace: &Namespace,
    path: &str,
    options: &RawDocument,
    out: &mut DocumentWriter,
) {
    elements(options).for_each(|option| out.copy(option));
    let own = format!("{}_{}", namespace.collection, path.replace('.', "_"));
    let into = get_value(options, "into").and_then(|into| into.as_str()).unwrap_or(&own);
    let defaults = [
        ("read", "head".to_owned()),
        ("count", format!("{path}Count")),
        ("flag", format!("{path}HasOverflow")),
        ("pages", format!("{path}OverflowPages")),
        ("elements", format!("{into}_all")),
    ];
    for (key, default) in defaults {
        if get_value(options, key).is_none() {
            out.append_str(key, &default);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use crate::policy::Read;
    use bson::rawdoc;
    use value::Path;

    #[test]
    fn a_policy_of_the_first_defaults_keeps_its_meaning() {
        let namespace = Namespace::new("d", "c").unwrap();
        let stored = rawdoc! { "_id": "c", "policy": { "arrays": {
            "s.a": { "max": 2, "on_limit": "overflow" },
            "b": { "max": 2, "on_limit": "overflow", "overflow": {
                "into": "p", "read": "merged", "count": "n",
            } },
            "r": { "max": 2 },
        } } };
        let policy = Policy::parse(&namespace, &explicit(&namespace, &stored).unwrap()).unwrap();
        let [a, b] = &policy.overflows().collect::<Vec<_>>()[..] else { panic!("two") };
        let names =
            [Path::new("s.aCount"), Path::new("s.aHasOverflow"), Path::new("s.aOverflowPages")];
        assert_eq!(a.named().cloned().collect::<Vec<_>>(), names);
        assert_eq!((a.read, &*a.view.as_ref().unwrap().collection), (Read::Head, "c_s_a_all"));
        assert_eq!((b.read, &*b.view.as_ref().unwrap().collection), (Read::Merged, "p_all"));
        assert_eq!(b.count, Some(Path::new("n")));
        assert_eq!(policy.arrays.len(), 3);
    }

    #[test]
    fn a_policy_of_the_defaults_of_now_stays_as_it_is() {
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = rawdoc! { "arrays": { "a": { "max": 2, "on_limit": "overflow" } } };
        let stored = rawdoc! { "_id": "c", "policy": policy.clone(), "defaults": DEFAULTS_NOW };
        assert_eq!(explicit(&namespace, &stored).unwrap(), policy);
    }
}
