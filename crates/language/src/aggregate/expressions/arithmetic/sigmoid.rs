//! `$sigmoid`: the logistic function, 1 / (1 + e⁻ˣ), which is what it stands for.

use crate::aggregate::expressions::call::Call;
use crate::aggregate::expressions::table::{Form, find};
use crate::aggregate::expressions::{Node, Parser, Row, coerce};
use bson::{RawBson, RawBsonRef};
use error::{Code, Result};

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let path = matches!(operand, RawBsonRef::String(text) if text.starts_with('$'));
    if matches!(operand, RawBsonRef::String(_) | RawBsonRef::Array(_)) && !path {
        return Err(Code::TypeMismatch.error(format!(
            "$sigmoid only supports numeric types, not {}",
            coerce::type_name(Some(operand))
        )));
    }
    let number = |number| Node::Constant(Some(RawBson::Int32(number)));
    let opposite = call("$multiply", vec![number(-1), parser.operand(operand)?])?;
    let sum = call("$add", vec![number(1), call("$exp", vec![opposite])?])?;
    call("$divide", vec![number(1), sum])
}

/// Another expression of the table, on operands that are parsed.
fn call(name: &'static str, operands: Vec<Node>) -> Result<Node> {
    match find(name) {
        Some(row @ Row { form: Form::Call(_, function), .. }) => {
            let operands = operands.into_iter().map(Some).collect();
            Ok(Node::Call(Call { row, function: *function, operands }))
        }
        _ => Err(Code::InvalidPipelineOperator.error(format!("Unrecognized expression '{name}'"))),
    }
}
