//! Documents in parts, each with what the head or one page holds of an array: for `$unwind`,
//! which takes them apart further. No array is whole in memory, however long it is.

use super::complete::{StoredArray, array_bytes, shown, shown_but, sidecar};
use super::{Execution, Member, Operator, Running, Shared, Stats, Work};
use crate::plan::PagedArray;
use crate::storage::{Document, RecordId};
use bson::spec::ElementType;
use budget::{Held, Kind};
use error::Result;
use guard::patterns::overflow::Counters;
use guard::patterns::place;
use guard::policy::Keep;
use guard::read::with_part;
use value::element::get;
use value::{OwnedValue, Path};
use write::Version;

pub struct PartsOperation {
    input: Running,
    array: Path,
    under_way: Option<Parts>,
}

/// What is left of one document.
struct Parts {
    record: RecordId,
    document: Document,
    head: Option<OwnedValue>,
    pages: Option<Execution>,
    /// What the head takes of the budget: a cursor may keep it for long.
    _memory: Held,
}

impl PartsOperation {
    pub fn new(input: Running, array: Path) -> PartsOperation {
        PartsOperation { input, array, under_way: None }
    }

    /// The document whole, if it has no pages; else its parts are under way.
    fn begin(
        &mut self,
        shared: &Shared,
        record: RecordId,
        stored: Document,
    ) -> Result<Option<Document>> {
        let Some(paged) = &shared.query.paged else { return Ok(Some(stored)) };
        let sidecar = sidecar(shared, record, &stored)?;
        let version = Version { document: &stored, sidecar: sidecar.as_deref() };
        let has_pages = |it: &&PagedArray| {
            it.rule.path == self.array && Counters::read(version, &it.rule).pages > 0
        };
        let Some(array) = paged.arrays.iter().find(has_pages) else {
            return shown(shared, paged, record, stored).map(Some);
        };
        let part = StoredArray { shared, array, record };
        let head = part.own()?.filter(|head| head.as_array().is_some());
        let mut memory = Held::new(Kind::Work);
        memory.resize(array_bytes(head.as_ref()))?;
        let pages = Some(part.all_after(place::id(&stored), None)?);
        let document = shown_but(shared, paged, &self.array, record, stored)?;
        self.under_way = Some(Parts { record, document, head, pages, _memory: memory });
        Ok(None)
    }
}

impl Parts {
    /// The next elements in order.
    fn next(&mut self, array: &PagedArray) -> Result<Option<OwnedValue>> {
        if array.rule.keep == Keep::Oldest
            && let Some(head) = self.head.take()
        {
            return Ok(Some(head));
        }
        if let Some(page) = self.pages.as_mut().and_then(Iterator::next) {
            let page = page?.document;
            let part = get(&page, array.rule.name()).filter(|it| it.kind == ElementType::Array);
            return Ok(Some(part.map_or_else(OwnedValue::empty_array, OwnedValue::of)));
        }
        self.pages = None;
        Ok(self.head.take())
    }
}

impl Operator for PartsOperation {
    fn work(&mut self, shared: &Shared, _: &mut Stats) -> Result<Work> {
        let mut arrays = shared.query.paged.iter().flat_map(|paged| &paged.arrays);
        let array = arrays.find(|array| array.rule.path == self.array);
        if let (Some(parts), Some(array)) = (&mut self.under_way, array) {
            let Some(part) = parts.next(array)? else {
                self.under_way = None;
                return Ok(Work::Pending);
            };
            // An empty part stands for nothing: the array is not empty.
            if part.is_empty_array() {
                return Ok(Work::Pending);
            }
            let document = Document::Built(with_part(&array.rule, &parts.document, &part)?);
            let (record, document) = (parts.record, Some(document));
            return Ok(Work::Advanced(Member { record, entry: None, document }));
        }
        let mut member = match self.input.work(shared)? {
            Work::Advanced(member) => member,
            other => return Ok(other),
        };
        if let Some(stored) = member.document.take() {
            member.document = self.begin(shared, member.record, stored)?;
            if member.document.is_none() {
                return Ok(Work::Pending);
            }
        }
        Ok(Work::Advanced(member))
    }

    fn inputs(&self) -> Vec<&Running> {
        vec![&self.input]
    }
}
