//! The store as it was at one moment.

use super::{Collections, Row, matching, position};
use bson::spec::ElementType;
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::Result;
use freeboard_guard::patterns::place;
use language::Needs;
use language::query::Filter;
use std::sync::Arc;
use value::Path;
use value::element::get_value;
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
        let id = |document: &RawDocumentBuf| RawBson::from(get_value(document, "_id").unwrap());
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
