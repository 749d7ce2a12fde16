//! `$group`: groups documents by a key and accumulates over each group.
//!
//! A group is found by the bytes of its encoded key, so that values that
//! compare equal are one group whatever their type. Where memory runs out, the
//! groups that are known go on accumulating and the documents of new groups go
//! to a temporary file, to be grouped after the first are given out.

use super::{Documents, Foreign, Specification, Stage, one};
use crate::aggregate::accumulators::{self, Accumulation, Accumulator};
use crate::aggregate::expressions::Expression;
use crate::aggregate::limits::GROUP_MEMORY_BYTES_MAX;
use crate::{Context, Needs, interrupt};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use budget::{Kind, SPILL_BYTES_MIN};
use error::{Code, Result};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::elements;
use value::key::{Direction, Key};
use value::{Collator, DocumentWriter, Value, wide};

#[derive(Debug)]
pub struct Group {
    name: &'static str,
    id: Expression,
    fields: Vec<(Box<str>, Accumulation)>,
    collator: Option<Arc<Collator>>,
    pub(super) memory_bytes_max: usize,
}

/// One group under way.
struct State {
    id: Option<RawBson>,
    accumulators: Vec<Box<dyn Accumulator>>,
    bytes: usize,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(spec) = stage.value else {
        return Err(Code::location(15947).error("a group's fields must be specified in an object"));
    };
    let mut id = None;
    let mut fields: Vec<(Box<str>, Accumulation)> = Vec::new();
    for element in elements(spec) {
        if element.key == "_id" {
            if id.is_some() {
                return Err(second_id());
            }
            id = Some(parse_id(element.value(), stage.context)?);
            continue;
        }
        let accumulation = accumulators::parse_field(element.key, element.value(), stage.context)?;
        fields.push((element.key.into(), accumulation));
    }
    let Some(id) = id else {
        return Err(Code::location(15955).error("a group specification must include an _id"));
    };
    one(Group::new(id, fields, stage.context))
}

pub fn second_id() -> error::Error {
    Code::location(15948).error("a group's _id may only be specified once")
}

/// The key. Of a document with one field MongoDB groups by the field's value,
/// and a missing one is null there as it is where it stands alone.
fn parse_id(value: RawBsonRef<'_>, context: &Context) -> Result<Expression> {
    let RawBsonRef::Document(document) = value else { return Expression::parse(value, context) };
    let mut fields = elements(document);
    match (fields.next(), fields.next()) {
        (Some(field), None) if !field.key.starts_with('$') => {
            let mut id = DocumentWriter::new();
            id.begin_document(field.key);
            id.begin_array("$ifNull");
            id.push(field.value());
            id.push(RawBsonRef::Null);
            id.end();
            id.end();
            Expression::parse(RawBsonRef::Document(&id.finish()), context)
        }
        _ => Expression::parse(value, context),
    }
}

impl Group {
    pub fn new(id: Expression, fields: Vec<(Box<str>, Accumulation)>, context: &Context) -> Group {
        Group {
            name: "$group",
            id,
            fields,
            collator: context.collator.clone(),
            memory_bytes_max: GROUP_MEMORY_BYTES_MAX,
        }
    }

    fn start(&self, id: Option<RawBsonRef<'_>>) -> Result<State> {
        let accumulators = self
            .fields
            .iter()
            .map(|(_, accumulation)| accumulation.start(id))
            .collect::<Result<_>>()?;
        Ok(State { id: id.map(RawBson::from), accumulators, bytes: 0 })
    }

    fn output(&self, state: State) -> Result<RawDocumentBuf> {
        let mut out = DocumentWriter::new();
        let id = state.id.unwrap_or(RawBson::Null);
        out.append("_id", id.as_raw_bson_ref());
        for ((name, _), accumulator) in self.fields.iter().zip(&state.accumulators) {
            let value = accumulator.value()?.unwrap_or(RawBson::Null);
            out.append(name, value.as_raw_bson_ref());
        }
        Ok(out.finish())
    }
}

/// Groups in the order in which they were met, found by their encoded key.
struct Groups<'g> {
    group: &'g Group,
    by_key: FxHashMap<Box<[u8]>, usize>,
    states: Vec<State>,
    bytes: usize,
    memory: budget::Held,
    /// There is no room for further groups.
    full: bool,
    key: Key,
}

impl<'g> Groups<'g> {
    fn new(group: &'g Group) -> Groups<'g> {
        Groups {
            group,
            by_key: FxHashMap::default(),
            states: Vec::new(),
            bytes: 0,
            memory: budget::Held::new(Kind::Work),
            full: false,
            key: Key::default(),
        }
    }

    /// Takes a document into its group. `false`: the group is not known and
    /// there is no room for another.
    fn add(&mut self, document: &RawDocument) -> Result<bool> {
        let _entered = wide::enter(document);
        let id = self.group.id.evaluate(document)?;
        let id = id.as_ref().map(Value::get);
        self.key.bytes.clear();
        self.key.types.clear();
        // A missing key is its own group only beside null in a document; by
        // itself MongoDB gives it as null.
        let encoded = id.unwrap_or(RawBsonRef::Null);
        self.key.push(encoded, Direction::Ascending, self.group.collator.as_deref());
        interrupt::check_sized(self.key.bytes.len())?;
        let at = match self.by_key.get(self.key.bytes.as_slice()) {
            Some(at) => *at,
            None if self.full => return Ok(false),
            None => {
                let at = self.states.len();
                self.states.push(self.group.start(id)?);
                self.bytes +=
                    self.key.bytes.len() * 2 + size_of::<State>() + 64 * self.group.fields.len();
                self.by_key.insert(self.key.bytes.as_slice().into(), at);
                at
            }
        };
        let state = &mut self.states[at];
        let mut bytes = 0;
        for ((_, accumulation), accumulator) in
            self.group.fields.iter().zip(&mut state.accumulators)
        {
            interrupt::check()?;
            accumulation.add(&mut **accumulator, document)?;
            bytes += accumulator.bytes();
        }
        self.bytes = (self.bytes + bytes).saturating_sub(state.bytes);
        state.bytes = bytes;
        // Known groups may still grow; twice the limit is where it ends.
        if self.bytes > 2 * self.group.memory_bytes_max {
            return Err(exceeded(self.group.memory_bytes_max));
        }
        self.make_room()?;
        Ok(true)
    }

    /// Reserves what the groups take. Without room for more, the known ones may grow a little.
    fn make_room(&mut self) -> Result<()> {
        self.full |= self.bytes > self.group.memory_bytes_max;
        match self.memory.resize_or_spill(self.bytes)? {
            Some(error) if self.bytes as u64 > self.memory.bytes() + SPILL_BYTES_MIN as u64 => {
                Err(error)
            }
            refusal => {
                self.full |= refusal.is_some();
                Ok(())
            }
        }
    }
}

fn exceeded(limit: usize) -> error::Error {
    Code::QueryExceededMemoryLimitNoDiskUseAllowed.error(format!(
        "Exceeded memory limit for $group, but didn't allow external sort. Memory limit: {limit} bytes"
    ))
}

/// Gives out one batch of groups after the other, as memory allows.
struct Output {
    group: Arc<Group>,
    foreign: Arc<dyn Foreign>,
    input: Option<Documents>,
    ready: VecDeque<State>,
    /// What is ready takes so much of the budget.
    memory: budget::Held,
}

impl Output {
    /// Groups as much of the input as fits; the rest becomes the next input.
    fn fill(&mut self, input: Documents) -> Result<()> {
        let mut groups = Groups::new(&self.group);
        let mut rest = None;
        for document in input {
            let document = document?;
            if groups.add(&document)? {
                continue;
            }
            if rest.is_none() {
                rest = self.foreign.spill()?;
            }
            match &mut rest {
                Some(rest) => rest.push(&document)?,
                None => return Err(exceeded(self.group.memory_bytes_max)),
            }
        }
        (self.ready, self.memory) = (groups.states.into(), groups.memory);
        self.input = rest.map(|rest| Ok(rest.finish()?.read())).transpose()?;
        Ok(())
    }
}

impl Iterator for Output {
    type Item = Result<RawDocumentBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(state) = self.ready.pop_front() {
                return Some(self.group.output(state));
            }
            self.memory.clear();
            let input = self.input.take()?;
            if let Err(error) = self.fill(input) {
                return Some(Err(error));
            }
        }
    }
}

impl Stage for Group {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(self: Arc<Self>, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        Ok(Box::new(Output {
            group: self,
            foreign: foreign.clone(),
            input: Some(input),
            ready: VecDeque::new(),
            memory: budget::Held::new(Kind::Work),
        }))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.id.needs(needs);
        self.fields.iter().for_each(|(_, accumulation)| accumulation.needs(needs));
        ControlFlow::Break(())
    }
}
