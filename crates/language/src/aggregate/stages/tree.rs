//! Fields to set or to remove, as a tree over their paths, applied to a raw
//! document: what the tree does not name is copied as bytes.

use crate::Needs;
use crate::aggregate::expressions::Expression;
use bson::{RawArray, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::Result;
use value::element::{Element, array_elements, elements};
use value::{ArrayWriter, DocumentWriter, Path, Value};

/// What happens at a field.
#[derive(Debug)]
pub enum Change {
    Set(Expression),
    Remove,
    Below(Tree),
}

/// Two paths of a tree of which one begins with the other.
#[derive(Debug)]
pub struct Conflict;

#[derive(Debug, Default)]
pub struct Tree {
    fields: Vec<(Box<str>, Change)>,
}

impl Tree {
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub fn insert(&mut self, path: &Path, change: Change) -> std::result::Result<(), Conflict> {
        self.insert_at(path, 0, change)
    }

    fn insert_at(
        &mut self,
        path: &Path,
        at: usize,
        change: Change,
    ) -> std::result::Result<(), Conflict> {
        let name = path.component(at);
        let known = self.fields.iter_mut().find(|(field, _)| **field == *name);
        let last = at + 1 == path.len();
        match known {
            Some((_, Change::Below(tree))) if !last => tree.insert_at(path, at + 1, change),
            Some(_) => Err(Conflict),
            None if last => {
                self.fields.push((name.into(), change));
                Ok(())
            }
            None => {
                let mut tree = Tree::default();
                tree.insert_at(path, at + 1, change)?;
                self.fields.push((name.into(), Change::Below(tree)));
                Ok(())
            }
        }
    }

    pub fn needs(&self, needs: &mut Needs) {
        for (_, change) in &self.fields {
            match change {
                Change::Set(expression) => expression.needs(needs),
                Change::Remove => {}
                Change::Below(tree) => tree.needs(needs),
            }
        }
    }

    /// The paths that are changed.
    pub fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.collect_paths("", &mut paths);
        paths
    }

    fn collect_paths(&self, prefix: &str, paths: &mut Vec<Path>) {
        for (name, change) in &self.fields {
            let path =
                if prefix.is_empty() { name.to_string() } else { format!("{prefix}.{name}") };
            match change {
                Change::Below(tree) => tree.collect_paths(&path, paths),
                _ => paths.push(Path::new(&path)),
            }
        }
    }

    pub fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        let mut out = DocumentWriter::new();
        self.apply_to(document, document, &mut out)?;
        Ok(out.finish())
    }

    /// Writes `document`, changed; expressions are of `root`.
    fn apply_to(
        &self,
        document: &RawDocument,
        root: &RawDocument,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        let mut seen = vec![false; self.fields.len()];
        for element in elements(document) {
            match self.fields.iter().position(|(name, _)| **name == *element.key) {
                None => out.copy(element),
                Some(at) => {
                    seen[at] = true;
                    self.change(at, Some(element), root, out)?;
                }
            }
        }
        for at in (0..self.fields.len()).filter(|at| !seen[*at]) {
            self.change(at, None, root, out)?;
        }
        Ok(())
    }

    fn change(
        &self,
        at: usize,
        before: Option<Element<'_>>,
        root: &RawDocument,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        let (name, change) = &self.fields[at];
        match change {
            Change::Remove => {}
            Change::Set(expression) => {
                if let Some(value) = expression.evaluate(root)? {
                    out.append(name, value.get());
                }
            }
            Change::Below(tree) => {
                let before = before.map(|element| element.value());
                if let Some(value) = tree.below(before, root)? {
                    out.append(name, value.get());
                }
            }
        }
        Ok(())
    }

    /// A value, changed below it. Arrays are changed element by element.
    fn below<'a>(
        &self,
        before: Option<RawBsonRef<'a>>,
        root: &RawDocument,
    ) -> Result<Option<Value<'a>>> {
        match before {
            Some(RawBsonRef::Document(document)) => {
                let mut out = DocumentWriter::new();
                self.apply_to(document, root, &mut out)?;
                Ok(Some(Value::Own(RawBson::Document(out.finish()))))
            }
            Some(RawBsonRef::Array(array)) => Ok(Some(self.below_array(array, root)?)),
            // A removal below a scalar leaves it; a new field replaces it.
            other if !self.sets() => Ok(other.map(Value::Ref)),
            _ => {
                let mut out = DocumentWriter::new();
                self.apply_to(&RawDocumentBuf::new(), root, &mut out)?;
                Ok(Some(Value::Own(RawBson::Document(out.finish()))))
            }
        }
    }

    fn below_array<'a>(&self, array: &RawArray, root: &RawDocument) -> Result<Value<'a>> {
        let mut out = ArrayWriter::new();
        for element in array_elements(array) {
            if let Some(value) = self.below(Some(element.value()), root)? {
                out.push(value.get());
            }
        }
        Ok(Value::Own(RawBson::Array(out.finish())))
    }

    fn sets(&self) -> bool {
        self.fields.iter().any(|(_, change)| match change {
            Change::Set(_) => true,
            Change::Remove => false,
            Change::Below(tree) => tree.sets(),
        })
    }
}
