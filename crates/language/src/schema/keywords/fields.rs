//! The fields of a document that a schema names. A name with dots in it is a path, as in
//! MongoDB, which reads the schema into conditions of a filter; what it reaches through an
//! array is many values.

use crate::query::traverse::{self, Leaf, Route};
use bson::spec::ElementType;
use error::Result;
use rustc_hash::FxHashMap;
use value::{Element, Path};

/// From how many names on the fields are looked up in a table.
const TABLE_NAMES_MIN: usize = 16;

pub struct Fields<'a> {
    document: Element<'a>,
    table: Option<FxHashMap<&'a str, Element<'a>>>,
}

impl<'a> Fields<'a> {
    /// Those of a value, of which `names` will be asked for; `None` if it is no document.
    pub fn of(value: Element<'a>, names: usize) -> Option<Fields<'a>> {
        if value.kind != ElementType::EmbeddedDocument {
            return None;
        }
        let table = (names >= TABLE_NAMES_MIN).then(|| {
            let mut table = FxHashMap::default();
            for field in value.children() {
                table.entry(field.key).or_insert(field);
            }
            table
        });
        Some(Fields { document: value, table })
    }

    /// Whether one of the values at a path is as asked; `None` if there is none.
    pub fn any(
        &self,
        path: &Path,
        mut is_so: impl FnMut(Element<'a>) -> Result<bool>,
    ) -> Result<Option<bool>> {
        if path.len() == 1 {
            return self.find(path.as_str()).map(is_so).transpose();
        }
        let mut is_there = false;
        let mut visit = |value: Option<Element<'a>>, _| {
            is_there |= value.is_some();
            value.map_or(Ok(false), &mut is_so)
        };
        let route = Route::new(path, Leaf::Whole);
        let found = traverse::document(self.document.children(), route, &mut visit)?;
        Ok(is_there.then_some(found))
    }

    /// The first value at a path.
    pub fn first(&self, path: &Path) -> Option<Element<'a>> {
        let mut first = None;
        let seen = self.any(path, |value| {
            first = Some(value);
            Ok(true)
        });
        seen.ok().and(first)
    }

    pub fn has(&self, path: &Path) -> bool {
        self.first(path).is_some()
    }

    fn find(&self, name: &str) -> Option<Element<'a>> {
        match &self.table {
            Some(table) => table.get(name).copied(),
            None => self.document.children().find_key(name),
        }
    }
}
