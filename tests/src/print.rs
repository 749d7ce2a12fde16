//! Replies as text: the notation of [`crate::syntax`], on one line where it fits.

use bson::{RawArray, RawBsonRef, RawDocument};

use crate::{Result, mask};

const WIDTH: usize = 100;
/// Longer strings are shown by their beginning and their length.
const STRING_CHARACTERS_MAX: usize = 300;

/// A reply. An error's code, name and message come first, on a line.
pub fn reply(reply: &RawDocument, cursors: &[i64]) -> Result<String> {
    let mut text = whole(reply, cursors)?;
    // Messages speak of cursors by their ids.
    for (index, id) in cursors.iter().enumerate() {
        text = text.replace(&id.to_string(), &format!("cursor{}", index + 1));
    }
    Ok(text)
}

fn whole(reply: &RawDocument, cursors: &[i64]) -> Result<String> {
    let printer = Printer { cursors };
    let failed = matches!(reply.get("ok")?, Some(RawBsonRef::Double(ok)) if ok == 0.0);
    if !failed {
        return Ok(printer.document(reply, &mut Vec::new())?.render(0));
    }
    let mut text = "error".to_owned();
    let mut fields = Vec::new();
    for element in reply {
        let (name, value) = element?;
        match (name.as_str(), value) {
            ("ok", _) | ("errmsg", RawBsonRef::String(_)) => {}
            ("code", RawBsonRef::Int32(code)) => text.push_str(&format!(" {code}")),
            ("codeName", RawBsonRef::String(code_name)) => {
                text.push_str(&format!(" {code_name}"));
            }
            (name, value) => fields.push((name.to_owned(), printer.value(value, &mut vec![name])?)),
        }
    }
    if let Some(RawBsonRef::String(message)) = reply.get("errmsg")? {
        text.push_str(&format!(": {}", mask::uuids(message)));
    }
    if !fields.is_empty() {
        text.push('\n');
        text.push_str(&Node::Document(fields).render(0));
    }
    Ok(text)
}

/// A value by itself.
pub fn value(value: RawBsonRef<'_>) -> Result<String> {
    Ok(Printer { cursors: &[] }.value(value, &mut Vec::new())?.render(0))
}

/// The error of one statement, as an error of the whole command is shown.
pub fn write_error(error: &RawDocument) -> Result<String> {
    let mut text = "error".to_owned();
    if let Some(RawBsonRef::Int32(code)) = error.get("code")? {
        text.push_str(&format!(" {code}"));
    }
    if let Some(RawBsonRef::String(message)) = error.get("errmsg")? {
        text.push_str(&format!(": {message}"));
    }
    Ok(text)
}

/// The values at `paths` of a reply, a line each.
pub fn selected(reply: &RawDocument, paths: &[&str], cursors: &[i64]) -> Result<String> {
    let printer = Printer { cursors };
    let mut lines = Vec::new();
    for path in paths {
        let mut names: Vec<&str> = path.split('.').collect();
        let mut value = Some(RawBsonRef::Document(reply));
        for name in &names {
            value = match value {
                Some(RawBsonRef::Document(document)) => document.get(name)?,
                Some(RawBsonRef::Array(array)) => array.get(name.parse()?)?,
                _ => None,
            };
        }
        lines.push(match value {
            Some(value) => format!("{path}: {}", printer.value(value, &mut names)?.render(0)),
            None => format!("{path} is not there"),
        });
    }
    Ok(lines.join("\n"))
}

/// The names and types of a reply's fields, without their values.
pub fn types(reply: &RawDocument) -> Result<String> {
    let mut lines = Vec::new();
    for element in reply {
        let (name, value) = element?;
        lines.push(format!("{name}: {}", type_name(value)));
    }
    Ok(lines.join("\n"))
}

/// The alias of a value's type, as `$type` names it.
pub fn type_name(value: RawBsonRef<'_>) -> &'static str {
    match value {
        RawBsonRef::Double(_) => "double",
        RawBsonRef::String(_) => "string",
        RawBsonRef::Array(_) => "array",
        RawBsonRef::Document(_) => "object",
        RawBsonRef::Boolean(_) => "bool",
        RawBsonRef::Null => "null",
        RawBsonRef::RegularExpression(_) => "regex",
        RawBsonRef::JavaScriptCode(_) => "javascript",
        RawBsonRef::JavaScriptCodeWithScope(_) => "javascriptWithScope",
        RawBsonRef::Int32(_) => "int",
        RawBsonRef::Int64(_) => "long",
        RawBsonRef::Timestamp(_) => "timestamp",
        RawBsonRef::Binary(_) => "binData",
        RawBsonRef::ObjectId(_) => "objectId",
        RawBsonRef::DateTime(_) => "date",
        RawBsonRef::Symbol(_) => "symbol",
        RawBsonRef::Decimal128(_) => "decimal",
        RawBsonRef::Undefined => "undefined",
        RawBsonRef::MaxKey => "maxKey",
        RawBsonRef::MinKey => "minKey",
        RawBsonRef::DbPointer(_) => "dbPointer",
    }
}

struct Printer<'a> {
    cursors: &'a [i64],
}

/// Text that may still be broken into lines.
enum Node {
    Text(String),
    Document(Vec<(String, Node)>),
    Array(Vec<Node>),
}

impl Printer<'_> {
    fn document<'d>(&self, document: &'d RawDocument, path: &mut Vec<&'d str>) -> Result<Node> {
        let mut fields = Vec::new();
        for element in document {
            let (name, value) = element?;
            path.push(name.as_str());
            fields.push((quoted_name(name.as_str()), self.value(value, path)?));
            path.pop();
        }
        Ok(Node::Document(fields))
    }

    fn array<'d>(&self, array: &'d RawArray, path: &mut Vec<&'d str>) -> Result<Node> {
        let elements = array.into_iter().map(|element| self.value(element?, path));
        Ok(Node::Array(elements.collect::<Result<_>>()?))
    }

    fn value<'d>(&self, value: RawBsonRef<'d>, path: &mut Vec<&'d str>) -> Result<Node> {
        if let Some(shown) = mask::shown(path) {
            return Ok(Node::Text(shown.to_owned()));
        }
        Ok(Node::Text(match value {
            RawBsonRef::Document(document) => return self.document(document, path),
            RawBsonRef::Array(array) => return self.array(array, path),
            RawBsonRef::Int64(number) => match self.cursors.iter().position(|id| *id == number) {
                Some(index) => format!("cursor{}", index + 1),
                None => format!("Long({number})"),
            },
            value => scalar(value),
        }))
    }
}

fn scalar(value: RawBsonRef<'_>) -> String {
    match value {
        RawBsonRef::Double(number) if number.is_infinite() => {
            if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
        }
        RawBsonRef::Double(number) => format!("{number:?}"),
        RawBsonRef::String(text) => string(text),
        RawBsonRef::Boolean(value) => value.to_string(),
        RawBsonRef::Null => "null".to_owned(),
        RawBsonRef::RegularExpression(regex) => {
            format!("/{}/{}", regex.pattern.as_str(), regex.options.as_str())
        }
        RawBsonRef::JavaScriptCode(code) => format!("Code({code:?})"),
        RawBsonRef::JavaScriptCodeWithScope(code) => format!("Code({:?}, …)", code.code),
        RawBsonRef::Int32(number) => number.to_string(),
        RawBsonRef::Timestamp(stamp) => format!("Timestamp({}, {})", stamp.time, stamp.increment),
        RawBsonRef::Binary(binary) => {
            let base64 = bson::Binary { subtype: binary.subtype, bytes: binary.bytes.to_vec() };
            match base64.to_uuid() {
                Ok(uuid) => format!("UUID({:?})", uuid.to_string()),
                Err(_) => format!("BinData({}, {:?})", u8::from(binary.subtype), hex(binary.bytes)),
            }
        }
        RawBsonRef::ObjectId(id) => format!("ObjectId(\"{id}\")"),
        RawBsonRef::DateTime(time) => match time.try_to_rfc3339_string() {
            Ok(text) => format!("Date({text:?})"),
            Err(_) => format!("Date({})", time.timestamp_millis()),
        },
        RawBsonRef::Symbol(symbol) => format!("Symbol({symbol:?})"),
        RawBsonRef::Decimal128(number) => format!("Decimal(\"{number}\")"),
        RawBsonRef::MaxKey => "MaxKey".to_owned(),
        RawBsonRef::MinKey => "MinKey".to_owned(),
        value => type_name(value).to_owned(),
    }
}

fn string(text: &str) -> String {
    let length = text.chars().count();
    if length <= STRING_CHARACTERS_MAX {
        return format!("{text:?}");
    }
    let start: String = text.chars().take(20).collect();
    format!("{start:?}… ({length} characters)")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn quoted_name(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_$.-".contains(c));
    if plain { name.to_owned() } else { format!("{name:?}") }
}

impl Node {
    fn render(&self, indent: usize) -> String {
        let line = self.line();
        if indent + line.chars().count() <= WIDTH {
            return line;
        }
        let inner = " ".repeat(indent + 2);
        let outer = " ".repeat(indent);
        match self {
            Node::Text(text) => text.clone(),
            Node::Document(fields) => {
                let lines: String = fields
                    .iter()
                    .map(|(name, value)| format!("{inner}{name}: {},\n", value.render(indent + 2)))
                    .collect();
                format!("{{\n{lines}{outer}}}")
            }
            Node::Array(elements) => {
                let lines: String = elements
                    .iter()
                    .map(|element| format!("{inner}{},\n", element.render(indent + 2)))
                    .collect();
                format!("[\n{lines}{outer}]")
            }
        }
    }

    fn line(&self) -> String {
        match self {
            Node::Text(text) => text.clone(),
            Node::Document(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("{name}: {}", value.line()))
                    .collect();
                format!("{{{}}}", fields.join(", "))
            }
            Node::Array(elements) => {
                let elements: Vec<String> = elements.iter().map(Node::line).collect();
                format!("[{}]", elements.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    #[test]
    fn types_are_plain_to_see() {
        let document = rawdoc! { "a": 1, "b": 1_i64, "c": 1.0, "a b": ["x", null], "ok": 1.0 };
        assert_eq!(
            reply(&document, &[]).unwrap(),
            r#"{a: 1, b: Long(1), c: 1.0, "a b": ["x", null], ok: 1.0}"#
        );
    }

    #[test]
    fn an_error_is_a_line() {
        let document =
            rawdoc! { "ok": 0.0, "errmsg": "no", "code": 59, "codeName": "CommandNotFound" };
        assert_eq!(reply(&document, &[]).unwrap(), "error 59 CommandNotFound: no");
    }

    #[test]
    fn what_is_long_is_broken() {
        let long = "x".repeat(60);
        let document = rawdoc! { "a": long.as_str(), "b": [long.as_str(), 7_i64], "ok": 1.0 };
        assert_eq!(
            reply(&document, &[7]).unwrap(),
            format!("{{\n  a: \"{long}\",\n  b: [\"{long}\", cursor1],\n  ok: 1.0,\n}}")
        );
    }

    #[test]
    fn what_is_selected_is_all_that_is_shown() {
        let document = rawdoc! { "a": { "b": [1, { "c": 2 }] }, "localTime": 1 };
        assert_eq!(
            selected(&document, &["a.b.1.c", "localTime", "z"], &[]).unwrap(),
            "a.b.1.c: 2\nlocalTime: <time>\nz is not there"
        );
    }
}
