//! `$switch`: the value of the first branch whose case is true.

use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use bson::RawBsonRef;
use error::{Code, Result};
use value::element::{array_elements, elements};
use value::{Collator, Value};

#[derive(Debug)]
struct Switch {
    branches: Vec<(Node, Node)>,
    default: Option<Node>,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let RawBsonRef::Document(document) = operand else {
        return Err(Code::location(40060).error(format!(
            "$switch requires an object as an argument, found: {}",
            coerce::type_name(Some(operand))
        )));
    };
    let mut switch = Switch { branches: Vec::new(), default: None };
    for element in elements(document) {
        match (element.key, element.value()) {
            ("branches", RawBsonRef::Array(array)) => {
                for element in array_elements(array) {
                    switch.branches.push(branch(parser, element.value())?);
                }
            }
            ("branches", other) => {
                return Err(Code::location(40061).error(format!(
                    "$switch expected an array for 'branches', found: {}",
                    coerce::type_name(Some(other))
                )));
            }
            ("default", value) => switch.default = Some(parser.operand(value)?),
            (key, _) => {
                return Err(Code::location(40067)
                    .error(format!("$switch found an unknown argument: {key}")));
            }
        }
    }
    if switch.branches.is_empty() {
        return Err(Code::location(40068).error("$switch requires at least one branch."));
    }
    Ok(Node::Special(Box::new(switch)))
}

fn branch(parser: &mut Parser<'_>, value: RawBsonRef<'_>) -> Result<(Node, Node)> {
    let RawBsonRef::Document(document) = value else {
        return Err(Code::location(40062).error(format!(
            "$switch expected each branch to be an object, found: {}",
            coerce::type_name(Some(value))
        )));
    };
    let (mut case, mut then) = (None, None);
    for element in elements(document) {
        let slot = match element.key {
            "case" => &mut case,
            "then" => &mut then,
            key => {
                return Err(Code::location(40063)
                    .error(format!("$switch found an unknown argument to a branch: {key}")));
            }
        };
        *slot = Some(parser.operand(element.value())?);
    }
    let missing = |code, name: &str| {
        Code::location(code)
            .error(format!("$switch requires each branch have a '{name}' expression"))
    };
    Ok((case.ok_or_else(|| missing(40064, "case"))?, then.ok_or_else(|| missing(40065, "then"))?))
}

impl Special for Switch {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        for (case, then) in &self.branches {
            let case = case.evaluate(scope)?;
            if coerce::is_true(case.as_ref().map(Value::get)) {
                return then.evaluate(scope);
            }
        }
        match &self.default {
            Some(default) => default.evaluate(scope),
            None => Err(Code::location(40066).error(
                "$switch could not find a matching branch for an input, and no default was specified.",
            )),
        }
    }

    fn operands(&self) -> Vec<&Node> {
        self.branches.iter().flat_map(|(case, then)| [case, then]).chain(&self.default).collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        let branches = self.branches.iter_mut().flat_map(|(case, then)| [case, then]);
        branches.chain(&mut self.default).collect()
    }

    /// Branches whose case is false for ever go; one whose case is true for
    /// ever is the default of those before it.
    fn fold(&mut self, collator: Option<&Collator>) -> Result<Option<Node>> {
        if let Some(default) = &mut self.default {
            default.fold(collator)?;
        }
        let mut branches = Vec::new();
        let mut certain = None;
        for (mut case, mut then) in std::mem::take(&mut self.branches) {
            case.fold(collator)?;
            if !case.is_constant() {
                then.fold(collator)?;
                branches.push((case, then));
            } else if coerce::is_true(case.constant()) {
                then.fold(collator)?;
                certain = Some(then);
                break;
            }
        }
        self.branches = branches;
        if certain.is_some() {
            self.default = certain;
        }
        if self.branches.is_empty() && self.default.is_none() {
            return Err(Code::location(40069).error(
                "Cannot execute a switch statement where all the cases evaluate to false without a default",
            ));
        }
        Ok(if self.branches.is_empty() { self.default.take() } else { None })
    }
}
