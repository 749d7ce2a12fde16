//! `$sortByCount`: groups by a value, the commonest first. Short for `$group`
//! and `$sort`.

use super::{Group, Sort, Specification, Stage};
use crate::aggregate::accumulators;
use crate::aggregate::expressions::Expression;
use crate::sort::Pattern;
use bson::{RawBsonRef, rawdoc};
use error::{Code, Result};
use value::Path;
use value::element::elements;
use value::key::Direction;

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    match stage.value {
        RawBsonRef::Document(document) => {
            let operator = elements(document).next().is_some_and(|e| e.key.starts_with('$'));
            if !operator {
                return Err(Code::location(40147).error(
                    "the sortByCount field must be defined as a $-prefixed path or an expression inside an object",
                ));
            }
        }
        RawBsonRef::String(path) if path.starts_with('$') => {}
        RawBsonRef::String(_) => {
            return Err(Code::location(40148)
                .error("the sortByCount field must be defined as a $-prefixed path"));
        }
        _ => {
            return Err(Code::location(40149)
                .error("the sortByCount field must be specified as a string or as an object"));
        }
    }
    let id = Expression::parse(stage.value, stage.context)?;
    let one = rawdoc! { "$sum": 1 };
    let count = accumulators::parse_field("count", RawBsonRef::Document(&one), stage.context)?;
    let group = Group::new(id, vec![("count".into(), count)], stage.context);
    let pattern = Pattern::from_fields(vec![(Path::new("count"), Direction::Descending)]);
    Ok(vec![Box::new(group), Box::new(Sort::new(pattern, stage.context.collator.clone()))])
}
