//! What the expressions of regular expressions share: operands, compiling,
//! matches as documents.

use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::Evaluated;
use crate::aggregate::expressions::{Node, Parser, Scope, Special, coerce};
use crate::interrupt;
use bson::{RawBsonRef, RawDocumentBuf};
use error::{Code, Result};
use pcre2::bytes::Regex;
use value::element::elements;
use value::{ArrayWriter, Collator, DocumentWriter, Value};

/// What is made of the input and the pattern; `None` where one of them is null.
type Finish = fn(&'static str, Option<(&Regex, &str)>) -> Evaluated<'static>;

#[derive(Debug)]
struct Matching {
    name: &'static str,
    input: Node,
    pattern: Node,
    options: Option<Node>,
    /// Compiled once where pattern and options are constants.
    compiled: Option<Regex>,
    finish: Finish,
}

pub fn parse(
    name: &'static str,
    parser: &mut Parser<'_>,
    operand: RawBsonRef<'_>,
    finish: Finish,
) -> Result<Node> {
    let RawBsonRef::Document(document) = operand else {
        return Err(Code::location(51103).error(format!(
            "{name} expects an object of named arguments but found: {}",
            coerce::type_name(Some(operand))
        )));
    };
    let (mut input, mut pattern, mut options) = (None, None, None);
    for element in elements(document) {
        let slot = match element.key {
            "input" => &mut input,
            "regex" => &mut pattern,
            "options" => &mut options,
            key => {
                return Err(
                    Code::location(31024).error(format!("{name} found an unknown argument: {key}"))
                );
            }
        };
        *slot = Some(parser.operand(element.value())?);
    }
    let missing = |code, field: &str| {
        Code::location(code).error(format!("{name} requires '{field}' parameter"))
    };
    Ok(Node::Special(Box::new(Matching {
        name,
        input: input.ok_or_else(|| missing(31022, "input"))?,
        pattern: pattern.ok_or_else(|| missing(31023, "regex"))?,
        options,
        compiled: None,
        finish,
    })))
}

impl Matching {
    /// The pattern of these operands; `None` is a null one.
    fn compile(
        &self,
        pattern: Option<RawBsonRef<'_>>,
        options: Option<RawBsonRef<'_>>,
    ) -> Result<Option<Regex>> {
        let name = self.name;
        let (pattern, own_options) = match pattern {
            value if coerce::is_nullish(value) => (None, ""),
            Some(RawBsonRef::String(text)) => (Some(text), ""),
            Some(RawBsonRef::RegularExpression(regex)) => {
                (Some(regex.pattern.as_str()), regex.options.as_str())
            }
            _ => {
                return Err(Code::location(51105)
                    .error(format!("{name} needs 'regex' to be of type string or regex")));
            }
        };
        let options = match options {
            value if coerce::is_nullish(value) => None,
            Some(RawBsonRef::String(text)) => Some(text),
            _ => {
                return Err(Code::location(51106)
                    .error(format!("{name} needs 'options' to be of type string")));
            }
        };
        if options.is_some() && !own_options.is_empty() {
            return Err(Code::location(51107).error(format!(
                "{name}: found regex option(s) specified in both 'regex' and 'option' fields"
            )));
        }
        let options = options.unwrap_or(own_options);
        if pattern.is_some_and(|pattern| pattern.contains('\0')) {
            return Err(Code::location(51109).error(format!(
                "{name}: regular expression cannot contain an embedded null byte"
            )));
        }
        if options.contains('\0') {
            return Err(Code::location(51110).error(format!(
                "{name}: regular expression options cannot contain an embedded null byte"
            )));
        }
        let Some(pattern) = pattern else { return Ok(None) };
        match crate::regex::compile(pattern, options, name) {
            Ok(regex) => Ok(Some(regex)),
            Err(error) if error.code() == Code::location(51108) => Err(error),
            // It is not the pattern that is at fault.
            Err(error) if interrupt::is_stopping() => Err(error),
            Err(error) => Err(Code::location(51111)
                .error(format!("Invalid Regex in {name}: {}", error.message()))),
        }
    }
}

impl Special for Matching {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let input = self.input.evaluate(scope)?;
        let _held = Held::value(input.as_ref())?;
        let computed;
        let regex = match &self.compiled {
            Some(regex) => Some(regex),
            None => {
                let pattern = self.pattern.evaluate(scope)?;
                let options = match &self.options {
                    Some(options) => options.evaluate(scope)?,
                    None => None,
                };
                computed = self
                    .compile(pattern.as_ref().map(Value::get), options.as_ref().map(Value::get))?;
                computed.as_ref()
            }
        };
        let input = match input.as_ref().map(Value::get) {
            value if coerce::is_nullish(value) => None,
            Some(RawBsonRef::String(text)) => Some(text),
            _ => {
                return Err(Code::location(51104)
                    .error(format!("{} needs 'input' to be of type string", self.name)));
            }
        };
        interrupt::check_sized(input.map_or(0, str::len))?;
        (self.finish)(self.name, regex.zip(input))
    }

    fn operands(&self) -> Vec<&Node> {
        [&self.input, &self.pattern].into_iter().chain(&self.options).collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        [&mut self.input, &mut self.pattern].into_iter().chain(&mut self.options).collect()
    }

    fn fold(&mut self, collator: Option<&Collator>) -> Result<Option<Node>> {
        for operand in self.operands_mut() {
            operand.fold(collator)?;
        }
        if self.pattern.is_constant() && self.options.as_ref().is_none_or(Node::is_constant) {
            let options = self.options.as_ref().and_then(Node::constant);
            self.compiled = self.compile(self.pattern.constant(), options)?;
        }
        Ok(None)
    }
}

/// The error of a match that took too much.
pub fn failed(name: &str, error: &pcre2::Error) -> error::Error {
    Code::location(51156).error(format!(
        "Error occurred while executing the regular expression in {name}. Result code: {error}"
    ))
}

/// `{match, idx, captures}` of a match whose groups lie at these bytes; `idx` counts code
/// points.
pub fn document(
    input: &str,
    count: usize,
    group: impl Fn(usize) -> Option<(usize, usize)>,
    index: usize,
) -> RawDocumentBuf {
    let part = |at: usize| group(at).map(|(start, end)| input.get(start..end).unwrap_or_default());
    let mut groups = ArrayWriter::new();
    for at in 1..count {
        groups.push(part(at).map_or(RawBsonRef::Null, RawBsonRef::String));
    }
    let mut out = DocumentWriter::new();
    out.append("match", RawBsonRef::String(part(0).unwrap_or_default()));
    out.append("idx", RawBsonRef::Int32(index as i32));
    groups.finish_into(&mut out, "captures");
    out.finish()
}
