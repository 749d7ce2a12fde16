//! BSON values as the report shows them: relaxed extended JSON.

use bson::RawBsonRef;
use serde_json::{Map, Value, json};
use value::element::{array_elements, elements};

/// Longer texts are cut: a report proves something, it is no copy of the data.
const TEXT_BYTES_MAX: usize = 200;

pub fn shown(value: RawBsonRef<'_>) -> Value {
    match value {
        RawBsonRef::String(text) | RawBsonRef::Symbol(text) => json!(cut(text)),
        RawBsonRef::Int32(number) => json!(number),
        RawBsonRef::Int64(number) => json!(number),
        RawBsonRef::Double(number) if number.is_finite() => json!(number),
        RawBsonRef::Double(number) => json!({ "$numberDouble": number.to_string() }),
        RawBsonRef::Decimal128(number) => json!({ "$numberDecimal": number.to_string() }),
        RawBsonRef::Boolean(flag) => json!(flag),
        RawBsonRef::Null => Value::Null,
        RawBsonRef::ObjectId(id) => json!({ "$oid": id.to_hex() }),
        RawBsonRef::DateTime(date) => match date.try_to_rfc3339_string() {
            Ok(text) => json!({ "$date": text }),
            Err(_) => json!({ "$date": { "$numberLong": date.timestamp_millis().to_string() } }),
        },
        RawBsonRef::Timestamp(it) => json!({ "$timestamp": { "t": it.time, "i": it.increment } }),
        RawBsonRef::Binary(binary) if binary.bytes.len() == 16 => {
            let bytes: [u8; 16] = binary.bytes.try_into().unwrap_or_default();
            json!({ "$uuid": bson::Uuid::from_bytes(bytes).to_string() })
        }
        RawBsonRef::Document(document) => {
            let fields = elements(document).map(|it| (cut(it.key), shown(it.value())));
            Value::Object(Map::from_iter(fields))
        }
        RawBsonRef::Array(array) => array_elements(array).values().map(shown).collect(),
        other => json!(value::text::short(other)),
    }
}

fn cut(text: &str) -> String {
    match text.len() <= TEXT_BYTES_MAX {
        true => text.to_owned(),
        false => format!("{}…", &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::oid::ObjectId;
    use bson::{DateTime, rawdoc};

    #[test]
    fn ids_are_shown_as_others_read_them() {
        let id = rawdoc! {
            "_id": ObjectId::from_bytes([1; 12]),
            "uuid": bson::Binary::from(bson::Uuid::from_bytes([2; 16])),
            "at": DateTime::from_millis(0),
            "n": [1, 2_i64, 2.5],
            "long": "x".repeat(300),
        };
        let json = shown(RawBsonRef::Document(&id));
        assert_eq!(json["_id"], json!({ "$oid": "01".repeat(12) }));
        assert_eq!(json["uuid"]["$uuid"], json!("02020202-0202-0202-0202-020202020202"));
        assert_eq!(json["at"], json!({ "$date": "1970-01-01T00:00:00Z" }));
        assert_eq!(json["n"], json!([1, 2, 2.5]));
        assert_eq!(json["long"].as_str().unwrap().chars().count(), 201);
    }
}
