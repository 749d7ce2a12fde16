//! Binary as text: base64, hexadecimal, UUIDs.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The two alphabets of base64; the one for URLs goes without padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alphabet {
    Standard,
    Url,
}

pub fn to_base64(bytes: &[u8], alphabet: Alphabet) -> String {
    let letters = if alphabet == Alphabet::Standard { STANDARD } else { URL };
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |group, byte| group << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for at in 0..4 {
            if at <= chunk.len() {
                out.push(char::from(letters[(group >> (18 - 6 * at)) as usize & 63]));
            } else if alphabet == Alphabet::Standard {
                out.push('=');
            }
        }
    }
    out
}

pub fn from_base64(text: &str, alphabet: Alphabet) -> Option<Vec<u8>> {
    let letters = if alphabet == Alphabet::Standard { STANDARD } else { URL };
    if alphabet == Alphabet::Standard && !text.len().is_multiple_of(4) {
        return None;
    }
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 || digits.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.as_bytes().chunks(4) {
        let mut group = 0u32;
        for digit in chunk {
            group = group << 6 | letters.iter().position(|letter| letter == digit)? as u32;
        }
        group <<= 6 * (4 - chunk.len());
        out.extend_from_slice(&group.to_be_bytes()[1..chunk.len()]);
    }
    Some(out)
}

pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect()
}

/// `8-4-4-4-12` digits; `None` where there are not 16 bytes.
pub fn to_uuid(bytes: &[u8]) -> Option<String> {
    if bytes.len() != 16 {
        return None;
    }
    let hex = to_hex(bytes).to_ascii_lowercase();
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| hex.get(part).unwrap_or_default());
    Some(parts.join("-"))
}

pub fn from_uuid(text: &str) -> Option<Vec<u8>> {
    let lengths: Vec<_> = text.split('-').map(str::len).collect();
    if lengths != [8, 4, 4, 4, 12] {
        return None;
    }
    from_hex(&text.replace('-', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back() {
        for length in 0..20 {
            let bytes: Vec<u8> = (0u8..length).map(|byte| byte.wrapping_mul(37)).collect();
            for alphabet in [Alphabet::Standard, Alphabet::Url] {
                let text = to_base64(&bytes, alphabet);
                assert_eq!(from_base64(&text, alphabet).as_deref(), Some(bytes.as_slice()));
            }
            assert_eq!(from_hex(&to_hex(&bytes)).as_deref(), Some(bytes.as_slice()));
        }
        assert_eq!(to_base64(b"ab", Alphabet::Standard), "YWI=");
        assert_eq!(from_base64("YWI", Alphabet::Standard), None);
        let uuid = "867dee52-c331-484e-92d1-c56479b8e67e";
        assert_eq!(to_uuid(&from_uuid(uuid).unwrap()).unwrap(), uuid);
    }
}
