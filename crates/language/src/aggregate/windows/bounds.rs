//! The documents that a window takes in, around the current one.

use super::{Specification, failed};
use crate::aggregate::expressions::date::unit::Unit;
use crate::aggregate::expressions::{Expression, coerce};
use bson::RawBsonRef;
use error::{Code, Result};
use value::Number;
use value::element::{array_elements, elements};
use value::key::Direction;

#[derive(Debug, Clone, Copy)]
pub enum Bound {
    Unbounded,
    Current,
    Offset(Number),
}

#[derive(Debug, Clone, Copy)]
pub enum Bounds {
    /// By position.
    Documents(Bound, Bound),
    /// By the value that is sorted by.
    Range(Bound, Bound, Option<Unit>),
}

impl Bounds {
    pub const WHOLE: Bounds = Bounds::Documents(Bound::Unbounded, Bound::Unbounded);

    /// The window of a function; the whole partition where none is given.
    pub fn parse(function: Specification<'_>) -> Result<Bounds> {
        let Some(window) = function.window else { return Ok(Bounds::WHOLE) };
        let RawBsonRef::Document(window) = window else {
            return Err(failed("'window' field must be an object"));
        };
        let (mut documents, mut range, mut unit) = (None, None, None);
        for element in elements(window) {
            match element.key {
                "documents" => documents = Some(element.value()),
                "range" => range = Some(element.value()),
                "unit" => unit = Some(element.value()),
                _ => {
                    return Err(failed(
                        "'window' field can only contain 'documents' as the only argument or 'range' with an optional 'unit' field",
                    ));
                }
            }
        }
        match (documents, range, unit) {
            (Some(_), Some(_), _) => {
                Err(failed("Window bounds can specify either 'documents' or 'unit', not both."))
            }
            (_, None, Some(_)) => {
                Err(failed("Window bounds can only specify 'unit' with range-based bounds."))
            }
            (None, None, None) => Ok(Bounds::WHOLE),
            (Some(pair), None, None) => by_position(pair, function),
            (None, Some(pair), unit) => by_value(pair, unit, function),
        }
    }

    /// Whether the window begins with the partition.
    pub fn is_growing(&self) -> bool {
        let (Bounds::Documents(lower, _) | Bounds::Range(lower, ..)) = self;
        matches!(lower, Bound::Unbounded)
    }

    /// Whether the window is the whole partition.
    pub fn is_whole(&self) -> bool {
        let (Bounds::Documents(_, upper) | Bounds::Range(_, upper, _)) = self;
        self.is_growing() && matches!(upper, Bound::Unbounded)
    }
}

fn pair(value: RawBsonRef<'_>) -> Result<[RawBsonRef<'_>; 2]> {
    let values: Vec<_> = match value {
        RawBsonRef::Array(array) => array_elements(array).map(|e| e.value()).collect(),
        _ => Vec::new(),
    };
    values.try_into().map_err(|_| failed("Window bounds must be a 2-element array"))
}

fn bound(
    value: RawBsonRef<'_>,
    function: Specification<'_>,
    check: fn(Option<RawBsonRef<'_>>) -> Result<Number>,
) -> Result<Bound> {
    match value {
        RawBsonRef::String("unbounded") => Ok(Bound::Unbounded),
        RawBsonRef::String("current") => Ok(Bound::Current),
        RawBsonRef::String(_) => {
            Err(failed("Window bounds must be 'unbounded', 'current', or a number."))
        }
        value => match Expression::parse(value, function.context)?.constant() {
            Some(value) => Ok(Bound::Offset(check(value)?)),
            None => Err(failed("Window bounds expression must be a constant.")),
        },
    }
}

fn check_forward(lower: &Bound, upper: &Bound) -> Result<()> {
    let number = |bound: &Bound| match bound {
        Bound::Unbounded => None,
        Bound::Current => Some(Number::Int32(0)),
        Bound::Offset(by) => Some(*by),
    };
    match (number(lower), number(upper)) {
        (Some(lower), Some(upper)) if lower.compare(upper).is_gt() => {
            Err(Code::location(5339900).error("Lower bound must not exceed upper bound"))
        }
        _ => Ok(()),
    }
}

fn by_position(value: RawBsonRef<'_>, function: Specification<'_>) -> Result<Bounds> {
    let [lower, upper] = pair(value)?;
    let integer = |value: Option<RawBsonRef<'_>>| match coerce::integral32(value) {
        Some(by) => Ok(Number::Int32(by)),
        None => Err(failed("Numeric document-based bounds must be an integer")),
    };
    let lower = bound(lower, function, integer)?;
    let upper = bound(upper, function, integer)?;
    check_forward(&lower, &upper)?;
    let unbounded = matches!((lower, upper), (Bound::Unbounded, Bound::Unbounded));
    if !unbounded && function.sort.is_none() {
        return Err(Code::location(5339901).error("Document-based bounds require a sortBy"));
    }
    Ok(Bounds::Documents(lower, upper))
}

fn by_value(
    value: RawBsonRef<'_>,
    unit: Option<RawBsonRef<'_>>,
    function: Specification<'_>,
) -> Result<Bounds> {
    let [lower, upper] = pair(value)?;
    let unit = match unit {
        None => None,
        Some(RawBsonRef::String(name)) => Some(Unit::parse(name)?),
        Some(_) => return Err(failed("'unit' must be a string")),
    };
    let number = |value: Option<RawBsonRef<'_>>| {
        coerce::number(value)
            .ok_or_else(|| failed("Range-based bounds expression must be a number"))
    };
    let integer = |value: Option<RawBsonRef<'_>>| match coerce::integral32(value) {
        Some(by) => Ok(Number::Int32(by)),
        None => Err(failed("With 'unit', range-based bounds must be an integer")),
    };
    let check = if unit.is_some() { integer } else { number };
    let lower = bound(lower, function, check)?;
    let upper = bound(upper, function, check)?;
    check_forward(&lower, &upper)?;
    match function.sort.map(|sort| sort.fields()) {
        Some([(_, Direction::Ascending)]) => Ok(Bounds::Range(lower, upper, unit)),
        Some([_]) => {
            Err(Code::location(8947401).error("Range-based bounds require an ascending sortBy"))
        }
        _ => Err(Code::location(5339902).error("Range-based bounds require sortBy a single field")),
    }
}
