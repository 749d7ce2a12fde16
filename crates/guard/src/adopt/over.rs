//! What is over its bounds and stays so: nobody but its owner may let it go.

use crate::patterns::overflow::{Mass, int};
use crate::patterns::{bounds, place};
use crate::policy::{OnLimit, Overflow, Policy};
use bson::RawDocument;
use value::{DocumentWriter, Path};

/// Why an array that overflows cannot do so here.
const BELOW_ARRAY: &str = "the path goes through an array; expected sub-documents on the way";

/// A bound of the policy that a document is over, or cannot be brought under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Over {
    /// The array; `None` for the document as a whole.
    pub path: Option<String>,
    /// How many elements it has.
    pub elements: Option<usize>,
    pub bytes: usize,
    /// What is in the way, where it is not the size.
    pub reason: Option<&'static str>,
}

impl Over {
    /// What settling leaves over its bounds, in a document of this size.
    pub fn of(policy: &Policy, document: &RawDocument, size: usize) -> Vec<Over> {
        let mut over = Vec::new();
        for rule in policy.arrays.iter().filter(|rule| rule.on_limit == OnLimit::Reject) {
            for array in place::arrays(document, &rule.path) {
                let len = array.children().count();
                if !rule.bounds.hold(len, array.bytes.len()) {
                    over.push(Over::array(rule.path.as_str(), len, array.bytes.len()));
                }
            }
        }
        for rule in policy.overflows() {
            over.extend(Over::below_array(&rule.path, document));
        }
        for (path, len, bytes) in bounds::undeclared_over(policy, document) {
            over.push(Over::array(&path, len, bytes));
        }
        if policy.document.max_bytes.is_some_and(|max| size > max) {
            over.push(Over::whole(size));
        }
        over
    }

    /// The first array that is over its bounds and that settling brings into them.
    pub fn movable(policy: &Policy, document: &RawDocument) -> Option<Over> {
        let rules = policy.arrays.iter().filter(|rule| rule.on_limit != OnLimit::Reject);
        rules.into_iter().find_map(|rule| {
            let measured = place::arrays(document, &rule.path).into_iter();
            let measured = measured.map(|it| (it.children().count(), it.bytes.len()));
            let over = measured.into_iter().find(|(len, bytes)| !rule.bounds.hold(*len, *bytes))?;
            Some(Over::array(rule.path.as_str(), over.0, over.1))
        })
    }

    /// An array that is over its bounds as a whole, head and pages together.
    pub fn total(rule: &Overflow, mass: Mass) -> Option<Over> {
        let is_over = !mass.is_within(rule.total);
        is_over.then(|| Over::array(rule.path.as_str(), mass.count, mass.array_bytes()))
    }

    /// The document itself.
    fn whole(size: usize) -> Over {
        Over { path: None, elements: None, bytes: size, reason: None }
    }

    fn array(path: &str, len: usize, bytes: usize) -> Over {
        Over { path: Some(path.to_owned()), elements: Some(len), bytes, reason: None }
    }

    /// Arrays that were to overflow and stand in an array: writes to them are refused.
    fn below_array(path: &Path, document: &RawDocument) -> Option<Over> {
        let above = place::array_above(document, path)?;
        let len = place::arrays(document, path).iter().map(|it| it.children().count()).sum();
        let over = Over::array(path.as_str(), len, above.bytes.len());
        Some(Over { reason: Some(BELOW_ARRAY), ..over })
    }

    /// As replies show it.
    pub fn write(&self, out: &mut DocumentWriter) {
        if let Some(path) = &self.path {
            out.append_str("path", path);
        }
        if let Some(elements) = self.elements {
            out.append("elements", int(elements).as_raw_bson_ref());
        }
        out.append("bytes", int(self.bytes).as_raw_bson_ref());
        if let Some(reason) = self.reason {
            out.append_str("reason", reason);
        }
    }
}
