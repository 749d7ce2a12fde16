//! Random documents, filters and updates: few names and few values, so that they meet.

use bson::{Bson, Document, doc};
use rand::Rng as _;
use rand::rngs::StdRng;

const NAMES: [&str; 5] = ["a", "b", "c", "0", "1"];

fn pick<'a, T: ?Sized>(random: &mut StdRng, from: &[&'a T]) -> &'a T {
    from[random.random_range(0..from.len())]
}

pub fn scalar(random: &mut StdRng) -> Bson {
    match random.random_range(0..16) {
        0..5 => Bson::Int32(random.random_range(-2..6)),
        5 => Bson::Int64(random.random_range(-2..6)),
        6 => Bson::Double(f64::from(random.random_range(-4_i32..12)) / 2.0),
        7 => pick(random, &[&Bson::Double(f64::NAN), &Bson::Double(f64::INFINITY)]).clone(),
        8 => Bson::Double(-0.0),
        9 | 10 => Bson::String(pick(random, &["", "a", "ab", "b", "B"]).to_owned()),
        11 | 12 => Bson::Null,
        13 => Bson::Boolean(random.random_bool(0.5)),
        14 => Bson::DateTime(bson::DateTime::from_millis(random.random_range(-1..2))),
        _ => pick(random, &[&Bson::MinKey, &Bson::MaxKey, &Bson::Undefined]).clone(),
    }
}

pub fn value(random: &mut StdRng, depth: usize) -> Bson {
    if depth == 0 || random.random_bool(0.55) {
        return scalar(random);
    }
    if random.random_bool(0.4) {
        return Bson::Document(document(random, depth - 1));
    }
    let len = random.random_range(0..4);
    Bson::Array((0..len).map(|_| value(random, depth - 1)).collect())
}

pub fn document(random: &mut StdRng, depth: usize) -> Document {
    let mut document = Document::new();
    for name in NAMES {
        if random.random_bool(0.45) {
            document.insert(name, value(random, depth));
        }
    }
    document
}

pub fn path(random: &mut StdRng) -> String {
    let len = [1, 1, 1, 2, 2, 3][random.random_range(0..6)];
    (0..len).map(|_| pick(random, &NAMES)).collect::<Vec<&str>>().join(".")
}

/// A value that a filter may compare with.
fn operand(random: &mut StdRng) -> Bson {
    loop {
        let value = value(random, 2);
        if value != Bson::Undefined {
            return value;
        }
    }
}

fn operands(random: &mut StdRng) -> Vec<Bson> {
    (0..random.random_range(0..4)).map(|_| operand(random)).collect()
}

/// A filter; the smaller `depth`, the plainer.
pub fn filter(random: &mut StdRng, depth: usize) -> Document {
    let mut filter = Document::new();
    for _ in 0..random.random_range(1..3) {
        if depth > 0 && random.random_bool(0.25) {
            let operator = pick(random, &["$and", "$or", "$nor"]);
            let branches: Vec<Bson> = (0..random.random_range(1..4))
                .map(|_| Bson::Document(self::filter(random, depth - 1)))
                .collect();
            filter.insert(operator, branches);
        } else if random.random_bool(0.3) {
            filter.insert(path(random), plain(random));
        } else {
            filter.insert(path(random), conditions(random, depth));
        }
    }
    filter
}

/// A value that stands for itself in a filter.
fn plain(random: &mut StdRng) -> Bson {
    operand(random)
}

fn conditions(random: &mut StdRng, depth: usize) -> Document {
    let mut conditions = Document::new();
    for _ in 0..random.random_range(1..3) {
        let (name, argument) = condition(random, depth);
        conditions.insert(name, argument);
    }
    conditions
}

fn condition(random: &mut StdRng, depth: usize) -> (&'static str, Bson) {
    let choices = if depth == 0 { 12 } else { 15 };
    match random.random_range(0..choices) {
        0 => ("$eq", operand(random)),
        1 => ("$ne", operand(random)),
        2 => ("$gt", operand(random)),
        3 => ("$gte", operand(random)),
        4 => ("$lt", operand(random)),
        5 => ("$lte", operand(random)),
        6 => ("$in", operands(random).into()),
        7 => ("$nin", operands(random).into()),
        8 => ("$exists", random.random_bool(0.5).into()),
        9 => {
            let names = ["number", "string", "object", "array", "null", "bool", "int", "double"];
            ("$type", pick(random, &names).into())
        }
        10 => ("$size", random.random_range(0_i32..3).into()),
        11 => ("$all", operands(random).into()),
        12 => {
            let divisor: i32 = [-2, 2, 3][random.random_range(0..3)];
            ("$mod", vec![Bson::from(divisor), random.random_range(-1_i32..2).into()].into())
        }
        13 => ("$not", conditions(random, depth - 1).into()),
        _ if random.random_bool(0.5) => ("$elemMatch", conditions(random, depth - 1).into()),
        _ => ("$elemMatch", filter(random, depth - 1).into()),
    }
}

/// One operator of an update, its path and its argument.
pub fn modifier(random: &mut StdRng) -> (&'static str, String, Bson) {
    let number = |random: &mut StdRng| match random.random_range(0..3) {
        0 => Bson::Int64(random.random_range(-2..4)),
        1 => Bson::Double(f64::from(random.random_range(-3_i32..4)) / 2.0),
        _ => Bson::Int32(random.random_range(-2..4)),
    };
    let path = path(random);
    let (operator, argument) = match random.random_range(0..14) {
        0 | 1 => ("$set", value(random, 2)),
        2 => ("$unset", Bson::Int32(1)),
        3 => ("$inc", number(random)),
        4 => ("$mul", number(random)),
        5 => ("$min", value(random, 1)),
        6 => ("$max", value(random, 1)),
        7 => ("$push", value(random, 1)),
        8 => ("$push", each(random)),
        9 => ("$addToSet", value(random, 1)),
        10 => ("$pop", Bson::Int32(if random.random_bool(0.5) { 1 } else { -1 })),
        11 => ("$pullAll", (0..3).map(|_| value(random, 1)).collect::<Vec<Bson>>().into()),
        12 => ("$pull", scalar(random)),
        _ => {
            let name = pick(random, &["and", "or", "xor"]);
            ("$bit", doc! { name: random.random_range(0_i32..8) }.into())
        }
    };
    (operator, path, argument)
}

fn each(random: &mut StdRng) -> Bson {
    let values: Vec<Bson> = (0..random.random_range(0..3)).map(|_| value(random, 1)).collect();
    let mut clauses = doc! { "$each": values };
    if random.random_bool(0.4) {
        clauses.insert("$position", random.random_range(-3_i32..4));
    }
    if random.random_bool(0.4) {
        clauses.insert("$sort", if random.random_bool(0.5) { 1 } else { -1 });
    }
    if random.random_bool(0.4) {
        clauses.insert("$slice", random.random_range(-3_i32..4));
    }
    clauses.into()
}
