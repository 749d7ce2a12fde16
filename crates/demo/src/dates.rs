//! Moments before the recipe's now.

use crate::Recipe;
use bson::DateTime;

pub const SECOND_MS: i64 = 1_000;
pub const MINUTE_MS: i64 = 60 * SECOND_MS;
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
pub const DAY_MS: i64 = 24 * HOUR_MS;
pub const YEAR_MS: i64 = 365 * DAY_MS;

/// When number `number` of `count` came, if they came evenly over the last `span_ms`: the
/// first at its beginning, none after now.
pub fn evenly(recipe: &Recipe, span_ms: i64, number: u64, count: u64) -> i64 {
    let passed = i128::from(span_ms) * i128::from(number) / i128::from(count.max(1));
    recipe.now.timestamp_millis() - span_ms + passed as i64
}

pub fn date(ms: i64) -> DateTime {
    DateTime::from_millis(ms)
}

/// The day, as `2026-04-15`.
pub fn day(ms: i64) -> String {
    let mut text = date(ms).try_to_rfc3339_string().unwrap_or_default();
    text.truncate("2026-04-15".len());
    text
}

/// The month, as `2026-04`.
pub fn month(ms: i64) -> String {
    let mut text = day(ms);
    text.truncate("2026-04".len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_end_at_now() {
        let recipe = Recipe::default();
        let now = recipe.now.timestamp_millis();
        assert_eq!(evenly(&recipe, YEAR_MS, 0, 10), now - YEAR_MS);
        assert!(evenly(&recipe, YEAR_MS, 9, 10) < now);
        assert_eq!(day(now), "2026-04-15");
        assert_eq!(month(now), "2026-04");
    }
}
