//! `$bitsAnySet`

use super::bits::{Bits, Test};
use super::{Argument, FieldOperator};
use crate::query::Predicate;
use error::Result;

pub const ROW: FieldOperator =
    FieldOperator { name: "$bitsAnySet", help: "At least one of these bits is 1.", parse };

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    Bits::parse(argument, Test::AnySet)
}
