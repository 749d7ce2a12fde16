//! `distinct`.

use super::context::context;
use super::reading::{self, Resolved, resolve_for};
use super::{Call, aggregate, profile};
use crate::catalog::{Catalog, Collection};
use crate::plan::{self, Audience, Hint, Purpose, Query, Sort};
use bson::{RawBson, RawBsonRef, RawDocument};
use budget::{Held, Kind};
use command::fields::Hint as HintField;
use command::views::Distinct;
use command::{Reply, ReplyWriter};
use error::{Code, Result};
use language::query::Filter;
use language::{Needs, interrupt};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use value::key::{Direction, Key};
use value::{Collator, Path, element};

/// What the values of a reply may weigh together.
const DISTINCT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What an entry takes in memory beside the bytes of its key and value.
const ENTRY_BYTES: usize = size_of::<(Vec<u8>, RawBson)>() + 32;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let distinct = Distinct::parse(call.request)?;
    let catalog = call.catalog()?;
    let resolved = resolve_for(call, &catalog, &distinct.namespace)?;
    let values = if resolved.is_view {
        aggregate::distinct_on_view(call, &distinct, catalog, resolved)?
    } else {
        let query = query(&distinct, &resolved, &catalog)?;
        match &resolved.collection {
            Some(collection) => of_collection(call, &distinct, collection, query)?,
            None => Values::new(distinct.key, None),
        }
    };
    let mut reply = ReplyWriter::new();
    let writer = reply.writer();
    writer.begin_array("values");
    values.iter().for_each(|value| writer.push(value));
    writer.end();
    if let Some(time) = reading::time(call) {
        writer.append("atClusterTime", RawBsonRef::Timestamp(time));
    }
    Ok(reply.finish())
}

fn of_collection(
    call: Call<'_>,
    distinct: &Distinct<'_>,
    collection: &Arc<Collection>,
    query: Query,
) -> Result<Values> {
    let mut values = Values::new(distinct.key, query.collator.clone());
    let interrupt = call.operation.interrupt.clone();
    let mut execution = plan::open(collection, query, reading::view(call)?, interrupt)?;
    turn::aside(|| execution.by_ref().try_for_each(|row| values.add(&row?.document)))?;
    profile::note(call, &execution);
    Ok(values)
}

/// What a distinct asks of the planner.
pub fn query(distinct: &Distinct<'_>, resolved: &Resolved, catalog: &Catalog) -> Result<Query> {
    let context = context(resolved.collection.as_deref(), distinct.collation, None)?;
    let path = Path::new(distinct.key);
    let mut query = Query::new(Arc::new(Filter::parse(distinct.query, &context)?));
    query.needs = Needs::Paths(vec![path.clone()]);
    query.purpose = Purpose::Distinct(path);
    query.hint = distinct.hint.map(HintField::value).map(Hint::parse).transpose()?.flatten();
    query.collator = context.collator;
    query.read_by(resolved.read_plan(None, &Sort::None), catalog, Audience::Stages)?;
    Ok(query)
}

/// Distinct values in order, arrays taken apart.
pub struct Values {
    path: Path,
    collator: Option<Arc<Collator>>,
    /// By keys that sort as the values do.
    values: BTreeMap<Vec<u8>, RawBson>,
    /// Of the keys alone.
    bytes: usize,
    memory_bytes: usize,
    memory: Held,
}

impl Values {
    pub fn new(key: &str, collator: Option<Arc<Collator>>) -> Values {
        Values {
            path: Path::new(key),
            collator,
            values: BTreeMap::new(),
            bytes: 0,
            memory_bytes: 0,
            memory: Held::new(Kind::Work),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = RawBsonRef<'_>> {
        self.values.values().map(RawBson::as_raw_bson_ref)
    }

    /// Adds what stands at the path in a document.
    pub fn add(&mut self, document: &RawDocument) -> Result<()> {
        let path = self.path.clone();
        let components: Vec<&str> = path.components().collect();
        self.descend(RawBsonRef::Document(document), &components)
    }

    fn descend(&mut self, value: RawBsonRef<'_>, path: &[&str]) -> Result<()> {
        // Numbers in the path may be places or names, so that there are many ways down.
        interrupt::check()?;
        let Some((first, rest)) = path.split_first() else { return self.leaf(value) };
        match value {
            RawBsonRef::Document(document) => match element::get(document, first) {
                Some(found) => self.descend(found.value(), rest),
                None => Ok(()),
            },
            RawBsonRef::Array(array) => {
                if let Ok(at) = first.parse::<usize>()
                    && let Some(found) = element::array_elements(array).nth(at)
                {
                    self.descend(found.value(), rest)?;
                }
                for found in element::array_elements(array) {
                    if let inner @ RawBsonRef::Document(_) = found.value() {
                        self.descend(inner, path)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn leaf(&mut self, value: RawBsonRef<'_>) -> Result<()> {
        match value {
            RawBsonRef::Array(array) => {
                element::array_elements(array).try_for_each(|found| self.insert(found.value()))
            }
            value => self.insert(value),
        }
    }

    fn insert(&mut self, value: RawBsonRef<'_>) -> Result<()> {
        let mut key = Key::default();
        key.push(value, Direction::Ascending, self.collator.as_deref());
        let Entry::Vacant(place) = self.values.entry(key.bytes) else { return Ok(()) };
        self.bytes += place.key().len();
        if self.bytes > DISTINCT_BYTES_MAX {
            return Err(Code::location(17217).error("distinct too big, 16mb cap"));
        }
        // A value is about as long as its key.
        self.memory_bytes += ENTRY_BYTES + 2 * place.key().len();
        self.memory.resize(self.memory_bytes)?;
        place.insert(value::value::to_owned(value));
        Ok(())
    }
}
