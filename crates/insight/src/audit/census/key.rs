//! Keys that are data: dates, ids and numbers in the place of field names.

/// What a key looks like, if it does not look like a field's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyClass {
    Date,
    Id,
    Number,
    /// A word and a number: `user_17`.
    Numbered,
    /// Any name, where there are too many for a schema.
    Name,
}

/// Digits of an id in hexadecimal, at least.
const HEX_DIGITS_MIN: usize = 16;
const UUID_CHARS: usize = 36;

impl KeyClass {
    pub fn of(key: &str) -> Option<KeyClass> {
        let bytes = key.as_bytes();
        // Most keys are words and end here.
        if !bytes.iter().any(u8::is_ascii_digit) {
            return None;
        }
        if bytes.iter().all(u8::is_ascii_digit) {
            return Some(if is_digits_of_date(bytes) { KeyClass::Date } else { KeyClass::Number });
        }
        if is_date(bytes) {
            return Some(KeyClass::Date);
        }
        if is_id(bytes) {
            return Some(KeyClass::Id);
        }
        let word = key.trim_end_matches(|digit: char| digit.is_ascii_digit());
        let plain = word.len() < key.len() && !word.bytes().any(|byte| byte.is_ascii_digit());
        plain.then_some(KeyClass::Numbered)
    }

    /// What keys of one family have in common, and what stands for the rest.
    pub fn template(self, key: &str) -> String {
        match self {
            KeyClass::Date => "<date>".to_owned(),
            KeyClass::Id => "<id>".to_owned(),
            KeyClass::Number => "<number>".to_owned(),
            KeyClass::Name => "<name>".to_owned(),
            KeyClass::Numbered => {
                let word = key.trim_end_matches(|digit: char| digit.is_ascii_digit());
                format!("{word}<number>")
            }
        }
    }

    /// In the middle of a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            KeyClass::Date => "dates",
            KeyClass::Id => "ids",
            KeyClass::Number => "numbers",
            KeyClass::Numbered => "numbered names",
            KeyClass::Name => "names that differ from document to document",
        }
    }
}

/// `2024`, `202401`, `20240131`.
fn is_digits_of_date(digits: &[u8]) -> bool {
    let part = |from: usize, to: usize| number(digits.get(from..to).unwrap_or(&[]));
    let year = (1970..=2100).contains(&part(0, 4));
    match digits.len() {
        4 => year,
        6 => year && (1..=12).contains(&part(4, 6)),
        8 => year && (1..=12).contains(&part(4, 6)) && (1..=31).contains(&part(6, 8)),
        _ => false,
    }
}

/// `2024-01`, `2024_1_31`, `2024-01-31T10:00`; `2024-W05` and `2024-Q1` too.
fn is_date(bytes: &[u8]) -> bool {
    let Some((year, rest)) = bytes.split_at_checked(4) else { return false };
    if !year.iter().all(u8::is_ascii_digit) || !(1970..=2100).contains(&number(year)) {
        return false;
    }
    let Some((separator, rest)) = rest.split_first() else { return false };
    let rest = match rest.split_first() {
        Some((b'W' | b'Q' | b'w' | b'q', rest)) => rest,
        _ => rest,
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let month = number(&rest[..digits]);
    let ends = rest.get(digits).is_none_or(|byte| b"-_/:. T".contains(byte));
    b"-_/:. ".contains(separator) && (1..=2).contains(&digits) && (1..=53).contains(&month) && ends
}

/// An ObjectId or a hash in hexadecimal, a UUID.
fn is_id(bytes: &[u8]) -> bool {
    if bytes.len() == UUID_CHARS {
        let dashes = [8, 13, 18, 23];
        return bytes.iter().enumerate().all(|(at, byte)| match dashes.contains(&at) {
            true => *byte == b'-',
            false => byte.is_ascii_hexdigit(),
        });
    }
    bytes.len() >= HEX_DIGITS_MIN && bytes.iter().all(u8::is_ascii_hexdigit)
}

fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |sum: u32, digit| {
        sum.saturating_mul(10).saturating_add(u32::from(digit.saturating_sub(b'0')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_names() {
        for (key, class) in [
            ("2024-01", Some(KeyClass::Date)),
            ("2024-01-31", Some(KeyClass::Date)),
            ("2024_1_31", Some(KeyClass::Date)),
            ("2024-01-31T10:00:00Z", Some(KeyClass::Date)),
            ("2024-W07", Some(KeyClass::Date)),
            ("2024-Q1", Some(KeyClass::Date)),
            ("20240131", Some(KeyClass::Date)),
            ("2024", Some(KeyClass::Date)),
            ("20249931", Some(KeyClass::Number)),
            ("17", Some(KeyClass::Number)),
            ("507f1f77bcf86cd799439011", Some(KeyClass::Id)),
            ("123e4567-e89b-12d3-a456-426614174000", Some(KeyClass::Id)),
            ("user_17", Some(KeyClass::Numbered)),
            ("line2", Some(KeyClass::Numbered)),
            ("name", None),
            ("createdAt", None),
            ("", None),
            ("h264codec", None),
            ("deadbeefdeadbeef", None),
            ("2024th", None),
        ] {
            assert_eq!(KeyClass::of(key), class, "{key}");
        }
        assert_eq!(KeyClass::Numbered.template("user_17"), "user_<number>");
    }
}
