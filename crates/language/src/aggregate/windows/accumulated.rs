//! Accumulators over windows. One that only grows at its end is carried on; one that moves
//! lets go of what leaves it.

use super::passage::{Change, Passage};
use super::window::Frame;
use super::{Function, Run, Specification, failed};
use crate::aggregate::accumulators::sliding::Slide;
use crate::aggregate::accumulators::{Accumulation, Accumulator, Row, size_of_value};
use crate::{Needs, interrupt};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::Result;
use std::sync::Arc;

/// Those whose value is cheaper to keep up than to compute, even where nothing leaves.
const KEPT_UP: [&str; 2] = ["$median", "$percentile"];

#[derive(Debug)]
struct Accumulated {
    name: &'static str,
    accumulation: Accumulation,
    /// Whether it looks at documents beside its argument.
    reads_documents: bool,
    frame: Frame,
}

pub fn parse(row: &'static Row, function: Specification<'_>) -> Result<Arc<dyn Function>> {
    let accumulation = (row.parse)(row.name, function.operand, function.context)?;
    Ok(Arc::new(Accumulated {
        name: row.name,
        reads_documents: accumulation.reads != Needs::none(),
        accumulation,
        frame: Frame::parse(function)?,
    }))
}

enum State {
    Growing(Box<dyn Accumulator>),
    Moving(Box<dyn Slide>),
}

/// A document that was taken in and is in no window yet.
struct Waiting {
    argument: Option<RawBson>,
    /// Empty where the accumulator does not look at it.
    document: RawDocumentBuf,
}

struct Running {
    function: Arc<Accumulated>,
    passage: Passage<Waiting>,
    state: State,
    /// What the waiting documents keep.
    waiting_bytes: usize,
    /// Whether the value is that of the window.
    current: bool,
    value: Option<RawBson>,
    value_bytes: usize,
}

impl Function for Accumulated {
    fn start(self: Arc<Self>) -> Result<Box<dyn Run>> {
        let growing = self.frame.bounds.is_growing() && !KEPT_UP.contains(&self.name);
        let state = match growing {
            true => State::Growing(self.accumulation.start(None)?),
            false => match self.accumulation.start_slide()? {
                Some(slide) => State::Moving(slide),
                None => return Err(failed(format!("{} does not take windows", self.name))),
            },
        };
        Ok(Box::new(Running {
            passage: Passage::new(&self.frame),
            function: self,
            state,
            waiting_bytes: 0,
            current: false,
            value: None,
            value_bytes: 0,
        }))
    }

    fn needs(&self, needs: &mut Needs) {
        self.accumulation.needs(needs);
    }
}

impl Waiting {
    fn bytes(&self) -> usize {
        let argument = self.argument.as_ref().map(RawBson::as_raw_bson_ref);
        argument.map_or(0, size_of_value) + self.document.as_bytes().len()
    }
}

impl State {
    fn enter(&mut self, argument: Option<RawBson>, document: &RawDocument) -> Result<()> {
        match self {
            State::Growing(state) => {
                state.add(argument.as_ref().map(RawBson::as_raw_bson_ref), document)
            }
            State::Moving(state) => state.add(argument, document),
        }
    }

    fn leave(&mut self) {
        if let State::Moving(state) = self {
            state.remove();
        }
    }
}

impl Running {
    fn compute(&mut self, empty: bool) -> Result<()> {
        self.value = match &self.state {
            State::Growing(state) if state.held().is_some() => None,
            State::Growing(state) => state.value()?,
            State::Moving(state) => state.value()?,
        };
        // Of nothing there is no first and no last.
        if empty && self.value().is_none() {
            self.value = Some(RawBson::Null);
        }
        let value = self.value.as_ref().map(RawBson::as_raw_bson_ref);
        self.value_bytes = value.map_or(0, size_of_value);
        self.current = true;
        interrupt::check_sized(self.value_bytes)
    }
}

impl Run for Running {
    fn take(&mut self, document: &RawDocument) -> Result<()> {
        let argument = self.function.accumulation.argument.evaluate_owned(document)?;
        let kept = match self.function.reads_documents {
            true => document.to_owned(),
            false => RawDocumentBuf::new(),
        };
        let waiting = Waiting { argument, document: kept };
        let bytes = waiting.bytes();
        match self.passage.take(document, waiting)? {
            Some(entered) => {
                self.current = false;
                self.state.enter(entered.argument, document)
            }
            None => {
                self.waiting_bytes += bytes;
                Ok(())
            }
        }
    }

    fn advance(&mut self, ended: bool) -> Result<bool> {
        let Running { passage, state, waiting_bytes, current, .. } = self;
        let window = passage.advance(ended, |change| {
            if let Change::Enter(item) | Change::Skip(item) = &change {
                *waiting_bytes -= item.bytes();
            }
            match change {
                Change::Enter(item) => state.enter(item.argument, &item.document)?,
                Change::Leave => state.leave(),
                Change::Skip(_) => return Ok(()),
            }
            *current = false;
            Ok(())
        })?;
        let Some(window) = window else { return Ok(false) };
        if !self.current {
            self.compute(window.is_empty())?;
        }
        Ok(true)
    }

    fn value(&self) -> Option<RawBsonRef<'_>> {
        match &self.state {
            State::Growing(state) if self.value.is_none() => state.held(),
            _ => self.value.as_ref().map(RawBson::as_raw_bson_ref),
        }
    }

    fn bytes(&self) -> usize {
        let state = match &self.state {
            State::Growing(state) => state.bytes(),
            State::Moving(state) => state.bytes(),
        };
        state + self.passage.bytes() + self.waiting_bytes + self.value_bytes
    }
}
