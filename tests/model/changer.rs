//! What the operators of an update do, on parsed documents and one after the other.

use bson::{Bson, Document};

use crate::order::compare;

/// Applies one operator; any error is `Err`.
pub fn change(
    document: &mut Document,
    operator: &str,
    path: &str,
    argument: &Bson,
) -> Result<(), ()> {
    let parts: Vec<&str> = path.split('.').collect();
    Change { operator, argument }.fields(document, &parts)
}

struct Change<'a> {
    operator: &'a str,
    argument: &'a Bson,
}

/// What becomes of a value.
enum Fate {
    Keep,
    Put(Bson),
    Remove,
}

impl Change<'_> {
    fn creates(&self) -> bool {
        !matches!(self.operator, "$unset" | "$pop" | "$pull" | "$pullAll")
    }

    /// The path goes on where it cannot.
    fn blocked(&self) -> Result<(), ()> {
        if self.operator == "$unset" { Ok(()) } else { Err(()) }
    }

    fn fields(&self, document: &mut Document, parts: &[&str]) -> Result<(), ()> {
        let name = parts[0];
        match (document.get_mut(name), &parts[1..]) {
            (Some(value), rest @ [_, ..]) => self.below(value, rest)?,
            (None, rest @ [_, ..]) => {
                if let Some(made) = self.made(rest)? {
                    document.insert(name, made);
                }
            }
            (old, []) => match self.fate(old.as_deref())? {
                Fate::Keep => {}
                Fate::Put(new) => drop(document.insert(name, new)),
                Fate::Remove => drop(document.remove(name)),
            },
        }
        Ok(())
    }

    fn below(&self, value: &mut Bson, parts: &[&str]) -> Result<(), ()> {
        let items = match value {
            Bson::Document(document) => return self.fields(document, parts),
            Bson::Array(items) => items,
            _ => return self.blocked(),
        };
        let Ok(index) = parts[0].parse::<usize>() else { return self.blocked() };
        match (items.get_mut(index), &parts[1..]) {
            (Some(item), []) => match self.fate(Some(item))? {
                Fate::Keep => {}
                Fate::Put(new) => *item = new,
                Fate::Remove => *item = Bson::Null,
            },
            (Some(item), rest) => self.below(item, rest)?,
            (None, rest) => {
                if let Some(made) = self.made(rest)? {
                    items.resize(index, Bson::Null);
                    items.push(made);
                }
            }
        }
        Ok(())
    }

    /// What a missing value becomes, inside documents for the rest of the path.
    fn made(&self, rest: &[&str]) -> Result<Option<Bson>, ()> {
        if !self.creates() {
            return Ok(None);
        }
        let Fate::Put(mut value) = self.fate(None)? else { return Ok(None) };
        for name in rest.iter().rev() {
            let mut outer = Document::new();
            outer.insert(*name, value);
            value = Bson::Document(outer);
        }
        Ok(Some(value))
    }

    fn fate(&self, old: Option<&Bson>) -> Result<Fate, ()> {
        let argument = self.argument;
        match (self.operator, old) {
            ("$set", _) | ("$min" | "$max" | "$inc", None) => Ok(Fate::Put(argument.clone())),
            ("$unset", _) => Ok(Fate::Remove),
            ("$inc", Some(old)) => arithmetic(old, argument, |a, b| a + b, |a, b| a + b),
            ("$mul", Some(old)) => arithmetic(old, argument, |a, b| a * b, |a, b| a * b),
            ("$mul", None) => {
                match arithmetic(argument, &Bson::Int32(0), |_, _| 0, |a, b| a * b)? {
                    Fate::Keep => Ok(Fate::Put(argument.clone())),
                    fate => Ok(fate),
                }
            }
            ("$min", Some(old)) if compare(argument, old).is_ge() => Ok(Fate::Keep),
            ("$max", Some(old)) if compare(argument, old).is_le() => Ok(Fate::Keep),
            ("$min" | "$max", Some(_)) => Ok(Fate::Put(argument.clone())),
            ("$bit", old) => bit(old, argument),
            (operator, old) => array(operator, old, argument),
        }
    }
}

/// The wider type of the two. A number that stays the same is kept as it is.
fn arithmetic(
    old: &Bson,
    argument: &Bson,
    whole: fn(i64, i64) -> i64,
    broken: fn(f64, f64) -> f64,
) -> Result<Fate, ()> {
    let int = |value: &Bson| match value {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        _ => None,
    };
    let double = |value: &Bson| match value {
        Bson::Double(number) => Some(*number),
        value => int(value).map(|number| number as f64),
    };
    let new = match (int(old), int(argument)) {
        (Some(a), Some(b)) => {
            let result = whole(a, b);
            match (old, argument) {
                (Bson::Int32(_), Bson::Int32(_)) => {
                    Bson::Int32(i32::try_from(result).map_err(|_| ())?)
                }
                _ => Bson::Int64(result),
            }
        }
        _ => Bson::Double(broken(double(old).ok_or(())?, double(argument).ok_or(())?)),
    };
    Ok(if new == *old { Fate::Keep } else { Fate::Put(new) })
}

fn bit(old: Option<&Bson>, argument: &Bson) -> Result<Fate, ()> {
    let steps = argument.as_document().ok_or(())?;
    let (name, operand) = steps.iter().next().ok_or(())?;
    let operand = i64::from(operand.as_i32().ok_or(())?);
    let combine = |value: i64| match name.as_str() {
        "and" => value & operand,
        "or" => value | operand,
        _ => value ^ operand,
    };
    let narrow = |value: i32| i32::try_from(combine(value.into())).map(Bson::Int32).map_err(|_| ());
    Ok(Fate::Put(match old {
        None => narrow(0)?,
        Some(Bson::Int32(value)) => narrow(*value)?,
        Some(Bson::Int64(value)) => Bson::Int64(combine(*value)),
        Some(_) => return Err(()),
    }))
}

fn array(operator: &str, old: Option<&Bson>, argument: &Bson) -> Result<Fate, ()> {
    let mut items = match old {
        Some(Bson::Array(items)) => items.clone(),
        Some(_) => return Err(()),
        None if matches!(operator, "$push" | "$addToSet") => Vec::new(),
        None => return Ok(Fate::Keep),
    };
    match operator {
        "$push" => match argument.as_document().filter(|clauses| clauses.contains_key("$each")) {
            Some(clauses) => push_each(&mut items, clauses),
            None => items.push(argument.clone()),
        },
        "$addToSet" => {
            if !items.iter().any(|item| compare(item, argument).is_eq()) {
                items.push(argument.clone());
            }
        }
        "$pop" if items.is_empty() => {}
        "$pop" => {
            let at = if *argument == Bson::Int32(1) { items.len() - 1 } else { 0 };
            items.remove(at);
        }
        "$pull" => items.retain(|item| compare(item, argument).is_ne()),
        "$pullAll" => {
            let unwanted = argument.as_array().ok_or(())?;
            items.retain(|item| !unwanted.iter().any(|one| compare(item, one).is_eq()));
        }
        other => unreachable!("the model has no {other}"),
    }
    Ok(Fate::Put(Bson::Array(items)))
}

fn push_each(items: &mut Vec<Bson>, clauses: &Document) {
    let len = items.len() as i32;
    let at = match clauses.get_i32("$position") {
        Ok(position) if position < 0 => (len + position).max(0),
        Ok(position) => position.min(len),
        Err(_) => len,
    };
    let values = clauses.get_array("$each").cloned().unwrap_or_default();
    items.splice(at as usize..at as usize, values);
    match clauses.get_i32("$sort") {
        Ok(1) => items.sort_by(compare),
        Ok(_) => items.sort_by(|left, right| compare(right, left)),
        Err(_) => {}
    }
    match clauses.get_i32("$slice") {
        Ok(slice) if slice >= 0 => items.truncate(slice as usize),
        Ok(slice) => drop(items.drain(..items.len().saturating_sub(slice.unsigned_abs() as usize))),
        Err(_) => {}
    }
}
