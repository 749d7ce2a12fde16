//! `$sampleRate`

use super::TopOperator;
use crate::query::{Node, parse::Scope};
use error::{Code, Result};
use value::{Element, Number};

pub const ROW: TopOperator =
    TopOperator { name: "$sampleRate", help: "Documents at random, with this probability.", parse };

fn parse(element: Element<'_>, scope: &Scope<'_>) -> Result<Node> {
    if !scope.whole {
        let message = "$sampleRate can only be applied to the top-level document";
        return Err(Code::BadValue.error(message));
    }
    let Some(rate) = Number::from_value(element.value()) else {
        return Err(Code::BadValue.error("argument to $sampleRate must be a numeric type"));
    };
    match rate.to_f64() {
        0.0 => Ok(Node::False),
        1.0 => Ok(Node::True),
        rate if (0.0..1.0).contains(&rate) => Ok(Node::SampleRate(rate)),
        _ => Err(Code::BadValue.error("numeric argument to $sampleRate must be in [0, 1]")),
    }
}
