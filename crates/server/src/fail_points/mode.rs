//! When a fail point is active.

use bson::RawBsonRef;
use command::fields::safe_i64;
use error::{Code, Result};
use value::elements;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Mode {
    #[default]
    Off,
    AlwaysOn,
    /// So many times, and then it is off.
    Times(u32),
    /// Not so many times, and then always.
    Skip(u32),
    /// With this probability, from 0 to 1.
    Random(f64),
}

impl Mode {
    pub fn parse(value: RawBsonRef<'_>) -> Result<Mode> {
        match value {
            RawBsonRef::String("off") => Ok(Mode::Off),
            RawBsonRef::String("alwaysOn") => Ok(Mode::AlwaysOn),
            RawBsonRef::String(other) => {
                Err(Code::BadValue.error(format!("unknown mode: {other}")))
            }
            RawBsonRef::Document(mode) => match elements(mode).next() {
                Some(field) if field.key == "times" => {
                    count(field.value(), "times").map(Mode::Times)
                }
                Some(field) if field.key == "skip" => count(field.value(), "skip").map(Mode::Skip),
                Some(field) if field.key == "activationProbability" => {
                    probability(field.value()).map(Mode::Random)
                }
                _ => Err(Code::BadValue.error(
                    "'mode' must be one of 'off', 'alwaysOn', 'times', 'skip' or \
                     'activationProbability'",
                )),
            },
            _ => Err(Code::TypeMismatch.error("'mode' must be a string or JSON object")),
        }
    }

    /// Whether the point is active this time.
    pub fn enter(&mut self) -> bool {
        match *self {
            Mode::Off | Mode::Times(0) => false,
            Mode::AlwaysOn | Mode::Skip(0) => true,
            Mode::Times(left) => {
                *self = if left == 1 { Mode::Off } else { Mode::Times(left - 1) };
                true
            }
            Mode::Skip(left) => {
                *self = Mode::Skip(left - 1);
                false
            }
            Mode::Random(probability) => rand::random::<f64>() < probability,
        }
    }
}

fn count(value: RawBsonRef<'_>, name: &str) -> Result<u32> {
    match safe_i64(value) {
        Some(number) if number >= 0 => Ok(u32::try_from(number).unwrap_or(u32::MAX)),
        Some(_) => Err(Code::BadValue.error(format!("'{name}' option to 'mode' must be positive"))),
        None => {
            Err(Code::TypeMismatch.error(format!("'{name}' option to 'mode' must be a number")))
        }
    }
}

fn probability(value: RawBsonRef<'_>) -> Result<f64> {
    let number = match value {
        RawBsonRef::Double(number) => Some(number),
        other => safe_i64(other).map(|number| number as f64),
    };
    match number {
        Some(number) if (0.0..=1.0).contains(&number) => Ok(number),
        Some(number) => Err(Code::BadValue
            .error(format!("activationProbability must be between 0.0 and 1.0; found {number}"))),
        None => Err(Code::TypeMismatch.error("activationProbability must be a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    fn run(mode: bson::RawBson, times: usize) -> Vec<bool> {
        let mut mode = Mode::parse(mode.as_raw_bson_ref()).unwrap();
        (0..times).map(|_| mode.enter()).collect()
    }

    #[test]
    fn points_are_active_as_their_mode_says() {
        assert_eq!(run("off".into(), 2), [false, false]);
        assert_eq!(run("alwaysOn".into(), 2), [true, true]);
        assert_eq!(run(rawdoc! { "times": 2 }.into(), 3), [true, true, false]);
        assert_eq!(run(rawdoc! { "times": 0 }.into(), 1), [false]);
        assert_eq!(run(rawdoc! { "skip": 2 }.into(), 4), [false, false, true, true]);
        assert_eq!(run(rawdoc! { "activationProbability": 1 }.into(), 2), [true, true]);
        assert_eq!(run(rawdoc! { "activationProbability": 0.0 }.into(), 2), [false, false]);
    }

    #[test]
    fn other_modes_are_refused() {
        let refused = [
            "on".into(),
            1.into(),
            rawdoc! {}.into(),
            rawdoc! { "times": -1 }.into(),
            rawdoc! { "skip": "x" }.into(),
            rawdoc! { "activationProbability": 2.0 }.into(),
        ];
        for mode in refused as [bson::RawBson; 6] {
            assert!(Mode::parse(mode.as_raw_bson_ref()).is_err(), "{mode:?}");
        }
    }
}
