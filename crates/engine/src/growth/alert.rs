//! Documents that come near their bounds, logged by the write that takes
//! them there: one structured line each.
//!
//! A document that passes its policy's `warn_bytes` is logged when it does, and
//! again only when it has been below in between. So is one whose arrays are shown whole, once it
//! passes three quarters of what a reply can hold with its pages. One that will reach its bound (the
//! policy's `max_bytes`, or else 16 MB) within the horizon if it goes on as it does
//! is logged when the forecast first says so, and again only when the forecast has
//! been twice as far away in between. Only the largest documents have forecasts, and
//! those are heeded from an eighth of the bound on: what is small and new may well
//! grow fast for a while, and a load of some seconds says nothing of the days to come: before
//! anything is forecast a document has grown for `OBSERVED_SECONDS`. A horizon of nothing turns
//! forecasts off.

use super::event::GrowthEvent;
use super::figures::GrowthFigures;
use super::turn::GroupRows;
use bson::DateTime;
use command::Namespace;
use guard::Policy;
use statistics::{Trend, reached};
use write::limits::DOCUMENT_BYTES_MAX;

/// The part of its bound that a document must have reached for its forecast to count.
const HEEDED_PART: u64 = 8;
/// A forecast is past when it is so many horizons away.
const PAST_HORIZONS: u64 = 2;

/// What a document may take with its pages before that is logged: no reply shows more than
/// 16 MB of it.
pub const WHOLE_WARN_BYTES: u64 = DOCUMENT_BYTES_MAX as u64 / 4 * 3;

/// How far ahead is looked, and by how long a past.
#[derive(Debug, Clone, Copy)]
pub struct Ahead {
    pub horizon_ms: u64,
    /// What a document must have been seen to grow for before anything is forecast of it.
    pub observed_min_ms: u64,
}

/// A line for the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Alert {
    pub namespace: Namespace,
    /// The `_id`, as people read it.
    pub id: String,
    pub bytes: u32,
    pub reason: Reason,
}

/// Why a document is logged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reason {
    /// Set if the document has passed it.
    pub warn_bytes: Option<usize>,
    /// What it takes with its pages, if that has passed its mark.
    pub whole_bytes: Option<u64>,
    /// Whether it will reach its bound soon, and that has not been logged.
    pub soon: bool,
    /// What the document cannot grow beyond.
    pub bound: u32,
    /// Where the document is one of the largest.
    pub forecast: Option<Forecast>,
}

/// What a policy lets a document grow to.
fn bound(policy: Option<&Policy>) -> u32 {
    let max = policy.and_then(|policy| policy.document.max_bytes);
    max.unwrap_or(DOCUMENT_BYTES_MAX) as u32
}

/// Whether a write gives reason to log its document. The figures have taken the
/// write in already. The second part says whether what is noted of it has changed.
pub fn reason(
    figures: &mut GrowthFigures,
    policy: Option<&Policy>,
    event: &GrowthEvent,
    ahead: Ahead,
    turn: &mut GroupRows,
) -> (Option<Reason>, bool) {
    let Some(bytes) = event.after else { return (None, false) };
    let bound = bound(policy);
    let passed = |warn: &usize| {
        bytes as usize >= *warn && event.before.is_none_or(|before| (before as usize) < *warn)
    };
    let warn_bytes = policy.and_then(|policy| policy.document.warn_bytes).filter(passed);
    let whole_bytes = passed_whole(event);
    let heeded = u64::from(bytes) * HEEDED_PART >= u64::from(bound);
    let kept = figures.sizes.as_mut().and_then(|sizes| sizes.largest.get_mut(event.record.0));
    let Some(kept) = kept else {
        let report = warn_bytes.is_some() || whole_bytes.is_some();
        let reason = Reason { warn_bytes, whole_bytes, soon: false, bound, forecast: None };
        return (report.then_some(reason), false);
    };
    // One that was logged may have shrunk out of danger.
    if warn_bytes.is_none() && whole_bytes.is_none() && !heeded && !kept.note.alerted {
        return (None, false);
    }
    let now = turn.now_ms();
    let forecast = Forecast::of(&kept.note.trend, now, bytes, bound, ahead.observed_min_ms);
    let within = |horizon: u64| {
        horizon > 0 && forecast.reached_ms.is_some_and(|at| at <= now.saturating_add(horizon))
    };
    let grows = event.before.is_some_and(|before| bytes > before);
    let was_alerted = kept.note.alerted;
    kept.note.alerted = match was_alerted {
        true => within(ahead.horizon_ms.saturating_mul(PAST_HORIZONS)),
        false => heeded && grows && within(ahead.horizon_ms),
    };
    let soon = kept.note.alerted && !was_alerted;
    let reason = Reason { warn_bytes, whole_bytes, soon, bound, forecast: Some(forecast) };
    let report = soon || warn_bytes.is_some() || whole_bytes.is_some();
    (report.then_some(reason), kept.note.alerted != was_alerted)
}

/// What a document takes with its pages, if it has some and the write has brought it past the
/// mark.
fn passed_whole(event: &GrowthEvent) -> Option<u64> {
    let after = u64::from(event.after?) + event.paged.after;
    let before = event.before.map_or(0, |before| u64::from(before) + event.paged.before);
    let passed = event.paged.after > 0 && before < WHOLE_WARN_BYTES && after >= WHOLE_WARN_BYTES;
    passed.then_some(after)
}

/// How a document grows, and when it reaches its bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    pub per_day: Option<f64>,
    pub reached_ms: Option<u64>,
}

impl Forecast {
    pub fn of(
        trend: &Trend,
        now_ms: u64,
        bytes: u32,
        bound: u32,
        observed_min_ms: u64,
    ) -> Forecast {
        let per_day = trend.per_day(now_ms, bytes, observed_min_ms);
        Forecast { per_day, reached_ms: reached(now_ms, bytes, per_day, bound) }
    }
}

impl Alert {
    /// Writes a line for each reason.
    pub fn log(&self) {
        let Alert { namespace, id, bytes, reason } = self;
        let Reason { warn_bytes, whole_bytes, soon, bound, forecast } = reason;
        let per_day = forecast.and_then(|it| it.per_day).map(|rate| rate as i64);
        let forecast = forecast.and_then(|it| it.reached_ms).map(date);
        if let Some(warn_bytes) = warn_bytes {
            tracing::warn!(
                alert = "warn_bytes",
                %namespace,
                _id = id,
                bytes,
                warn_bytes,
                bound,
                bytes_per_day = per_day,
                forecast,
                "a document has grown past its policy's warn_bytes"
            );
        }
        if let Some(whole_bytes) = whole_bytes {
            tracing::warn!(
                alert = "whole_bytes",
                %namespace,
                _id = id,
                bytes,
                whole_bytes,
                warn_bytes = WHOLE_WARN_BYTES,
                bound = DOCUMENT_BYTES_MAX,
                "a document with its pages has grown past three quarters of what a reply can hold"
            );
        }
        if *soon {
            tracing::warn!(
                alert = "forecast",
                %namespace,
                _id = id,
                bytes,
                bound,
                bytes_per_day = per_day,
                forecast,
                "a document will reach its bound within the growth horizon"
            );
        }
    }
}

/// A time as people and programs read it.
fn date(at_ms: u64) -> String {
    let date = DateTime::from_millis(i64::try_from(at_ms).unwrap_or(i64::MAX));
    date.try_to_rfc3339_string().unwrap_or_default()
}
