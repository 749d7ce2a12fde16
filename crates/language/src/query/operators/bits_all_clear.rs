//! `$bitsAllClear`

use super::bits::{Bits, Test};
use super::{Argument, FieldOperator};
use crate::query::Predicate;
use error::Result;

pub const ROW: FieldOperator =
    FieldOperator { name: "$bitsAllClear", help: "All of these bits are 0.", parse };

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    Bits::parse(argument, Test::AllClear)
}
