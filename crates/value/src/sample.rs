//! Random values of every type for property tests.

use bson::spec::BinarySubtype;
use bson::{
    Binary, DateTime, Decimal128, RawArrayBuf, RawBson, RawDocumentBuf, RawJavaScriptCodeWithScope,
    Regex, Timestamp, oid::ObjectId,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A number near one of the places where the encodings of numbers change.
pub fn boundary_numbers() -> Vec<RawBson> {
    let mut numbers = Vec::new();
    let integers = [0, 1, 127, 128, 1 << 15, 1 << 31, 1 << 53, 1 << 62, i64::MAX];
    for integer in integers {
        for integer in [integer, integer.saturating_add(1), integer - 1] {
            for integer in [integer, -integer, (-integer).saturating_sub(1)] {
                numbers.push(RawBson::Int64(integer));
                numbers.push(RawBson::Double(integer as f64));
                numbers.push(decimal(&integer.to_string()));
                numbers.push(decimal(&format!("{integer}.0")));
                numbers.push(decimal(&format!("{integer}.5")));
                numbers.push(decimal(&format!("{integer}.1")));
                numbers.push(RawBson::Double(integer as f64 + 0.5));
                if let Ok(integer) = i32::try_from(integer) {
                    numbers.push(RawBson::Int32(integer));
                }
            }
        }
    }
    let magnitudes = [
        0.1,
        0.3,
        0.5,
        0.75,
        1.1,
        2.5,
        1e-10,
        1e10,
        1e22,
        1e23,
        1e100,
        1e300,
        5e-324,
        f64::MIN_POSITIVE,
        f64::MAX,
        9_223_372_036_854_775_808.0,
        1e19,
    ];
    for magnitude in magnitudes {
        for double in [magnitude, magnitude.next_up(), magnitude.next_down()] {
            numbers.push(RawBson::Double(double));
            numbers.push(RawBson::Double(-double));
        }
        numbers.push(decimal(&format!("{magnitude:e}")));
        numbers.push(decimal(&format!("-{magnitude:e}")));
    }
    for text in [
        "0",
        "-0",
        "0.00",
        "0E+100",
        "1E-6176",
        "-1E-6176",
        "1E-400",
        "1E+400",
        "-1E+400",
        "NaN",
        "9.999999999999999999999999999999999E+6144",
        "1.0E+6144",
        "Infinity",
        "-Infinity",
        "9223372036854775807.999999",
        "9223372036854775808",
        "9223372036854775808.1",
        "0.9999999999999999999999999999999999",
        "1.000000000000000000000000000000001",
    ] {
        numbers.push(decimal(text));
    }
    for double in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0] {
        numbers.push(RawBson::Double(double));
    }
    numbers.push(RawBson::Int64(i64::MIN));
    numbers
}

fn decimal(text: &str) -> RawBson {
    RawBson::Decimal128(text.parse().expect("a decimal"))
}

pub fn number() -> impl Strategy<Value = RawBson> {
    prop_oneof![
        any::<i32>().prop_map(RawBson::Int32),
        (-20i32..20).prop_map(RawBson::Int32),
        any::<i64>().prop_map(RawBson::Int64),
        (-20i64..20).prop_map(RawBson::Int64),
        any::<f64>().prop_map(RawBson::Double),
        any::<u64>().prop_map(|bits| RawBson::Double(f64::from_bits(bits))),
        (-80i32..80).prop_map(|eighths| RawBson::Double(f64::from(eighths) / 8.0)),
        any::<[u8; 16]>().prop_map(|bytes| RawBson::Decimal128(Decimal128::from_bytes(bytes))),
        (-2000i32..2000, -4i32..3)
            .prop_map(|(coefficient, exponent)| decimal(&format!("{coefficient}E{exponent}"))),
        (any::<i64>(), -25i32..5)
            .prop_map(|(coefficient, exponent)| decimal(&format!("{coefficient}E{exponent}"))),
        any::<f64>()
            .prop_filter("finite", |double| double.is_finite())
            .prop_map(|double| decimal(&format!("{double:e}"))),
        prop::sample::select(boundary_numbers()),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ab\\x00\\x01é]{0,4}", any::<String>()]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[abc]{0,2}", "[^\\x00]{0,6}"]
}

fn cstring(text: String) -> bson::raw::CString {
    text.replace('\0', "").try_into().expect("no zero byte")
}

fn leaf() -> impl Strategy<Value = RawBson> {
    prop_oneof![
        8 => number(),
        4 => text().prop_map(RawBson::String),
        1 => text().prop_map(RawBson::Symbol),
        1 => text().prop_map(RawBson::JavaScriptCode),
        1 => any::<bool>().prop_map(RawBson::Boolean),
        1 => prop::sample::select(vec![
            RawBson::Null, RawBson::Undefined, RawBson::MinKey, RawBson::MaxKey,
        ]),
        1 => any::<[u8; 12]>().prop_map(|bytes| RawBson::ObjectId(ObjectId::from_bytes(bytes))),
        1 => any::<i64>().prop_map(|at| RawBson::DateTime(DateTime::from_millis(at))),
        1 => any::<(u32, u32)>()
            .prop_map(|(time, increment)| RawBson::Timestamp(Timestamp { time, increment })),
        1 => (any::<u8>(), vec(any::<u8>(), 0..5)).prop_map(|(subtype, bytes)| {
            RawBson::Binary(Binary { subtype: BinarySubtype::from(subtype), bytes })
        }),
        1 => (text(), "[imsx]{0,2}").prop_map(|(pattern, options)| {
            RawBson::RegularExpression(Regex {
                pattern: cstring(pattern),
                options: cstring(options),
            })
        }),
        1 => (name(), any::<[u8; 12]>()).prop_map(|(namespace, id)| pointer(&namespace, id)),
    ]
}

fn pointer(namespace: &str, id: [u8; 12]) -> RawBson {
    let mut bytes = (namespace.len() as i32 + 1).to_le_bytes().to_vec();
    bytes.extend(namespace.as_bytes());
    bytes.push(0);
    bytes.extend(id);
    crate::element::value(bson::spec::ElementType::DbPointer, &bytes).into()
}

/// A value of any type, nested up to three levels.
pub fn value() -> impl Strategy<Value = RawBson> {
    leaf().prop_recursive(3, 12, 4, |inner| {
        let document = vec((name(), inner.clone()), 0..4)
            .prop_map(|fields| {
                let mut document = RawDocumentBuf::new();
                for (name, value) in fields {
                    document.append(cstring(name), value);
                }
                document
            })
            .boxed();
        prop_oneof![
            vec(inner, 0..4)
                .prop_map(|values| RawBson::Array(values.into_iter().collect::<RawArrayBuf>())),
            document.clone().prop_map(RawBson::Document),
            (text(), document).prop_map(|(code, scope)| {
                RawBson::JavaScriptCodeWithScope(RawJavaScriptCodeWithScope { code, scope })
            }),
        ]
    })
}
