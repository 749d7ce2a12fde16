//! The store as it was at one moment.

use super::{Collections, Kept, Row};
use bson::spec::ElementType;
use bson::{RawBson, RawBsonRef, RawDocument};
use command::Namespace;
use error::Result;
use guard::patterns::place;
use language::Needs;
use language::query::Filter;
use std::sync::Arc;
use value::element::get_value;
use value::{Path, elements};
use write::{Outline, Snapshot, Visit};

pub struct Past {
    pub(super) collections: Collections,
}

impl Snapshot for Past {
    type Row = Row;

    async fn walk(
        &mut self,
        namespace: &Namespace,
        after: Option<RawBsonRef<'_>>,
        documents: usize,
        bytes: usize,
    ) -> Result<Vec<Row>> {
        let id = |document: &Kept| RawBson::from(get_value(document, "_id").unwrap());
        let compare =
            |a: &RawBson, b: &RawBson| value::compare(a.as_raw_bson_ref(), b.as_raw_bson_ref());
        let mut found = self.collections.get(namespace).cloned().unwrap_or_default();
        found.sort_by(|a, b| compare(&id(a), &id(b)));
        let after = after.map(RawBson::from);
        found.retain(|it| after.as_ref().is_none_or(|after| compare(&id(it), after).is_gt()));
        let mut taken = 0;
        let wanted = found.iter().take(documents).take_while(|document| {
            let wanted = taken < bytes;
            taken += document.as_bytes().len();
            wanted
        });
        Ok(wanted.map(|document| Row::new(document, &Needs::none())).collect())
    }

    async fn load(&mut self, row: &Row, needs: &Needs) -> Result<Row> {
        Ok(Row::new(&row.whole, needs))
    }

    fn size(&self, row: &Row) -> usize {
        row.whole.as_bytes().len()
    }

    fn outline(&self, row: &Row, path: &Path) -> Option<Outline> {
        let array = place::find(&row.whole, path).filter(|it| it.kind == ElementType::Array)?;
        Some(Outline { bytes: array.bytes.len(), items: Some(array.children().count()) })
    }

    async fn each(
        &mut self,
        namespace: &Namespace,
        filter: &Arc<Filter>,
        sort: &RawDocument,
        needs: &Needs,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        for document in matching(&self.collections, namespace, filter, sort)? {
            visit(&Row::new(document, needs), document.as_bytes().len());
        }
        Ok(())
    }

    async fn contains(&mut self, namespace: &Namespace, id: RawBsonRef<'_>) -> Result<bool> {
        Ok(position(&self.collections, namespace, id).is_some())
    }

    async fn count(&mut self, namespace: &Namespace) -> Result<u64> {
        Ok(self.collections.get(namespace).map_or(0, |documents| documents.len() as u64))
    }
}

/// The documents that match, in order.
pub fn matching<'c>(
    collections: &'c Collections,
    namespace: &Namespace,
    filter: &Filter,
    sort: &RawDocument,
) -> Result<Vec<&'c Kept>> {
    let mut found = Vec::new();
    for document in collections.get(namespace).into_iter().flatten() {
        if filter.matches(document)? {
            found.push(document);
        }
    }
    if let Some(field) = elements(sort).next() {
        let down = field.value() == RawBsonRef::Int32(-1);
        found.sort_by(|a, b| {
            let key = |document| get_value(document, field.key).unwrap_or(RawBsonRef::Null);
            let order = value::compare(key(a), key(b));
            if down { order.reverse() } else { order }
        });
    }
    Ok(found)
}

pub fn position(
    collections: &Collections,
    namespace: &Namespace,
    id: RawBsonRef<'_>,
) -> Option<usize> {
    collections.get(namespace)?.iter().position(|document| {
        get_value(document, "_id").is_some_and(|own| value::compare(own, id).is_eq())
    })
}
