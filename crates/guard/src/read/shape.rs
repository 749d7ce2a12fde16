//! How a projection wants the arrays that overflow.

use super::Show;
use crate::policy::{Overflow, Policy, Read};
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::Result;
use language::Needs;
use language::projection::Slice;
use std::sync::Arc;
use value::{DocumentWriter, Element, Number, Path, elements};

/// The arrays that are to be shown as more, or other, than their heads.
#[derive(Debug, Clone)]
pub struct Shape {
    pub shown: Vec<(Arc<Overflow>, Show)>,
    /// The projection for what is shown: without the `$slice`s that are done.
    pub projection: Option<RawDocumentBuf>,
}

impl Shape {
    /// `None` if documents are shown as they are stored.
    pub fn new(policy: &Policy, projection: Option<&RawDocument>) -> Result<Option<Shape>> {
        let rules: Vec<&Arc<Overflow>> = policy.overflows().collect();
        let mut sliced = Vec::new();
        let projection = match projection {
            Some(spec) => {
                let mut out = DocumentWriter::new();
                rewrite(spec, None, &rules, &mut sliced, &mut out)?;
                Some(out.finish())
            }
            None => None,
        };
        let mut shown = Vec::new();
        for rule in rules {
            let slice = sliced.iter().find(|(path, _)| *path == rule.path);
            match slice {
                Some((_, slice)) => shown.push((rule.clone(), Show::Slice(*slice))),
                None if rule.read == Read::Merged => shown.push((rule.clone(), Show::Whole)),
                None => {}
            }
        }
        Ok((!shown.is_empty()).then_some(Shape { shown, projection }))
    }

    /// Whether some array that is shown whole is among what is looked at.
    pub fn merges(&self, needs: &Needs) -> bool {
        let whole = self.shown.iter().filter(|(rule, _)| rule.read == Read::Merged);
        whole.into_iter().any(|(rule, _)| needs.contains(&rule.path))
    }

    /// Drops the arrays that nobody looks at.
    pub fn restrict(&mut self, needs: &Needs) {
        self.shown.retain(|(rule, _)| needs.contains(&rule.path));
    }

    /// What must be loaded beforehand: the heads are, as far as they are shown.
    pub fn needs(&self, needs: Needs) -> Needs {
        let covers = |path: &Path| self.shown.iter().any(|(rule, _)| rule.path.is_prefix_of(path));
        match needs {
            Needs::All => Needs::Except(self.shown.iter().map(|(it, _)| it.path.clone()).collect()),
            Needs::Paths(paths) => {
                let mut needs =
                    Needs::Paths(paths.into_iter().filter(|path| !covers(path)).collect());
                // Whose pages they are, and whether there are any.
                needs.add(&Path::new("_id"));
                for (rule, _) in &self.shown {
                    rule.counters().into_iter().for_each(|counter| needs.add(counter));
                }
                needs
            }
            Needs::Except(mut paths) => {
                paths.extend(self.shown.iter().map(|(rule, _)| rule.path.clone()));
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
) -> Result<()> {
    for field in elements(spec) {
        let path = match at {
            Some(at) => at.join(field.key),
            None => Path::new(field.key),
        };
        let rule = rules.iter().find(|rule| rule.path == path);
        match (rule.and_then(|_| slice_of(field)), field.value()) {
            (Some(argument), _) => {
                sliced.push((path, Slice::parse(argument)?));
                out.begin_document(field.key);
                out.append_i32("$slice", i32::MAX);
                out.end();
            }
            (None, RawBsonRef::Document(inner))
                if !is_operator(inner)
                    && rules.iter().any(|rule| path.is_prefix_of(&rule.path)) =>
            {
                out.begin_document(field.key);
                rewrite(inner, Some(&path), rules, sliced, out)?;
                out.end();
            }
            _ => out.copy(field),
        }
    }
    Ok(())
}

fn is_operator(spec: &RawDocument) -> bool {
    elements(spec).next().is_some_and(|first| first.key.starts_with('$'))
}

/// The argument of `find`'s own `$slice`; that of the expression names an array.
fn slice_of(field: Element<'_>) -> Option<Element<'_>> {
    if field.kind != ElementType::EmbeddedDocument {
        return None;
    }
    let argument = field.children().next().filter(|first| first.key == "$slice")?;
    let first = match argument.kind {
        ElementType::Array => argument.children().next()?,
        _ => argument,
    };
    Number::from_value(first.value()).map(|_| argument)
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
        let policy = Policy::parse(&namespace, &policy).unwrap();
        let shape = |spec: &RawDocument| Shape::new(&policy, Some(spec)).unwrap();
        for spec in [
            rawdoc! { "s.a": { "$slice": [-3, 2] }, "b": { "$slice": 1 } },
            rawdoc! { "s": { "a": { "$slice": [-3, 2] } }, "b": { "$slice": 1 } },
        ] {
            let shape = shape(&spec).unwrap();
            let Show::Slice(slice) = &shape.shown[0].1 else { panic!("a slice") };
            assert_eq!(slice.range(10), 7..9);
            let written = value::text::document(&shape.projection.unwrap());
            assert!(written.contains("$slice: 2147483647") && written.contains("$slice: 1"));
        }
        assert!(shape(&rawdoc! { "s.a": { "$slice": ["$s.a", 2] } }).is_none());
        assert!(shape(&rawdoc! { "s.a": 1 }).is_none());
    }
}
