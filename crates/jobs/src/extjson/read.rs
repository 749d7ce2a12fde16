//! Text as documents.

use super::json::{self, Json};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bson::oid::ObjectId;
use bson::spec::ElementType;
use bson::{DateTime, Decimal128, RawDocumentBuf};
use value::{DocumentWriter, Element};

type Fields = [(String, Json)];

/// Reads one document.
pub fn read(text: &str) -> Result<RawDocumentBuf, String> {
    match json::parse(text)? {
        Json::Object(fields) => {
            let mut writer = DocumentWriter::new();
            append_fields(&mut writer, &fields)?;
            Ok(writer.finish())
        }
        _ => Err("a document was expected".to_owned()),
    }
}

fn append_fields(writer: &mut DocumentWriter, fields: &Fields) -> Result<(), String> {
    for (name, value) in fields {
        if name.contains('\0') {
            return Err("a field's name holds a zero character".to_owned());
        }
        append(writer, name, value)?;
    }
    Ok(())
}

fn append(writer: &mut DocumentWriter, key: &str, value: &Json) -> Result<(), String> {
    match value {
        Json::Null => writer.append_null(key),
        Json::Boolean(value) => writer.append_bool(key, *value),
        Json::String(text) => writer.append_str(key, text),
        Json::Number(text) => append_number(writer, key, text)?,
        Json::Array(values) => {
            writer.begin_array(key);
            for (at, value) in values.iter().enumerate() {
                append(writer, &at.to_string(), value)?;
            }
            writer.end();
        }
        Json::Object(fields) => match special(fields)? {
            Some((kind, bytes)) => writer.copy(Element { kind, key, bytes: &bytes }),
            None => {
                writer.begin_document(key);
                append_fields(writer, fields)?;
                writer.end();
            }
        },
    }
    Ok(())
}

/// A plain number is an int32 if it fits, else an int64, else a double.
fn append_number(writer: &mut DocumentWriter, key: &str, text: &str) -> Result<(), String> {
    if let Ok(number) = text.parse::<i32>() {
        writer.append_i32(key, number);
    } else if let Ok(number) = text.parse::<i64>() {
        writer.append_i64(key, number);
    } else {
        writer.append_f64(key, text.parse().map_err(|_| format!("{text} is no number"))?);
    }
    Ok(())
}

/// A value that JSON has no notation for: its type and its bytes in BSON. `None`
/// if the object is just a document.
fn special(fields: &Fields) -> Result<Option<(ElementType, Vec<u8>)>, String> {
    let Some((name, value)) = fields.first().filter(|(name, _)| name.starts_with('$')) else {
        return Ok(None);
    };
    let wrong = || format!("this is no {name}: {}", shown(value));
    if let [(_, Json::String(code)), (second, Json::Object(scope))] = fields
        && (&**name, &**second) == ("$code", "$scope")
    {
        return code_with_scope(code, scope).map(Some);
    }
    if fields.len() > 1 {
        return Ok(None);
    }
    use ElementType as T;
    let special = match (&**name, value) {
        ("$oid", Json::String(text)) => (T::ObjectId, object_id(text).ok_or_else(wrong)?.to_vec()),
        ("$numberInt", Json::String(text)) => {
            let number: i32 = text.parse().map_err(|_| wrong())?;
            (T::Int32, number.to_le_bytes().to_vec())
        }
        ("$numberLong", Json::String(text)) => {
            let number: i64 = text.parse().map_err(|_| wrong())?;
            (T::Int64, number.to_le_bytes().to_vec())
        }
        ("$numberDouble", Json::String(text)) => {
            let number: f64 = text.parse().map_err(|_| wrong())?;
            (T::Double, number.to_le_bytes().to_vec())
        }
        ("$numberDecimal", Json::String(text)) => {
            let number: Decimal128 = text.parse().map_err(|_| wrong())?;
            (T::Decimal128, number.bytes().to_vec())
        }
        ("$date", value) => {
            let millis = date(value).ok_or_else(wrong)?;
            (T::DateTime, millis.to_le_bytes().to_vec())
        }
        ("$timestamp", Json::Object(parts)) => {
            (T::Timestamp, timestamp(parts).ok_or_else(wrong)?.to_vec())
        }
        ("$binary", Json::Object(parts)) => (T::Binary, binary(parts).ok_or_else(wrong)?),
        ("$uuid", Json::String(text)) => {
            let uuid = bson::Uuid::parse_str(text).map_err(|_| wrong())?;
            (T::Binary, binary_bytes(4, &uuid.bytes()))
        }
        ("$regularExpression", Json::Object(parts)) => {
            (T::RegularExpression, regex(parts).ok_or_else(wrong)?)
        }
        ("$symbol", Json::String(text)) => (T::Symbol, text_bytes(text)),
        ("$code", Json::String(text)) => (T::JavaScriptCode, text_bytes(text)),
        ("$dbPointer", Json::Object(parts)) => (T::DbPointer, pointer(parts).ok_or_else(wrong)?),
        ("$undefined", Json::Boolean(true)) => (T::Undefined, Vec::new()),
        ("$minKey", Json::Number(one)) if one == "1" => (T::MinKey, Vec::new()),
        ("$maxKey", Json::Number(one)) if one == "1" => (T::MaxKey, Vec::new()),
        _ => return Ok(None),
    };
    Ok(Some(special))
}

fn object_id(text: &str) -> Option<[u8; 12]> {
    ObjectId::parse_str(text).ok().map(|id| id.bytes())
}

/// Milliseconds, from `{"$numberLong": …}`, a number or a text.
fn date(value: &Json) -> Option<i64> {
    match value {
        Json::String(text) => {
            DateTime::parse_rfc3339_str(text).ok().map(DateTime::timestamp_millis)
        }
        Json::Number(number) => number.parse().ok(),
        Json::Object(fields) => match &fields[..] {
            [(name, Json::String(number))] if name == "$numberLong" => number.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

fn timestamp(parts: &Fields) -> Option<[u8; 8]> {
    let number = |name| match part(parts, name)? {
        Json::Number(number) => number.parse::<u32>().ok(),
        _ => None,
    };
    let (time, increment) = (number("t")?, number("i")?);
    Some((u64::from(time) << 32 | u64::from(increment)).to_le_bytes())
}

fn binary(parts: &Fields) -> Option<Vec<u8>> {
    let data = STANDARD.decode(string(parts, "base64")?).ok()?;
    let subtype = u8::from_str_radix(string(parts, "subType")?, 16).ok()?;
    Some(binary_bytes(subtype, &data))
}

fn binary_bytes(subtype: u8, data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(9 + data.len());
    // The old subtype repeats the length.
    let old = subtype == 2;
    bytes.extend_from_slice(&((data.len() + if old { 4 } else { 0 }) as i32).to_le_bytes());
    bytes.push(subtype);
    if old {
        bytes.extend_from_slice(&(data.len() as i32).to_le_bytes());
    }
    bytes.extend_from_slice(data);
    bytes
}

fn regex(parts: &Fields) -> Option<Vec<u8>> {
    let (pattern, options) = (string(parts, "pattern")?, string(parts, "options")?);
    if pattern.contains('\0') || options.contains('\0') {
        return None;
    }
    Some([pattern.as_bytes(), &[0], options.as_bytes(), &[0]].concat())
}

fn pointer(parts: &Fields) -> Option<Vec<u8>> {
    let Json::Object(id) = part(parts, "$id")? else { return None };
    let id = object_id(string(id, "$oid")?)?;
    let mut bytes = text_bytes(string(parts, "$ref")?);
    bytes.extend_from_slice(&id);
    Some(bytes)
}

fn code_with_scope(code: &str, scope: &Fields) -> Result<(ElementType, Vec<u8>), String> {
    let mut writer = DocumentWriter::new();
    append_fields(&mut writer, scope)?;
    let scope = writer.finish();
    let code = text_bytes(code);
    let length = 4 + code.len() + scope.as_bytes().len();
    let bytes = [&(length as i32).to_le_bytes()[..], &code, scope.as_bytes()].concat();
    Ok((ElementType::JavaScriptCodeWithScope, bytes))
}

/// A string's bytes: its length, the text, a zero.
fn text_bytes(text: &str) -> Vec<u8> {
    let length = (text.len() + 1) as i32;
    [&length.to_le_bytes()[..], text.as_bytes(), &[0]].concat()
}

fn part<'f>(fields: &'f Fields, name: &str) -> Option<&'f Json> {
    fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

fn string<'f>(fields: &'f Fields, name: &str) -> Option<&'f str> {
    match part(fields, name)? {
        Json::String(text) => Some(text),
        _ => None,
    }
}

fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => format!("{text:?}"),
        Json::Number(number) => number.clone(),
        _ => "its parts are not as they should be".to_owned(),
    }
}
