//! Every BSON type against every argument.

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, RawDocumentBuf, Timestamp, doc};
use error::Result;

use crate::Request;

type Parse = fn(&Request) -> Result<()>;

/// One value of each type, by the type's name in messages.
fn samples() -> Vec<(&'static str, Bson)> {
    // The crate gives no way to make one but to read it.
    let pointer = b"\x1a\0\0\0\x0cp\0\x02\0\0\0x\0abcdefghijkl\0";
    let pointer: Document = bson::deserialize_from_slice(pointer).unwrap();
    let code = bson::JavaScriptCodeWithScope { code: "x".into(), scope: doc! {} };
    vec![
        ("double", Bson::Double(1.0)),
        ("string", Bson::from("x")),
        ("object", Bson::Document(doc! {})),
        ("array", Bson::Array(vec![])),
        ("binData", Bson::Binary(bson::Binary::from(bson::Uuid::new()))),
        ("undefined", Bson::Undefined),
        ("objectId", Bson::ObjectId(ObjectId::new())),
        ("bool", Bson::Boolean(true)),
        ("date", Bson::DateTime(DateTime::from_millis(0))),
        ("null", Bson::Null),
        (
            "regex",
            Bson::RegularExpression(bson::Regex {
                pattern: bson::raw::cstr!("x").into(),
                options: bson::raw::cstr!("").into(),
            }),
        ),
        ("javascript", Bson::JavaScriptCode("x".into())),
        ("symbol", Bson::Symbol("x".into())),
        ("javascriptWithScope", Bson::JavaScriptCodeWithScope(code)),
        ("int", Bson::Int32(1)),
        ("timestamp", Bson::Timestamp(Timestamp { time: 1, increment: 1 })),
        ("long", Bson::Int64(1)),
        ("decimal", Bson::Decimal128("1".parse().unwrap())),
        ("minKey", Bson::MinKey),
        ("maxKey", Bson::MaxKey),
        ("dbPointer", pointer["p"].clone()),
    ]
}

#[test]
fn there_is_a_sample_of_every_type() {
    let samples = samples();
    assert_eq!(samples.len(), 21);
    for (name, value) in samples {
        assert_eq!(crate::fields::type_name(value.element_type()), name);
    }
}

/// Whether `takes`, a list of words, names the type. `number` stands for the
/// four, `null` for null and undefined.
fn takes_type(takes: &str, kind: &str) -> bool {
    takes.split_whitespace().any(|word| match word {
        "any" => true,
        "null" => matches!(kind, "null" | "undefined"),
        "number" => matches!(kind, "int" | "long" | "double" | "decimal"),
        word => word == kind,
    })
}

pub fn request(body: &Document) -> Request {
    Request::from(RawDocumentBuf::try_from(body).unwrap())
}

/// The code of a command's error, 0 for none.
pub fn code(parse: Parse, body: &Document) -> i32 {
    match parse(&request(body)) {
        Ok(()) => 0,
        Err(error) => error.code().number(),
    }
}

pub fn message(parse: Parse, body: &Document) -> String {
    parse(&request(body)).map_or_else(|error| error.message().to_owned(), |()| String::new())
}

/// Sets a field in turn to a value of every type. Those in `takes` may fail for
/// another reason; all others fail with `wrong`. The base must be accepted, and
/// accepted without each optional field.
pub fn check_fields(parse: Parse, base: &Document, fields: &[(&str, &str, i32)]) {
    assert_eq!(code(parse, base), 0, "{}", message(parse, base));
    for (name, takes, wrong) in fields {
        for (kind, value) in samples() {
            let mut body = base.clone();
            body.insert(*name, value);
            let found = code(parse, &body);
            if takes_type(takes, kind) {
                assert_ne!(found, *wrong, "{name} of type {kind}: {}", message(parse, &body));
            } else {
                assert_eq!(found, *wrong, "{name} of type {kind}: {}", message(parse, &body));
            }
        }
    }
}

/// As `check_fields` for the fields of the one document in an array.
pub fn check_nested(parse: Parse, base: &Document, array: &str, fields: &[(&str, &str, i32)]) {
    assert_eq!(code(parse, base), 0, "{}", message(parse, base));
    for (name, takes, wrong) in fields {
        for (kind, value) in samples() {
            let mut body = base.clone();
            body.get_array_mut(array).unwrap()[0].as_document_mut().unwrap().insert(*name, value);
            let found = code(parse, &body);
            if takes_type(takes, kind) {
                assert_ne!(found, *wrong, "{name} of type {kind}: {}", message(parse, &body));
            } else {
                assert_eq!(found, *wrong, "{name} of type {kind}: {}", message(parse, &body));
            }
        }
    }
}

/// A field that the command does not know, and one given twice.
pub fn check_strict(parse: Parse, base: &Document) {
    let mut body = base.clone();
    body.insert("nonsense", 1);
    assert_eq!(code(parse, &body), 40415);
    let name = base.keys().next().unwrap();
    assert_eq!(message(parse, &body), format!("BSON field '{name}.nonsense' is an unknown field."));
}

/// The command fails with this code for each further set of arguments.
pub fn check_codes(parse: Parse, base: &Document, cases: &[(Document, i32)]) {
    for (further, expected) in cases {
        let mut body = base.clone();
        body.extend(further.clone());
        assert_eq!(code(parse, &body), *expected, "{further}: {}", message(parse, &body));
    }
}
