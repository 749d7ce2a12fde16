use crate::aggregate::expressions::testing::{errors, values};
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, bson, oid::ObjectId};

fn decimal(text: &str) -> Bson {
    Bson::Decimal128(text.parse().unwrap())
}

#[test]
fn shorthands() {
    let id = ObjectId::parse_str("507f1f77bcf86cd799439011").unwrap();
    values(vec![
        (bson!({"$toBool": "false"}), bson!(true)),
        (bson!({"$toBool": "$zero"}), bson!(false)),
        (bson!({"$toBool": "$missing"}), bson!(null)),
        (bson!({"$toInt": "12"}), bson!(12)),
        (bson!({"$toInt": -1.9}), bson!(-1)),
        (bson!({"$toInt": true}), bson!(1)),
        (bson!({"$toLong": "$date"}), bson!(1_704_164_645_678i64)),
        (bson!({"$toLong": "-5"}), bson!(-5i64)),
        (bson!({"$toDouble": "1.5e2"}), bson!(150.0)),
        (bson!({"$toDouble": "$decimal"}), bson!(7.25)),
        (bson!({"$toDecimal": 2.5}), decimal("2.50000000000000")),
        (bson!({"$toDecimal": "1.10"}), decimal("1.10")),
        (bson!({"$toString": 2.5}), bson!("2.5")),
        (bson!({"$toString": 3.0}), bson!("3")),
        (bson!({"$toString": 1e20}), bson!("1e+20")),
        (bson!({"$toString": "$date"}), bson!("2024-01-02T03:04:05.678Z")),
        (bson!({"$toString": id}), bson!("507f1f77bcf86cd799439011")),
        (bson!({"$toString": "$true"}), bson!("true")),
        (bson!({"$toObjectId": "507f1f77bcf86cd799439011"}), Bson::ObjectId(id)),
        (bson!({"$toDate": 0i64}), Bson::DateTime(DateTime::from_millis(0))),
        (bson!({"$toDate": "1970-01-01"}), Bson::DateTime(DateTime::from_millis(0))),
        (bson!({"$toDate": id}), Bson::DateTime(id.timestamp())),
        (
            bson!({"$toUUID": "867dee52-c331-484e-92d1-c56479b8e67e"}),
            Bson::Binary(Binary {
                subtype: BinarySubtype::Uuid,
                bytes: vec![
                    0x86, 0x7d, 0xee, 0x52, 0xc3, 0x31, 0x48, 0x4e, 0x92, 0xd1, 0xc5, 0x64, 0x79,
                    0xb8, 0xe6, 0x7e,
                ],
            }),
        ),
        (bson!({"$isNumber": "$decimal"}), bson!(true)),
        (bson!({"$isNumber": "$string"}), bson!(false)),
        (bson!({"$type": "$missing"}), bson!("missing")),
        (bson!({"$type": "$decimal"}), bson!("decimal")),
        (bson!({"$bsonSize": {"a": 1}}), bson!(12)),
        (bson!({"$binarySize": "äb"}), bson!(3)),
        (bson!({"$bsonSize": "$missing"}), bson!(null)),
    ]);
    errors(vec![
        (bson!({"$toInt": "1.5"}), 241),
        (bson!({"$toInt": "0x1"}), 241),
        (bson!({"$toInt": 3_000_000_000i64}), 241),
        (bson!({"$toInt": f64::NAN}), 241),
        (bson!({"$toInt": "$array"}), 241),
        (bson!({"$toLong": 1e30}), 241),
        (bson!({"$toDouble": "x"}), 241),
        (bson!({"$toDecimal": "x"}), 241),
        (bson!({"$toDate": 5}), 241),
        (bson!({"$toObjectId": "x"}), 241),
        (bson!({"$toString": "$array"}), 241),
        (bson!({"$toUUID": "x"}), 241),
        (bson!({"$toInt": [1, 2]}), 50723),
        (bson!({"$bsonSize": "$int"}), 31393),
        (bson!({"$binarySize": "$int"}), 51276),
    ]);
}

#[test]
fn convert() {
    let bytes = |bytes: &[u8]| {
        Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: bytes.to_vec() })
    };
    values(vec![
        (bson!({"$convert": {"input": "5", "to": "int"}}), bson!(5)),
        (bson!({"$convert": {"input": "5", "to": 16}}), bson!(5)),
        (bson!({"$convert": {"input": "x", "to": "int", "onError": -1}}), bson!(-1)),
        (bson!({"$convert": {"input": null, "to": "int", "onNull": 0}}), bson!(0)),
        (bson!({"$convert": {"input": "$missing", "to": "int"}}), bson!(null)),
        (bson!({"$convert": {"input": 1, "to": null}}), bson!(null)),
        (bson!({"$convert": {"input": 1, "to": {"type": "binData"}}}), bytes(&[1, 0, 0, 0])),
        (
            bson!({"$convert": {"input": 1, "to": "binData", "byteOrder": "big"}}),
            bytes(&[0, 0, 0, 1]),
        ),
        (bson!({"$convert": {"input": "YWI=", "to": "binData", "format": "base64"}}), bytes(b"ab")),
        (
            bson!({"$convert": {"input": bytes(b"ab"), "to": "string", "format": "hex"}}),
            bson!("6162"),
        ),
        (bson!({"$convert": {"input": bytes(&[1, 2]), "to": "int"}}), bson!(513)),
    ]);
    errors(vec![
        (bson!({"$convert": 1}), 9),
        (bson!({"$convert": {"input": 1, "to": "int", "x": 1}}), 9),
        (bson!({"$convert": {"to": "int"}}), 9),
        (bson!({"$convert": {"input": 1}}), 9),
        (bson!({"$convert": {"input": 1, "to": "nothing"}}), 2),
        (bson!({"$convert": {"input": 1, "to": 1.5}}), 9),
        (bson!({"$convert": {"input": 1, "to": 100}}), 9),
        (bson!({"$convert": {"input": 1, "to": "$true"}}), 9),
        (bson!({"$convert": {"input": "$string", "to": "int"}}), 241),
        (bson!({"$convert": {"input": "a", "to": "binData"}}), 4341115),
        (bson!({"$convert": {"input": "a", "to": "binData", "format": "x"}}), 4341125),
        (bson!({"$convert": {"input": 1, "to": "binData", "byteOrder": "x"}}), 9130002),
        (bson!({"$convert": {"input": 1, "to": {"type": "binData", "subtype": 77}}}), 4341107),
    ]);
}
