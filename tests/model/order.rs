//! The order of values, written once more and as plainly as can be.

use std::cmp::Ordering;

use bson::Bson;

/// The place of a value's type among types.
pub fn kind(value: &Bson) -> u8 {
    match value {
        Bson::MinKey => 0,
        Bson::Undefined => 1,
        Bson::Null => 2,
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) => 3,
        Bson::String(_) => 4,
        Bson::Document(_) => 5,
        Bson::Array(_) => 6,
        Bson::Boolean(_) => 7,
        Bson::DateTime(_) => 8,
        Bson::MaxKey => 9,
        other => unreachable!("the model has no {other}"),
    }
}

pub fn compare(left: &Bson, right: &Bson) -> Ordering {
    kind(left).cmp(&kind(right)).then_with(|| match (left, right) {
        (Bson::String(left), Bson::String(right)) => left.cmp(right),
        (Bson::Boolean(left), Bson::Boolean(right)) => left.cmp(right),
        (Bson::DateTime(left), Bson::DateTime(right)) => left.cmp(right),
        (Bson::Array(left), Bson::Array(right)) => {
            let fields = |array: &[Bson]| array.iter().map(|item| ("", item.clone())).collect();
            lists(fields(left), fields(right))
        }
        (Bson::Document(left), Bson::Document(right)) => lists(
            left.iter().map(|(name, value)| (name.as_str(), value.clone())).collect(),
            right.iter().map(|(name, value)| (name.as_str(), value.clone())).collect(),
        ),
        _ => numbers(left, right),
    })
}

/// Field by field: by type, by name, by value; then the longer one is the greater.
fn lists(left: Vec<(&str, Bson)>, right: Vec<(&str, Bson)>) -> Ordering {
    for ((left_name, left), (right_name, right)) in left.iter().zip(&right) {
        let order = kind(left).cmp(&kind(right)).then_with(|| left_name.cmp(right_name));
        let order = order.then_with(|| compare(left, right));
        if order.is_ne() {
            return order;
        }
    }
    left.len().cmp(&right.len())
}

/// By value, NaN first. Whole numbers of doubles are exact as 128-bit integers here.
fn numbers(left: &Bson, right: &Bson) -> Ordering {
    let parts = |value: &Bson| match value {
        Bson::Int32(number) => (0, i128::from(*number), 0.0),
        Bson::Int64(number) => (0, i128::from(*number), 0.0),
        Bson::Double(number) if number.is_nan() => (-2, 0, 0.0),
        Bson::Double(number) if number.is_infinite() => (number.signum() as i8, 0, 0.0),
        Bson::Double(number) => (0, number.trunc() as i128, number.fract()),
        _ => (0, 0, 0.0),
    };
    let (left, right) = (parts(left), parts(right));
    let whole = left.0.cmp(&right.0).then(left.1.cmp(&right.1));
    whole.then(left.2.partial_cmp(&right.2).unwrap_or(Ordering::Equal))
}
