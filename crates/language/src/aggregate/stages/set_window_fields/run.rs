//! A run of the stage: one document after the other is given its values and handed on.

use super::SetWindowFields;
use super::source::Source;
use super::tape::Tape;
use crate::aggregate::stages::add_fields::with;
use crate::aggregate::windows;
use crate::aggregate::{Documents, Foreign};
use crate::interrupt;
use bson::{RawBsonRef, RawDocumentBuf};
use budget::Kind;
use error::{Code, Result};
use std::sync::Arc;
use value::element::elements;
use value::{DocumentWriter, wide};

pub struct Run {
    stage: Arc<SetWindowFields>,
    foreign: Arc<dyn Foreign>,
    source: Source,
    partition: Option<Partition>,
    done: bool,
}

struct Partition {
    tape: Tape,
    functions: Vec<Function>,
    /// The memory of all functions.
    bytes: usize,
    /// What the functions and the documents take of the budget.
    memory: budget::Held,
    /// How many documents have been given their values.
    given: usize,
}

struct Function {
    run: Box<dyn windows::Run>,
    /// How many documents it has taken in.
    taken: usize,
    /// Whether those are all.
    ended: bool,
    bytes: usize,
}

impl Function {
    /// There are no more documents.
    fn end(&mut self) -> Result<()> {
        if self.ended {
            return Err(Code::InternalError.error("a window function gives no value"));
        }
        self.ended = true;
        Ok(())
    }
}

impl Run {
    pub fn new(stage: Arc<SetWindowFields>, input: Documents, foreign: Arc<dyn Foreign>) -> Run {
        let source = Source::new(stage.clone(), input);
        Run { stage, foreign, source, partition: None, done: false }
    }

    fn step(&mut self) -> Result<Option<RawDocumentBuf>> {
        loop {
            if let Some(partition) = &mut self.partition {
                if partition.tape.has_current(&mut self.source)? {
                    return self.document();
                }
                self.partition = None;
            }
            if !self.source.next_partition()? {
                return Ok(None);
            }
            self.partition = Some(Partition::start(&self.stage)?);
        }
    }

    fn document(&mut self) -> Result<Option<RawDocumentBuf>> {
        let Run { stage, foreign, source, partition, .. } = self;
        let Some(partition) = partition else { return Ok(None) };
        let mut waiting: Vec<usize> = (0..partition.functions.len()).collect();
        loop {
            partition.advance(&mut waiting)?;
            if waiting.is_empty() {
                break;
            }
            partition.feed(&waiting, stage, &**foreign, source)?;
        }
        partition.given += 1;
        let Some(document) = partition.tape.take_current() else { return Ok(None) };
        let document = partition.output(stage, document)?;
        interrupt::check_sized(document.as_bytes().len())?;
        Ok(Some(document))
    }
}

impl Iterator for Run {
    type Item = Result<RawDocumentBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.step();
        self.done = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}

impl Partition {
    fn start(stage: &SetWindowFields) -> Result<Partition> {
        let functions = stage.outputs.iter().map(|(_, function)| {
            let run = function.clone().start()?;
            Ok(Function { run, taken: 0, ended: false, bytes: 0 })
        });
        Ok(Partition {
            tape: Tape::new(stage.outputs.len()),
            functions: functions.collect::<Result<_>>()?,
            bytes: 0,
            memory: budget::Held::new(Kind::Work),
            given: 0,
        })
    }

    /// Gets functions to the value of the current document; those that must see more first
    /// are left.
    fn advance(&mut self, waiting: &mut Vec<usize>) -> Result<()> {
        let (mut kept, mut at) = (0, 0);
        while at < waiting.len() {
            let function = &mut self.functions[waiting[at]];
            if function.taken > self.given && function.run.advance(function.ended)? {
                self.measure(waiting[at]);
            } else {
                waiting.swap(kept, at);
                kept += 1;
            }
            interrupt::check()?;
            at += 1;
        }
        waiting.truncate(kept);
        Ok(())
    }

    /// Lets each of these functions take in its next document. Those that are at the same one
    /// share the tables of its fields.
    fn feed(
        &mut self,
        waiting: &[usize],
        stage: &SetWindowFields,
        foreign: &dyn Foreign,
        source: &mut Source,
    ) -> Result<()> {
        let mut rest = waiting.iter().copied().peekable();
        while let Some(first) = rest.next() {
            let place = self.tape.place(first);
            let Some(document) = self.tape.read(first, source)? else {
                self.functions[first].end()?;
                continue;
            };
            let _entered = wide::enter(&document);
            let mut next = Some(first);
            while let Some(at) = next {
                interrupt::check_sized(document.as_bytes().len())?;
                let function = &mut self.functions[at];
                function.run.take(&document)?;
                function.taken += 1;
                self.measure(at);
                self.make_room(stage, foreign, source)?;
                next = rest.next_if(|at| self.tape.follow(*at, place));
            }
        }
        Ok(())
    }

    /// Counts what a function keeps now.
    fn measure(&mut self, at: usize) {
        let function = &mut self.functions[at];
        let bytes = function.run.bytes();
        self.bytes = self.bytes + bytes - function.bytes;
        function.bytes = bytes;
    }

    /// Moves the documents to a file where that helps, and is allowed.
    fn make_room(
        &mut self,
        stage: &SetWindowFields,
        foreign: &dyn Foreign,
        source: &mut Source,
    ) -> Result<()> {
        let most = stage.memory_bytes_max;
        let bytes = self.bytes + self.tape.bytes();
        let refusal = match bytes > most {
            true => None,
            false => match self.memory.resize_or_spill(bytes)? {
                Some(refusal) => Some(refusal),
                None => return Ok(()),
            },
        };
        if self.bytes > most {
            return Err(Code::location(5414201).error(format!(
                "Exceeded memory limit in DocumentSourceSetWindowFields, used {} bytes but max allowed is {most}",
                self.bytes
            )));
        }
        if self.tape.is_spilled() {
            // The functions alone have no room.
            return refusal.map_or(Ok(()), Err);
        }
        let Some(file) = foreign.spill()? else {
            return Err(refusal.unwrap_or_else(|| Code::location(5643011).error(format!(
                "Exceeded max memory. Current memory: {} bytes. Max allowed memory: {most} bytes. Set 'allowDiskUse: true' to spill to disk",
                bytes
            ))));
        };
        self.tape.spill(file, source)?;
        self.memory.resize(self.bytes)
    }

    /// The document with its values.
    fn output(&self, stage: &SetWindowFields, document: RawDocumentBuf) -> Result<RawDocumentBuf> {
        let values = self.functions.iter().map(|function| function.run.value());
        if stage.outputs.iter().all(|(path, _)| path.len() == 1) {
            let values: Vec<_> = values.collect();
            return Ok(with_fields(stage, &document, &values));
        }
        let values = stage.outputs.iter().zip(values);
        let values = values.map(|((path, _), value)| (path, value.map(value::value::to_owned)));
        with(&document, values, &stage.context)
    }
}

/// A document with fields of its own set in one go; a missing value takes one away.
fn with_fields(
    stage: &SetWindowFields,
    document: &RawDocumentBuf,
    values: &[Option<RawBsonRef<'_>>],
) -> RawDocumentBuf {
    let mut out = DocumentWriter::with_capacity(document.as_bytes().len());
    let mut seen = vec![false; values.len()];
    let write = |out: &mut DocumentWriter, at: usize| {
        if let Some(value) = values[at] {
            out.append(stage.outputs[at].0.as_str(), value);
        }
    };
    for element in elements(document) {
        match stage.fields.get(element.key).copied() {
            Some(at) => {
                seen[at] = true;
                write(&mut out, at);
            }
            None => out.copy(element),
        }
    }
    for at in (0..values.len()).filter(|at| !seen[*at]) {
        write(&mut out, at);
    }
    out.finish()
}
