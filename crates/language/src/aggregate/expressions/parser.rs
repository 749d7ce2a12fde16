//! From the text of an expression to its tree.

use super::call::Call;
use super::field_path::{FieldPath, check_name};
use super::table::{self, Arity, Form, Named, Row};
use super::{EXPRESSION_DEPTH_MAX, Node, held};
use crate::Context;
use crate::{describe, interrupt};
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use value::Value;
use value::element::{array_elements, elements};

/// Holds the variables in scope while an expression is parsed.
#[derive(Debug)]
pub struct Parser<'c> {
    pub context: &'c Context,
    /// The slots that the values of each name will be in, the innermost last.
    names: FxHashMap<Box<str>, Vec<usize>>,
    next_slot: usize,
    depth: usize,
}

impl<'c> Parser<'c> {
    pub fn new(context: &'c Context) -> Parser<'c> {
        Parser { context, names: FxHashMap::default(), next_slot: 0, depth: 0 }
    }

    /// Any expression.
    pub fn operand(&mut self, value: RawBsonRef<'_>) -> Result<Node> {
        interrupt::check()?;
        match value {
            RawBsonRef::String(text) if text.starts_with('$') => self.path(text),
            RawBsonRef::Document(document) => self.nested(|parser| parser.document(document)),
            RawBsonRef::Array(array) => self.nested(|parser| {
                let nodes = array_elements(array)
                    .map(|element| parser.operand(element.value()))
                    .collect::<Result<_>>()?;
                Ok(Node::Array(nodes))
            }),
            value => Ok(Node::Constant(Some(value.into()))),
        }
    }

    /// A document: an operator if its first field is one, else an object.
    pub fn document(&mut self, document: &RawDocument) -> Result<Node> {
        match elements(document).next() {
            Some(first) if first.key.starts_with('$') => {
                if elements(document).nth(1).is_some() {
                    return Err(Code::location(15983).error(format!(
                        "An object representing an expression must have exactly one field: {}",
                        describe::value(RawBsonRef::Document(document))
                    )));
                }
                self.operator(first.key, first.value())
            }
            _ => self.object(document),
        }
    }

    pub fn operator(&mut self, name: &str, operand: RawBsonRef<'_>) -> Result<Node> {
        let Some(row) = table::find(name) else {
            return Err(
                Code::InvalidPipelineOperator.error(format!("Unrecognized expression '{name}'"))
            );
        };
        match &row.form {
            Form::Call(arity, function) => {
                let operands = self.operands(operand)?;
                arity.check(row.name, operands.len())?;
                let operands = operands.into_iter().map(Some).collect();
                Ok(Node::Call(Call { row, function: *function, operands }))
            }
            Form::Named(named) => self.named(row, named, operand),
            Form::Own(parse) => parse(self, operand),
            Form::Refused(why) => {
                Err(Code::CommandNotSupported.error(format!("{name} is not supported: {why}")))
            }
        }
    }

    /// Operands by position: an array of them, or one alone.
    pub fn operands(&mut self, operand: RawBsonRef<'_>) -> Result<Vec<Node>> {
        match operand {
            RawBsonRef::Array(array) => self.nested(|parser| {
                array_elements(array).map(|element| parser.operand(element.value())).collect()
            }),
            operand => Ok(vec![self.operand(operand)?]),
        }
    }

    /// As `operands`, of an expression that parses itself.
    pub fn operands_of(
        &mut self,
        name: &'static str,
        arity: Arity,
        operand: RawBsonRef<'_>,
    ) -> Result<Vec<Node>> {
        let operands = self.operands(operand)?;
        arity.check(name, operands.len())?;
        Ok(operands)
    }

    fn named(
        &mut self,
        row: &'static Row,
        named: &'static Named,
        operand: RawBsonRef<'_>,
    ) -> Result<Node> {
        let operands = self.named_operands(row.name, named, operand)?;
        Ok(Node::Call(Call { row, function: named.function, operands }))
    }

    /// Operands by name, in the order of the table; `None` where not given.
    pub fn named_operands(
        &mut self,
        name: &'static str,
        named: &Named,
        operand: RawBsonRef<'_>,
    ) -> Result<Vec<Option<Node>>> {
        let RawBsonRef::Document(document) = operand else {
            return Err(Code::location(named.not_object).error(format!(
                "{name} only supports an object as its argument, found: {}",
                super::coerce::type_name(Some(operand))
            )));
        };
        // A wrong name or a missing one is told before what the others hold is looked at.
        let mut values: Vec<Option<RawBsonRef<'_>>> = vec![None; named.fields.len()];
        for element in elements(document) {
            let Some(at) = named.fields.iter().position(|field| field.name == element.key) else {
                return Err(Code::location(named.unknown)
                    .error(format!("{name} found an unknown argument: {}", element.key)));
            };
            values[at] = Some(element.value());
        }
        for (field, value) in named.fields.iter().zip(&values) {
            if let (Some(code), None) = (field.required, value) {
                return Err(Code::location(code)
                    .error(format!("Missing '{}' parameter to {name}", field.name)));
            }
        }
        values.into_iter().map(|value| value.map(|value| self.operand(value)).transpose()).collect()
    }

    fn object(&mut self, document: &RawDocument) -> Result<Node> {
        let mut seen = FxHashSet::default();
        let mut fields = Vec::new();
        for element in elements(document) {
            check_name(element.key)?;
            if !seen.insert(element.key) {
                return Err(Code::location(16406).error(format!(
                    "duplicate field name specified in object literal: {}",
                    describe::value(RawBsonRef::Document(document))
                )));
            }
            fields.push((element.key.into(), self.operand(element.value())?));
        }
        Ok(Node::Document(fields))
    }

    /// `$path`, `$$variable` or `$$variable.path`.
    pub fn path(&mut self, text: &str) -> Result<Node> {
        let name = &text[1..];
        if name.is_empty() {
            return Err(Code::location(16872).error("'$' by itself is not a valid FieldPath"));
        }
        let Some(name) = name.strip_prefix('$') else {
            return self.variable("CURRENT", Some(FieldPath::parse(name)?));
        };
        let (variable, path) = match name.split_once('.') {
            Some((variable, path)) => (variable, Some(path)),
            None => (name, None),
        };
        check_read_name(variable)?;
        if path == Some("") {
            return Err(Code::location(40353).error("FieldPath must not end with a '.'."));
        }
        let path = path.map(FieldPath::parse).transpose()?;
        self.variable(variable, path)
    }

    fn variable(&mut self, name: &str, path: Option<FieldPath>) -> Result<Node> {
        if let Some(slot) = self.slot(name) {
            return Ok(Node::Variable { slot, path });
        }
        if let Some(binding) = self.context.bindings.get(name) {
            return Ok(Node::Bound { binding: binding.clone(), path });
        }
        let constant = |value: Option<RawBsonRef<'_>>| {
            let value = match &path {
                None => value.map(RawBson::from),
                Some(path) => value.and_then(|value| path.resolve_in(value).map(Value::into_owned)),
            };
            Ok(Node::Constant(value))
        };
        if let Some(value) = self.context.variables.get(name) {
            let Some(value) = value else { return constant(None) };
            let whole = value.as_raw_bson_ref();
            return match held::folding(&self.context.asked, || held::keeps(whole)) {
                true => constant(Some(whole)),
                false => Ok(Node::Shared { value: value.clone(), path }),
            };
        }
        match name {
            "ROOT" | "CURRENT" => {
                Ok(path.map_or_else(|| Node::Root(self.context.asked.clone()), Node::Field))
            }
            "REMOVE" => constant(None),
            "NOW" => {
                self.context.asked.note_time();
                constant(Some(RawBsonRef::DateTime(self.context.now)))
            }
            "CLUSTER_TIME" => {
                self.context.asked.note_time();
                let seconds = self.context.now.timestamp_millis().div_euclid(1000);
                let time = u32::try_from(seconds).unwrap_or_default();
                constant(Some(RawBsonRef::Timestamp(bson::Timestamp { time, increment: 1 })))
            }
            _ => Err(Code::location(17276).error(format!("Use of undefined variable: {name}"))),
        }
    }

    fn slot(&self, name: &str) -> Option<usize> {
        self.names.get(name).and_then(|slots| slots.last()).copied()
    }

    /// Declares variables for what `parse` parses; they get consecutive slots,
    /// the first of which is given back.
    pub fn with_variables<T>(
        &mut self,
        names: &[&str],
        parse: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(usize, T)> {
        let first = self.next_slot;
        for name in names {
            self.names.entry((*name).into()).or_default().push(self.next_slot);
            self.next_slot += 1;
        }
        let parsed = parse(self);
        for name in names {
            self.names.get_mut(*name).map(Vec::pop);
        }
        Ok((first, parsed?))
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == EXPRESSION_DEPTH_MAX {
            return Err(Code::Overflow
                .error(format!("expressions nest deeper than {EXPRESSION_DEPTH_MAX} levels")));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }
}

/// Checks the name of a variable that a user declares.
pub fn check_write_name(name: &str) -> Result<()> {
    if name == "CURRENT" {
        return Ok(());
    }
    let Some(first) = name.chars().next() else {
        return Err(Code::FailedToParse.error("empty variable names are not allowed"));
    };
    if !first.is_ascii_lowercase() && first.is_ascii() {
        return Err(Code::FailedToParse
            .error(format!("'{name}' starts with an invalid character for a user variable name")));
    }
    check_rest(name)
}

fn check_read_name(name: &str) -> Result<()> {
    let Some(first) = name.chars().next() else {
        return Err(Code::FailedToParse.error("empty variable names are not allowed"));
    };
    if !first.is_ascii_alphabetic() && first.is_ascii() {
        return Err(Code::FailedToParse
            .error(format!("'{name}' starts with an invalid character for a variable name")));
    }
    check_rest(name)
}

fn check_rest(name: &str) -> Result<()> {
    let wrong = |c: &char| c.is_ascii() && !c.is_ascii_alphanumeric() && *c != '_';
    match name.chars().skip(1).find(wrong) {
        None => Ok(()),
        Some(c) => Err(Code::FailedToParse
            .error(format!("'{name}' contains an invalid character for a variable name: '{c}'"))),
    }
}
