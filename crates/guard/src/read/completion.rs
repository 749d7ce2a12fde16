//! Which arrays a read completes with elements from their pages.

use super::Show;
use crate::policy::{Overflow, Policy, Read};
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use language::Needs;
use language::projection::Slice;
use std::sync::Arc;
use value::{DocumentWriter, Element, Number, Path, elements};

/// The arrays that a read shows as more, or other, than their heads.
#[derive(Debug, Clone)]
pub struct Completion {
    pub arrays: Vec<(Arc<Overflow>, Show)>,
    /// The projection for completed documents: without the `$slice`s that are done.
    pub projection: Option<RawDocumentBuf>,
}

impl Completion {
    /// `None` if documents are shown as they are stored. An array that is sorted by is completed
    /// before that, and sliced by the projection afterwards.
    pub fn new(
        policy: &Policy,
        projection: Option<&RawDocument>,
        sort: &Needs,
    ) -> Option<Completion> {
        if projection.is_none() && !policy.merges() {
            return None;
        }
        let rules: Vec<&Arc<Overflow>> = policy.overflows().collect();
        let mut sliced = Vec::new();
        let projection = match projection {
            Some(spec) => {
                let mut out = DocumentWriter::new();
                let is_sliced =
                    |rule: &&Arc<Overflow>| rule.read == Read::Head || !sort.contains(&rule.path);
                let rules: Vec<&Arc<Overflow>> = rules.iter().copied().filter(is_sliced).collect();
                rewrite(spec, None, &rules, &mut sliced, &mut out);
                Some(out.finish())
            }
            None => None,
        };
        let mut arrays = Vec::new();
        for rule in rules {
            let slice = sliced.iter().find(|(path, _)| *path == rule.path);
            match slice {
                Some((_, slice)) => arrays.push((rule.clone(), Show::Slice(*slice))),
                None if rule.read == Read::Merged => arrays.push((rule.clone(), Show::Whole)),
                None => {}
            }
        }
        (!arrays.is_empty()).then_some(Completion { arrays, projection })
    }

    /// The arrays whose pages count for filters and sorts.
    pub fn merged(&self) -> impl Iterator<Item = &Path> {
        let merged = self.arrays.iter().filter(|(rule, _)| rule.read == Read::Merged);
        merged.map(|(rule, _)| &rule.path)
    }

    /// Whether a computation looks at an array whose pages count for it.
    pub fn reaches(&self, needs: &Needs) -> bool {
        self.merged().any(|path| needs.contains(path))
    }

    /// Drops the arrays that are not looked at.
    pub fn restrict(&mut self, needs: &Needs) {
        self.arrays.retain(|(rule, _)| needs.contains(&rule.path));
    }

    /// What is loaded before completion, which loads the heads itself.
    pub fn needs(&self, needs: Needs) -> Needs {
        let covers = |path: &Path| self.arrays.iter().any(|(rule, _)| rule.path.is_prefix_of(path));
        match needs {
            Needs::All => {
                Needs::Except(self.arrays.iter().map(|(it, _)| it.path.clone()).collect())
            }
            Needs::Paths(paths) => {
                let mut needs =
                    Needs::Paths(paths.into_iter().filter(|path| !covers(path)).collect());
                // Whose pages they are, and whether there are any.
                needs.add(&Path::new("_id"));
                for (rule, _) in &self.arrays {
                    rule.named().for_each(|counter| needs.add(counter));
                }
                needs
            }
            Needs::Except(mut paths) => {
                paths.extend(self.arrays.iter().map(|(rule, _)| rule.path.clone()));
                Needs::Except(paths)
            }
        }
    }
}

/// Copies a projection; a `$slice` of an array that overflows takes all there is.
fn rewrite(
    spec: &RawDocument,
    at: Option<&Path>,
    rules: &[&Arc<Overflow>],
    sliced: &mut Vec<(Path, Slice)>,
    out: &mut DocumentWriter,
) {
    for field in elements(spec) {
        let path = match at {
            Some(at) => at.join(field.key),
            None => Path::new(field.key),
        };
        let rule = rules.iter().find(|rule| rule.path == path);
        match (rule.and_then(|_| slice_of(field)), field.value()) {
            (Some(slice), _) => {
                sliced.push((path, slice));
                out.begin_document(field.key);
                out.append_i32("$slice", i32::MAX);
                out.end();
            }
            (None, RawBsonRef::Document(inner))
                if !is_operator(inner)
                    && rules.iter().any(|rule| path.is_prefix_of(&rule.path)) =>
            {
                out.begin_document(field.key);
                rewrite(inner, Some(&path), rules, sliced, out);
                out.end();
            }
            _ => out.copy(field),
        }
    }
}

fn is_operator(spec: &RawDocument) -> bool {
    elements(spec).next().is_some_and(|first| first.key.starts_with('$'))
}

/// `find`'s own `$slice`; that of the expression names an array. One that is wrong stays where it
/// is, for the projection to refuse.
fn slice_of(field: Element<'_>) -> Option<Slice> {
    if field.kind != ElementType::EmbeddedDocument {
        return None;
    }
    let argument = field.children().next().filter(|first| first.key == "$slice")?;
    let first = match argument.kind {
        ElementType::Array => argument.children().next()?,
        _ => argument,
    };
    Number::from_value(first.value())?;
    Slice::parse(argument).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;
    use command::Namespace;

    #[test]
    fn slices_of_the_array_are_taken_out_of_the_projection() {
        let namespace = Namespace::new("d", "c").unwrap();
        let policy = rawdoc! { "arrays": { "s.a": { "max": 2, "on_limit": "overflow" } } };
        let policy = crate::policy::legacy::written_out(&namespace, &policy);
        let policy = Policy::parse(&namespace, &policy).unwrap();
        let completion = |spec: &RawDocument| Completion::new(&policy, Some(spec), &Needs::none());
        for spec in [
            rawdoc! { "s.a": { "$slice": [-3, 2] }, "b": { "$slice": 1 } },
            rawdoc! { "s": { "a": { "$slice": [-3, 2] } }, "b": { "$slice": 1 } },
        ] {
            let completion = completion(&spec).unwrap();
            let Show::Slice(slice) = &completion.arrays[0].1 else { panic!("a slice") };
            assert_eq!(slice.range(10), 7..9);
            let written = value::text::document(&completion.projection.unwrap());
            assert!(written.contains("$slice: 2147483647") && written.contains("$slice: 1"));
        }
        assert!(completion(&rawdoc! { "s.a": { "$slice": ["$s.a", 2] } }).is_none());
        assert!(completion(&rawdoc! { "s.a": 1 }).is_none());
    }
}
