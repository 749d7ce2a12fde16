//! A value of every BSON type, for arguments that must refuse most of them.

use bson::oid::ObjectId;
use bson::{DateTime, RawBson, RawDocumentBuf, Regex, Timestamp, cstr, rawbson};

pub fn samples() -> Vec<RawBson> {
    let mut samples = vec![
        RawBson::Double(1.5),
        rawbson!("s"),
        rawbson!({ "x": 1 }),
        rawbson!([1]),
        RawBson::Binary(bson::Binary {
            subtype: bson::spec::BinarySubtype::Generic,
            bytes: vec![1],
        }),
        RawBson::Undefined,
        RawBson::ObjectId(ObjectId::from_bytes([7; 12])),
        RawBson::Boolean(true),
        RawBson::DateTime(DateTime::from_millis(1)),
        RawBson::Null,
        RawBson::JavaScriptCode("f()".to_owned()),
        RawBson::Symbol("s".to_owned()),
        RawBson::JavaScriptCodeWithScope(bson::RawJavaScriptCodeWithScope {
            code: "f()".to_owned(),
            scope: RawDocumentBuf::new(),
        }),
        RawBson::Int32(1),
        RawBson::Timestamp(Timestamp { time: 1, increment: 1 }),
        RawBson::Int64(1),
        RawBson::MinKey,
        RawBson::MaxKey,
    ];
    samples.push(RawBson::RegularExpression(Regex {
        pattern: cstr!("s").into(),
        options: cstr!("").into(),
    }));
    samples.extend("1".parse().ok().map(RawBson::Decimal128));
    samples
}
