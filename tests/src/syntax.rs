//! The notation of BSON in scripts, as in mongosh with the types always plain to see:
//!
//! - `1` is an int32 (an int64 if it does not fit), `1.0` a double, `Long(1)` an int64,
//!   `Decimal("1.0")` a decimal128; `NaN`, `Infinity`;
//! - names of fields need no quotes; strings take `"` or `'`; a comma may end a list;
//! - `ObjectId("…")`, `Date("2024-01-01T00:00:00Z")`, `Timestamp(1, 2)`, `UUID("…")`,
//!   `BinData(0, "base64")`, `/regex/i`, `Code("…")`, `Symbol("…")`, `MinKey`, `MaxKey`,
//!   `undefined`;
//! - `token1` and `time1` are the resume token and the cluster time of the first event a change
//!   stream has shown; `clusterTime` and `operationTime` are those of the last reply, and
//!   `moment1` is the first `atClusterTime` that a snapshot read has answered with;
//! - `repeat("x", 1000)`, `repeat("x", 1000, "end")`, `array(1000, 1)`, `nested(100)` and `within("$not", 100, true)`
//!   make large things;
//! - `cursor1` is the id of the first cursor the script has opened, `i` the number of the
//!   document in a `fill`, `i % 10` its remainder.
//!
//! A document may name a field twice.

use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{
    Binary, DateTime, RawArrayBuf, RawBson, RawDocumentBuf, RawJavaScriptCodeWithScope, Regex,
    Timestamp, cstr,
};

use crate::connection::Times;
use crate::{Error, Result};

/// What names mean beside the notation itself.
#[derive(Debug, Default, Clone)]
pub struct Scope {
    pub cursors: Vec<i64>,
    /// Token and cluster time of each event.
    pub events: Vec<(RawBson, RawBson)>,
    /// Those of the last reply.
    pub times: Option<Times>,
    /// The cluster time of each snapshot read.
    pub moments: Vec<Timestamp>,
    pub index: Option<i64>,
    /// What `?` stands for.
    pub sample: Option<RawBson>,
}

/// One document, and nothing after it.
pub fn document(text: &str, scope: &Scope) -> Result<RawDocumentBuf> {
    let mut parser = Parser { text, at: 0, scope };
    let document = parser.document()?;
    parser.blank();
    if parser.at < text.len() {
        return Err(parser.fail("the end"));
    }
    Ok(document)
}

/// A value at the beginning of `text`, and what is left after it.
pub fn value<'t>(text: &'t str, scope: &Scope) -> Result<(RawBson, &'t str)> {
    let mut parser = Parser { text, at: 0, scope };
    let value = parser.value()?;
    parser.blank();
    let at = parser.at;
    Ok((value, text.get(at..).unwrap_or_default()))
}

/// Values one after the other, with nothing between them but blanks.
pub fn values(text: &str, scope: &Scope) -> Result<Vec<RawBson>> {
    let mut parser = Parser { text, at: 0, scope };
    let mut values = Vec::new();
    loop {
        parser.blank();
        if parser.at == text.len() {
            return Ok(values);
        }
        values.push(parser.value()?);
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    scope: &'a Scope,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fail(&self, expected: &str) -> Error {
        let rest: String = self.rest().chars().take(30).collect();
        format!("expected {expected} at {rest:?}").into()
    }

    fn blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, token: &str) -> bool {
        self.blank();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.take(token) { Ok(()) } else { Err(self.fail(token)) }
    }

    fn word(&mut self, allowed: impl Fn(char) -> bool) -> &'a str {
        self.blank();
        let rest = self.rest();
        let end = rest.find(|c| !allowed(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn document(&mut self) -> Result<RawDocumentBuf> {
        self.expect("{")?;
        let mut document = RawDocumentBuf::new();
        while !self.take("}") {
            let name = self.name()?;
            self.expect(":")?;
            let value = self.value()?;
            document.append(bson::raw::CString::try_from(name)?.as_ref(), value);
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(document)
    }

    fn name(&mut self) -> Result<String> {
        self.blank();
        if self.rest().starts_with(['"', '\'']) {
            return self.string();
        }
        let name = self.word(|c| c.is_alphanumeric() || "_$.-".contains(c));
        if name.is_empty() { Err(self.fail("a name")) } else { Ok(name.to_owned()) }
    }

    fn value(&mut self) -> Result<RawBson> {
        self.blank();
        match self.rest().chars().next() {
            Some('{') => Ok(RawBson::Document(self.document()?)),
            Some('[') => Ok(RawBson::Array(self.array()?)),
            Some('"' | '\'') => Ok(RawBson::String(self.string()?)),
            Some('/') => self.regex(),
            Some('?') => {
                self.at += 1;
                self.scope.sample.clone().ok_or_else(|| self.fail("a sample for ?"))
            }
            Some('-' | '0'..='9') => self.number(),
            _ => self.named(),
        }
    }

    fn array(&mut self) -> Result<RawArrayBuf> {
        self.expect("[")?;
        let mut array = RawArrayBuf::new();
        while !self.take("]") {
            array.push(self.value()?);
            if !self.take(",") {
                self.expect("]")?;
                break;
            }
        }
        Ok(array)
    }

    fn string(&mut self) -> Result<String> {
        self.blank();
        let quote = self.rest().chars().next().ok_or_else(|| self.fail("a string"))?;
        let mut text = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((offset, character)) = characters.next() {
            match character {
                c if c == quote => {
                    self.at += offset + 1;
                    return Ok(text);
                }
                '\\' => match characters.next().map(|(_, escaped)| escaped) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('0') => text.push('\0'),
                    Some('r') => text.push('\r'),
                    Some(escaped) => text.push(escaped),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err(self.fail("a closed string"))
    }

    fn regex(&mut self) -> Result<RawBson> {
        self.expect("/")?;
        let rest = self.rest();
        let mut escaped = false;
        let end = rest
            .find(|c| {
                let closes = c == '/' && !escaped;
                escaped = c == '\\' && !escaped;
                closes
            })
            .ok_or_else(|| self.fail("a closed regex"))?;
        self.at += end + 1;
        let options = self.word(|c| c.is_ascii_alphabetic());
        Ok(RawBson::RegularExpression(Regex {
            pattern: rest[..end].try_into()?,
            options: options.try_into()?,
        }))
    }

    fn number(&mut self) -> Result<RawBson> {
        let start = self.at;
        let word = self.word(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        if word == "-Infinity" {
            return Ok(RawBson::Double(f64::NEG_INFINITY));
        }
        if let Ok(number) = word.parse::<i32>()
            && word != "-0"
        {
            return Ok(RawBson::Int32(number));
        }
        if let Ok(number) = word.parse::<i64>()
            && word != "-0"
        {
            return Ok(RawBson::Int64(number));
        }
        word.parse().map(RawBson::Double).map_err(|_| {
            self.at = start;
            self.fail("a number")
        })
    }

    /// A constant, a variable or a call.
    /// The token and time of an event, by its number.
    fn event(&self, number: &str) -> Result<(RawBson, RawBson)> {
        let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let event = at.and_then(|at| self.scope.events.get(at));
        event.cloned().ok_or_else(|| self.fail("an event shown before"))
    }

    fn named(&mut self) -> Result<RawBson> {
        let start = self.at;
        let name = self.word(|c| c.is_ascii_alphanumeric());
        let value = match name {
            "true" => RawBson::Boolean(true),
            "false" => RawBson::Boolean(false),
            "null" => RawBson::Null,
            "undefined" => RawBson::Undefined,
            "NaN" => RawBson::Double(f64::NAN),
            "Infinity" => RawBson::Double(f64::INFINITY),
            "MinKey" => RawBson::MinKey,
            "MaxKey" => RawBson::MaxKey,
            "i" => return self.index(),
            "clusterTime" => return self.time(|times| times.cluster),
            "operationTime" => return self.time(|times| times.operation),
            _ => {
                if let Some(number) = name.strip_prefix("token") {
                    return self.event(number).map(|(token, _)| token);
                }
                if let Some(number) = name.strip_prefix("time") {
                    return self.event(number).map(|(_, time)| time);
                }
                if let Some(number) = name.strip_prefix("moment") {
                    let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                    let moment = at.and_then(|at| self.scope.moments.get(at).copied());
                    return moment
                        .map(RawBson::Timestamp)
                        .ok_or_else(|| self.fail("a snapshot read before"));
                }
                if let Some(number) = name.strip_prefix("cursor") {
                    let id = number
                        .parse::<usize>()
                        .ok()
                        .and_then(|number| self.scope.cursors.get(number.checked_sub(1)?).copied());
                    return id
                        .map(RawBson::Int64)
                        .ok_or_else(|| self.fail("a cursor opened before"));
                }
                return self.call(name).map_err(|error| {
                    if name.is_empty() {
                        self.at = start;
                        self.fail("a value")
                    } else {
                        format!("{name}: {error}").into()
                    }
                });
            }
        };
        Ok(value)
    }

    fn time(&self, of: fn(Times) -> Timestamp) -> Result<RawBson> {
        let times = self.scope.times.ok_or_else(|| self.fail("a reply before"))?;
        Ok(RawBson::Timestamp(of(times)))
    }

    fn index(&mut self) -> Result<RawBson> {
        let index = self.scope.index.ok_or("i has a meaning only in fill")?;
        let index = if self.take("%") {
            let divisor: i64 = self.word(|c| c.is_ascii_digit()).parse()?;
            index.checked_rem(divisor).ok_or("a remainder by 0")?
        } else {
            index
        };
        Ok(i32::try_from(index).map_or(RawBson::Int64(index), RawBson::Int32))
    }

    fn call(&mut self, function: &str) -> Result<RawBson> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.take(")") {
            arguments.push(self.value()?);
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        made(function, &arguments)
    }
}

/// What a call makes of its arguments.
fn made(function: &str, arguments: &[RawBson]) -> Result<RawBson> {
    use RawBson::{Int32, Int64, String};
    Ok(match (function, arguments) {
        ("Long", [Int32(number)]) => Int64(i64::from(*number)),
        ("Long", [Int64(number)]) => Int64(*number),
        ("Double", [Int32(number)]) => RawBson::Double(f64::from(*number)),
        ("Decimal", [String(text)]) => RawBson::Decimal128(text.parse()?),
        ("ObjectId", [String(text)]) => RawBson::ObjectId(ObjectId::parse_str(text)?),
        ("Date", [String(text)]) => RawBson::DateTime(DateTime::parse_rfc3339_str(text)?),
        ("Date", [Int32(millis)]) => RawBson::DateTime(DateTime::from_millis(i64::from(*millis))),
        ("Date", [Int64(millis)]) => RawBson::DateTime(DateTime::from_millis(*millis)),
        ("Timestamp", [Int32(time), Int32(increment)]) => RawBson::Timestamp(Timestamp {
            time: u32::try_from(*time)?,
            increment: u32::try_from(*increment)?,
        }),
        ("UUID", [String(text)]) => {
            RawBson::Binary(Binary::from_uuid(bson::Uuid::parse_str(text)?))
        }
        ("BinData", [Int32(subtype), String(base64)]) => RawBson::Binary(Binary::from_base64(
            base64,
            BinarySubtype::from(u8::try_from(*subtype)?),
        )?),
        ("Code", [String(code)]) => RawBson::JavaScriptCode(code.clone()),
        ("Code", [String(code), RawBson::Document(scope)]) => {
            RawBson::JavaScriptCodeWithScope(RawJavaScriptCodeWithScope {
                code: code.clone(),
                scope: scope.clone(),
            })
        }
        ("Symbol", [String(symbol)]) => RawBson::Symbol(symbol.clone()),
        ("repeat", [String(text), Int32(times)]) => String(text.repeat(usize::try_from(*times)?)),
        ("repeat", [String(text), Int32(times), String(end)]) => {
            String(text.repeat(usize::try_from(*times)?) + end)
        }
        ("array", [Int32(length), element]) => {
            let mut array = RawArrayBuf::new();
            (0..*length).for_each(|_| array.push(element.clone()));
            RawBson::Array(array)
        }
        ("nested", [Int32(levels)]) => nested(*levels),
        ("within", [String(name), Int32(levels), value]) => {
            let name = bson::raw::CString::try_from(name.as_str())?;
            (0..*levels).fold(value.clone(), |inner, _| {
                let mut document = RawDocumentBuf::new();
                document.append(&name, inner);
                RawBson::Document(document)
            })
        }
        _ => {
            return Err(format!(
                "no such function, or not with these {} arguments",
                arguments.len()
            )
            .into());
        }
    })
}

/// `{a: {a: … 1}}`, as many documents as `levels`.
fn nested(levels: i32) -> RawBson {
    (0..levels).fold(RawBson::Int32(1), |inner, _| {
        let mut document = RawDocumentBuf::new();
        document.append(cstr!("a"), inner);
        RawBson::Document(document)
    })
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    fn parsed(text: &str) -> RawDocumentBuf {
        document(text, &Scope::default()).unwrap()
    }

    #[test]
    fn types_are_what_they_look_like() {
        assert_eq!(
            parsed(
                r#"{insert: 'c', "a b": [1, -2.0, Long(3), true, null,], o: {}, big: 3000000000}"#
            ),
            rawdoc! {
                "insert": "c", "a b": [1, -2.0, 3_i64, true, null], "o": {}, "big": 3_000_000_000_i64
            }
        );
    }

    #[test]
    fn a_field_may_stand_twice() {
        assert_eq!(parsed("{a: 1, a: 2}").iter().count(), 2);
    }

    #[test]
    fn mistakes_are_refused() {
        for text in
            ["{a 1}", "{a: 1", "{a: }", "{a: Long(1.5)}", "{a: 1} x", "{a: cursor1}", "{a: 'x}"]
        {
            assert!(document(text, &Scope::default()).is_err(), "{text}");
        }
    }

    #[test]
    fn variables_come_from_the_scope() {
        let scope = Scope {
            cursors: vec![77],
            index: Some(23),
            sample: Some(RawBson::Null),
            ..Scope::default()
        };
        assert_eq!(
            document("{a: cursor1, b: i, c: i % 10, d: ?}", &scope).unwrap(),
            rawdoc! { "a": 77_i64, "b": 23, "c": 3, "d": null }
        );
    }
}
