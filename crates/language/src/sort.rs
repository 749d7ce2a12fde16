//! Sort patterns: parsed once, made into keys that compare by bytes.

use crate::Needs;
use bson::{RawArray, RawArrayBuf, RawBsonRef, RawDocument};
use error::{Code, Result};
use value::element::{array_elements, elements, get};
use value::key::{Direction, Key};
use value::{ArrayWriter, Collator, Number, Path, wide};

/// How many fields a pattern may have.
const FIELDS_MAX: usize = 32;

/// `{a: 1, "b.c": -1}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    fields: Vec<(Path, Direction)>,
}

impl Pattern {
    /// Parses a pattern with the codes of `$sort`.
    pub fn parse(pattern: &RawDocument) -> Result<Pattern> {
        check_len(pattern)?;
        let mut fields = Vec::new();
        for element in elements(pattern) {
            let direction = match element.value() {
                RawBsonRef::Document(document) => return Err(meta(document)),
                // The fraction of a direction is dropped.
                value => match Number::from_value(value).map(Number::to_i64_truncated) {
                    None => {
                        return Err(Code::location(15974).error(format!(
                            "Illegal key in $sort specification: {}",
                            crate::describe::element(element)
                        )));
                    }
                    Some(Some(1)) => Direction::Ascending,
                    Some(Some(-1)) => Direction::Descending,
                    Some(_) => {
                        return Err(Code::location(15975).error(
                            "$sort key ordering must be 1 (for ascending) or -1 (for descending)",
                        ));
                    }
                },
            };
            let path = crate::aggregate::expressions::FieldPath::parse(element.key)?;
            if fields.iter().any(|(known, _)| known == path.path()) {
                return Err(Code::location(7472500).error(format!(
                    "$sort key must not contain duplicate keys (duplicate: '{}')",
                    element.key
                )));
            }
            fields.push((path.path().clone(), direction));
        }
        if fields.is_empty() {
            return Err(Code::location(15976).error("$sort stage must have at least one sort key"));
        }
        Ok(Pattern { fields })
    }

    /// A pattern of one ascending field.
    pub fn ascending(path: Path) -> Pattern {
        Pattern { fields: vec![(path, Direction::Ascending)] }
    }

    pub fn from_fields(fields: Vec<(Path, Direction)>) -> Pattern {
        Pattern { fields }
    }

    pub fn fields(&self) -> &[(Path, Direction)] {
        &self.fields
    }

    pub fn needs(&self, needs: &mut Needs) {
        self.fields.iter().for_each(|(path, _)| needs.add(path));
    }

    /// Appends a document's key: compared as bytes, keys order as the pattern
    /// does. Of an array the least element counts, or the greatest where the
    /// field descends.
    pub fn key(
        &self,
        document: &RawDocument,
        collator: Option<&Collator>,
        key: &mut Key,
    ) -> Result<()> {
        let _entered = wide::enter(document);
        let mut array: Option<(&Path, usize)> = None;
        for (path, direction) in &self.fields {
            let search = Search::of(path, *direction, document, collator);
            if let Some(at) = search.array_at {
                match array {
                    Some((other, other_at)) if !same_prefix(path, at, other, other_at) => {
                        return Err(
                            Code::BadValue.error("cannot sort with keys that are parallel arrays")
                        );
                    }
                    _ => array = Some((path, at)),
                }
            }
            key.push(search.best.unwrap_or(RawBsonRef::Null), *direction, collator);
        }
        Ok(())
    }

    /// The values that a document is sorted by.
    pub fn values(&self, document: &RawDocument, collator: Option<&Collator>) -> RawArrayBuf {
        let _entered = wide::enter(document);
        let mut values = ArrayWriter::new();
        for (path, direction) in &self.fields {
            let search = Search::of(path, *direction, document, collator);
            values.push(search.best.unwrap_or(RawBsonRef::Null));
        }
        values.finish()
    }
}

/// Refuses a pattern of too many fields before any of them is looked at.
pub fn check_len(pattern: &RawDocument) -> Result<()> {
    if elements(pattern).nth(FIELDS_MAX).is_some() {
        return Err(Code::location(13103).error("too many compound keys"));
    }
    Ok(())
}

fn same_prefix(a: &Path, a_at: usize, b: &Path, b_at: usize) -> bool {
    a_at == b_at && a.components().zip(b.components()).take(a_at + 1).all(|(a, b)| a == b)
}

/// What can be known of a document beside its fields: all of it comes from
/// searches and samples, which keep none here.
const METADATA: [&str; 5] =
    ["geoNearDistance", "randVal", "searchScore", "textScore", "vectorSearchScore"];

/// The error of `{$meta: …}` as a direction.
pub fn meta(document: &RawDocument) -> error::Error {
    let mut fields = elements(document);
    match (fields.next().filter(|first| first.key == "$meta"), fields.next()) {
        (None, _) => {
            Code::location(17312).error("$meta is the only expression supported by $sort right now")
        }
        (Some(_), Some(_)) => {
            Code::FailedToParse.error("Cannot have additional keys in a $meta sort specification")
        }
        (Some(meta), None) => match meta.value() {
            RawBsonRef::String(name) if METADATA.contains(&name) => Code::location(40218)
                .error(format!("query requires {name} metadata, but it is not available")),
            _ => Code::location(31138).error("Illegal $meta sort"),
        },
    }
}

/// The value that stands for a document at one path.
struct Search<'a> {
    direction: Direction,
    collator: Option<&'a Collator>,
    best: Option<RawBsonRef<'a>>,
    /// The component at which the first array was met.
    array_at: Option<usize>,
}

impl<'a> Search<'a> {
    fn of(
        path: &Path,
        direction: Direction,
        document: &'a RawDocument,
        collator: Option<&'a Collator>,
    ) -> Search<'a> {
        let mut search = Search { direction, collator, best: None, array_at: None };
        search.document(path, 0, document);
        search
    }

    fn document(&mut self, path: &Path, at: usize, document: &'a RawDocument) {
        match get(document, path.component(at)) {
            None => self.offer(RawBsonRef::Null),
            Some(element) => self.value(path, at + 1, element.value()),
        }
    }

    /// A value whose path goes on at component `at`.
    fn value(&mut self, path: &Path, at: usize, value: RawBsonRef<'a>) {
        match value {
            RawBsonRef::Array(array) => {
                self.array_at.get_or_insert(at - 1);
                self.array(path, at, array);
            }
            value if at == path.len() => self.offer(value),
            RawBsonRef::Document(document) => self.document(path, at, document),
            _ => self.offer(RawBsonRef::Null),
        }
    }

    fn array(&mut self, path: &Path, at: usize, array: &'a RawArray) {
        if at == path.len() {
            // An empty array sorts before null.
            let mut empty = true;
            for element in array_elements(array) {
                empty = false;
                self.offer(element.value());
            }
            if empty {
                self.offer(RawBsonRef::Undefined);
            }
            return;
        }
        if let Ok(index) = path.component(at).parse::<usize>()
            && let Some(element) = array_elements(array).nth(index)
        {
            return self.value(path, at + 1, element.value());
        }
        let mut empty = true;
        for element in array_elements(array) {
            empty = false;
            match element.value() {
                RawBsonRef::Document(document) => self.document(path, at, document),
                // It has no such field.
                _ => self.offer(RawBsonRef::Null),
            }
        }
        if empty {
            self.offer(RawBsonRef::Null);
        }
    }

    fn offer(&mut self, value: RawBsonRef<'a>) {
        let better = match self.best {
            None => true,
            Some(best) => {
                let order = value::order::compare_with(value, best, self.collator);
                match self.direction {
                    Direction::Ascending => order.is_lt(),
                    Direction::Descending => order.is_gt(),
                }
            }
        };
        if better {
            self.best = Some(value);
        }
    }
}
