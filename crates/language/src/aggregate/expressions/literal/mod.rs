//! `$literal`: a value that is not looked into; `$expr`: an expression as it stands.

use super::{Node, Parser, Row};
use bson::RawBsonRef;
use error::Result;

pub const ROWS: &[Row] = &[
    Row::own("$const", parse, "a value as it stands"),
    Row::own("$expr", parse_expr, "an expression as it stands"),
    Row::own("$literal", parse, "a value as it stands"),
];

fn parse(_: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    Ok(Node::Constant(Some(operand.into())))
}

fn parse_expr(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    parser.operand(operand)
}

#[cfg(test)]
mod tests {
    use crate::aggregate::expressions::testing::values;
    use bson::bson;

    #[test]
    fn values_of_literals() {
        values(vec![
            (bson!({"$literal": "$int"}), bson!("$int")),
            (bson!({"$literal": {"$add": [1, 2]}}), bson!({"$add": [1, 2]})),
            (bson!({"$const": [1, "$int"]}), bson!([1, "$int"])),
            (bson!({"$expr": "$int"}), bson!(7)),
        ]);
    }
}
