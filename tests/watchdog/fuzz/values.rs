//! Random values, full of the language's own words.

use bson::raw::CStr;
use bson::spec::BinarySubtype;
use bson::{
    Binary, DateTime, Decimal128, RawArrayBuf, RawBson, RawDocumentBuf, Regex, Timestamp,
    oid::ObjectId,
};
use rand::Rng;
use rand::rngs::StdRng;
use std::path::Path;

/// Operators, stages and expressions.
pub struct Words(Vec<String>);

impl Words {
    /// All that the table of what is supported lists.
    pub fn read() -> Words {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compatibility.md");
        let text = std::fs::read_to_string(file).unwrap();
        let words = text.lines().filter_map(|line| line.strip_prefix("| `$")?.split('`').next());
        let words: Vec<_> = words.map(|word| format!("${word}")).collect();
        assert!(words.len() > 200, "{} words are too few", words.len());
        Words(words)
    }

    fn any(&self, random: &mut StdRng) -> &str {
        &self.0[random.random_range(0..self.0.len())]
    }
}

const FIELDS: [&str; 12] = [
    "_id",
    "a",
    "act",
    "act.0",
    "as",
    "cond",
    "from",
    "in",
    "input",
    "n",
    "names.name7",
    "numbers",
];

pub fn value(random: &mut StdRng, words: &Words, depth: u32) -> RawBson {
    match random.random_range(0..20) {
        0..6 if depth > 0 => document(random, words, depth - 1).into(),
        6..9 if depth > 0 => {
            let count = random.random_range(0..5);
            let items = (0..count).map(|_| value(random, words, depth - 1));
            items.collect::<RawArrayBuf>().into()
        }
        9..12 => RawBson::String(text(random, words)),
        12..15 => number(random),
        _ => other(random),
    }
}

fn document(random: &mut StdRng, words: &Words, depth: u32) -> RawDocumentBuf {
    let mut document = RawDocumentBuf::new();
    for _ in 0..random.random_range(0..4) {
        let name = match random.random_range(0..3) {
            0 => FIELDS[random.random_range(0..FIELDS.len())],
            _ => words.any(random),
        };
        let value = value(random, words, depth);
        document.append(<&CStr>::try_from(name).unwrap(), value);
    }
    document
}

fn text(random: &mut StdRng, words: &Words) -> String {
    match random.random_range(0..6) {
        0 => words.any(random).to_owned(),
        1 => format!("${}", FIELDS[random.random_range(0..FIELDS.len())]),
        2 => format!("$${}", ["ROOT", "NOW", "this", "REMOVE", "x"][random.random_range(0..5)]),
        3 => "ä€𝄞".repeat(random.random_range(0..20)),
        4 => "(a*)*b".repeat(random.random_range(0..10)),
        _ => FIELDS[random.random_range(0..FIELDS.len())].to_owned(),
    }
}

fn number(random: &mut StdRng) -> RawBson {
    match random.random_range(0..7) {
        0 => RawBson::Int32(random.random_range(-3..10)),
        1 => RawBson::Int32([i32::MIN, i32::MAX][random.random_range(0..2)]),
        2 => RawBson::Int64([i64::MIN, i64::MAX, 0, -1][random.random_range(0..4)]),
        3 => RawBson::Int64(random.random()),
        4 => RawBson::Double([f64::NAN, f64::INFINITY, -0.0, 1e300][random.random_range(0..4)]),
        5 => RawBson::Double(random.random()),
        _ => RawBson::Decimal128(Decimal128::from_bytes(random.random())),
    }
}

fn other(random: &mut StdRng) -> RawBson {
    match random.random_range(0..11) {
        0 => RawBson::Boolean(random.random()),
        1 => RawBson::Null,
        2 => RawBson::Undefined,
        3 => RawBson::MinKey,
        4 => RawBson::MaxKey,
        5 => RawBson::DateTime(DateTime::from_millis(random.random())),
        6 => RawBson::Timestamp(Timestamp { time: random.random(), increment: random.random() }),
        7 => RawBson::ObjectId(ObjectId::from_bytes(random.random())),
        8 => {
            let subtype = BinarySubtype::from(random.random::<u8>());
            RawBson::Binary(Binary { subtype, bytes: vec![random.random(); 16] })
        }
        9 => {
            let pattern = ["a*", "(", "^x", "[a-z]+$"][random.random_range(0..4)];
            let options = ["", "i", "mx", "q"][random.random_range(0..4)];
            match (<&CStr>::try_from(pattern), <&CStr>::try_from(options)) {
                (Ok(pattern), Ok(options)) => RawBson::RegularExpression(Regex {
                    pattern: pattern.to_owned(),
                    options: options.to_owned(),
                }),
                _ => RawBson::Null,
            }
        }
        _ => RawBson::Symbol("s".to_owned()),
    }
}
