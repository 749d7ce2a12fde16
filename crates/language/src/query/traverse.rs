//! What a dotted path reaches in a document, arrays included.
//!
//! A path may reach many values. An array at the end of the path gives each of
//! its elements and then itself; an array on the way is passed through: each
//! document in it is followed by name, and a numeric component also picks the
//! element of that index. Arrays directly inside arrays are not passed through.
//! A name that is not there gives "missing", once for each document asked; what
//! is neither document nor array, met inside an array on the way, gives nothing.

use bson::spec::ElementType;
use error::Result;
use value::{Element, Elements, Path};

/// What an array at the end of the path gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// Its elements, then itself.
    Each,
    /// Itself.
    Whole,
}

/// A path on its way.
#[derive(Clone, Copy)]
pub struct Route<'p> {
    pub path: &'p Path,
    pub leaf: Leaf,
    /// Which component comes next.
    at: usize,
    /// What the outermost array passed so far makes of the positional `$`.
    position: Option<Option<usize>>,
}

impl<'p> Route<'p> {
    pub fn new(path: &'p Path, leaf: Leaf) -> Route<'p> {
        Route { path, leaf, at: 0, position: None }
    }

    fn is_done(&self) -> bool {
        self.at == self.path.len()
    }

    fn next(self) -> Route<'p> {
        Route { at: self.at + 1, ..self }
    }

    /// The outermost array decides; inner ones do not change it.
    fn through(self, position: Option<usize>) -> Route<'p> {
        Route { position: Some(self.position.unwrap_or(position)), ..self }
    }
}

/// Calls `visit` with each value (`None` is missing) and the index for the
/// positional `$`, until it says true; says whether it did.
pub fn document<'a, V>(mut fields: Elements<'a>, route: Route<'_>, visit: &mut V) -> Result<bool>
where
    V: FnMut(Option<Element<'a>>, Option<usize>) -> Result<bool>,
{
    let mut route = route;
    loop {
        let position = route.position.flatten();
        let Some(element) = fields.find_first(route.path.component(route.at)) else {
            return visit(None, position);
        };
        route = route.next();
        match element.kind {
            ElementType::Array => return array(element, route, visit),
            _ if route.is_done() => return visit(Some(element), position),
            ElementType::EmbeddedDocument => fields = element.children(),
            _ => return visit(None, position),
        }
    }
}

fn array<'a, V>(element: Element<'a>, route: Route<'_>, visit: &mut V) -> Result<bool>
where
    V: FnMut(Option<Element<'a>>, Option<usize>) -> Result<bool>,
{
    if route.is_done() {
        if route.leaf == Leaf::Each {
            for (index, item) in element.children().items().enumerate() {
                if visit(Some(item), route.through(Some(index)).position.flatten())? {
                    return Ok(true);
                }
            }
        }
        return visit(Some(element), route.position.flatten());
    }
    let wanted = route.path.index(route.at);
    for (index, item) in element.children().items().enumerate() {
        if item.kind == ElementType::EmbeddedDocument
            && document(item.children(), route.through(Some(index)), visit)?
        {
            return Ok(true);
        }
        if wanted == Some(index) && picked(item, index, route.next(), visit)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Goes on from the element that a numeric component names.
fn picked<'a, V>(item: Element<'a>, index: usize, route: Route<'_>, visit: &mut V) -> Result<bool>
where
    V: FnMut(Option<Element<'a>>, Option<usize>) -> Result<bool>,
{
    if route.is_done() {
        return visit(Some(item), route.through(Some(index)).position.flatten());
    }
    match item.kind {
        ElementType::EmbeddedDocument => document(item.children(), route.through(None), visit),
        ElementType::Array => array(item, route.through(None), visit),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{RawBsonRef, RawDocumentBuf, rawdoc};

    fn reached(document: &RawDocumentBuf, path: &str, leaf: Leaf) -> Vec<String> {
        let path = Path::new(path);
        let mut found = Vec::new();
        let mut visit = |element: Option<Element<'_>>, position: Option<usize>| {
            let value = match element.map(|element| element.value()) {
                None => "missing".into(),
                Some(RawBsonRef::Int32(number)) => number.to_string(),
                Some(RawBsonRef::Array(array)) => format!("[{}]", array.into_iter().count()),
                Some(RawBsonRef::Document(document)) => format!("{{{}}}", document.iter().count()),
                Some(other) => format!("{other:?}"),
            };
            found.push(position.map_or(value.clone(), |index| format!("{value}@{index}")));
            Ok(false)
        };
        super::document(value::elements(document), Route::new(&path, leaf), &mut visit).unwrap();
        found
    }

    #[test]
    fn plain_paths() {
        let document = rawdoc! { "a": { "b": { "c": 1 } }, "n": 5 };
        assert_eq!(reached(&document, "a.b.c", Leaf::Each), ["1"]);
        assert_eq!(reached(&document, "a.b", Leaf::Each), ["{1}"]);
        assert_eq!(reached(&document, "a.x.c", Leaf::Each), ["missing"]);
        assert_eq!(reached(&document, "n.x", Leaf::Each), ["missing"]);
    }

    #[test]
    fn an_array_at_the_end_gives_elements_then_itself() {
        let document = rawdoc! { "a": [5, [6, 7]], "e": [] };
        assert_eq!(reached(&document, "a", Leaf::Each), ["5@0", "[2]@1", "[2]"]);
        assert_eq!(reached(&document, "a", Leaf::Whole), ["[2]"]);
        assert_eq!(reached(&document, "e", Leaf::Each), ["[0]"]);
        assert!(reached(&document, "e.x", Leaf::Each).is_empty());
    }

    #[test]
    fn arrays_on_the_way_are_passed_through_once() {
        let document = rawdoc! { "a": [{ "b": 1 }, 9, { "c": 2 }, { "b": [3, 4] }, [{ "b": 8 }]] };
        assert_eq!(
            reached(&document, "a.b", Leaf::Each),
            ["1@0", "missing@2", "3@3", "4@3", "[2]@3"]
        );
        assert_eq!(reached(&document, "a.b", Leaf::Whole), ["1@0", "missing@2", "[2]@3"]);
    }

    #[test]
    fn numeric_components_pick_elements_and_name_fields() {
        let document = rawdoc! { "a": [5, { "1": 4 }] };
        assert_eq!(reached(&document, "a.1", Leaf::Each), ["4@1", "{1}@1"]);
        let document = rawdoc! { "a": [5, [2, 4]] };
        assert_eq!(reached(&document, "a.1", Leaf::Each), ["[2]@1"]);
        assert_eq!(reached(&document, "a.1.0", Leaf::Each), ["2"]);
        let document = rawdoc! { "a": [5, { "b": 4 }] };
        assert_eq!(reached(&document, "a.1.b", Leaf::Each), ["missing@1", "4"]);
        let document = rawdoc! { "a": [5, [{ "b": 4 }]] };
        assert_eq!(reached(&document, "a.1.b", Leaf::Each), ["4"]);
        let document = rawdoc! { "a": [5, 6] };
        assert!(reached(&document, "a.01", Leaf::Each).is_empty());
        assert!(reached(&document, "a.2", Leaf::Each).is_empty());
    }
}
