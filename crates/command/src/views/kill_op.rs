//! `killOp`.

use error::{Code, Result};
use value::number::Number;

use crate::Request;
use crate::fields::type_name;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KillOp {
    pub operation: i64,
}

impl KillOp {
    pub fn parse(request: &Request) -> Result<KillOp> {
        let Some(field) = value::element::get(request.body(), "op") else {
            return Err(Code::NoSuchKey.error("Did not provide \"op\" field"));
        };
        let Some(number) = Number::from_value(field.value()) else {
            return Err(Code::TypeMismatch.error(format!(
                "Expected field \"op\" to have numeric type, but found {}",
                type_name(field.kind)
            )));
        };
        match number.to_i64_exact() {
            Some(operation) => Ok(KillOp { operation }),
            None => Err(Code::BadValue.error(
                "Expected field \"op\" to have a value exactly representable as a 64-bit integer",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        KillOp::parse(request).map(|_| ())
    }

    #[test]
    fn an_operation_is_a_whole_number() {
        let base = doc! { "killOp": 1, "$db": "admin", "op": 7 };
        check_fields(parse, &base, &[("op", "number", 14)]);
        check_codes(parse, &base, &[(doc! { "op": 1.5 }, 2)]);
        assert_eq!(code(parse, &doc! { "killOp": 1, "$db": "admin" }), 4);
    }
}
