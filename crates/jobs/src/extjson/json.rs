//! JSON as a tree that keeps the order of fields, and fields that come twice.

/// Nesting that no stored document has, extended JSON's own levels included.
const DEPTH_MAX: usize = 400;

#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Boolean(bool),
    /// As it is written.
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Reads one value and nothing after it.
pub fn parse(text: &str) -> Result<Json, String> {
    let mut parser = Parser { text, at: 0 };
    let value = parser.value(0)?;
    parser.blank();
    match parser.text.len() - parser.at {
        0 => Ok(value),
        _ => Err(parser.expected("the end of the line")),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > DEPTH_MAX {
            return Err("it is nested too deeply".to_owned());
        }
        self.blank();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                for (word, value) in [
                    ("null", Json::Null),
                    ("true", Json::Boolean(true)),
                    ("false", Json::Boolean(false)),
                ] {
                    if self.text[self.at..].starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err(self.expected("a value"))
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        let mut fields = Vec::new();
        self.at += 1;
        if self.take(b'}') {
            return Ok(Json::Object(fields));
        }
        loop {
            self.blank();
            if self.peek() != Some(b'"') {
                return Err(self.expected("a field's name in quotes"));
            }
            let name = self.string()?;
            if !self.take(b':') {
                return Err(self.expected("':'"));
            }
            fields.push((name, self.value(depth + 1)?));
            if self.take(b'}') {
                return Ok(Json::Object(fields));
            }
            if !self.take(b',') {
                return Err(self.expected("',' or '}'"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        let mut values = Vec::new();
        self.at += 1;
        if self.take(b']') {
            return Ok(Json::Array(values));
        }
        loop {
            values.push(self.value(depth + 1)?);
            if self.take(b']') {
                return Ok(Json::Array(values));
            }
            if !self.take(b',') {
                return Err(self.expected("',' or ']'"));
            }
        }
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        let part = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        while self.peek().is_some_and(part) {
            self.at += 1;
        }
        let number = &self.text[start..self.at];
        let digits = number.trim_start_matches('-');
        let zeros = digits.len() > 1
            && digits.starts_with('0')
            && !digits[1..].starts_with(['.', 'e', 'E']);
        if zeros || number.parse::<f64>().is_err() {
            self.at = start;
            return Err(self.expected("a number"));
        }
        Ok(Json::Number(number.to_owned()))
    }

    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut string = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(stop) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ') else {
                return Err(self.expected("the end of a string"));
            };
            string.push_str(&rest[..stop]);
            self.at += stop;
            match rest.as_bytes()[stop] {
                b'"' => {
                    self.at += 1;
                    return Ok(string);
                }
                b'\\' => string.push(self.escape()?),
                _ => return Err(self.expected("a control character written as an escape")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        self.at += 1;
        let escaped = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.expected("an escape")),
        };
        self.at += 1;
        Ok(escaped)
    }

    /// `\uXXXX`, or two of them that are one character.
    fn unicode(&mut self) -> Result<char, String> {
        let first = self.hex()?;
        let code = if (0xD800..0xDC00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            self.at += 1;
            let second = self.hex()?;
            0x10000 + ((first - 0xD800) << 10) + (second.wrapping_sub(0xDC00) & 0x3FF)
        } else {
            first
        };
        char::from_u32(code).ok_or_else(|| self.expected("a Unicode character"))
    }

    fn hex(&mut self) -> Result<u32, String> {
        let digits = self.text.get(self.at + 1..self.at + 5);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code = code.ok_or_else(|| self.expected("four hexadecimal digits"))?;
        self.at += 5;
        Ok(code)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        self.blank();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn blank(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn expected(&self, what: &str) -> String {
        let column = self.text[..self.at.min(self.text.len())].chars().count() + 1;
        format!("column {column}: expected {what}")
    }
}
