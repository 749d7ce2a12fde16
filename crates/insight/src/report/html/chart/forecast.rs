//! The size of a document that grows, from its beginning to the day it is full.

use super::super::DOCUMENT_BYTES_MAX;
use super::palette::{AXIS, BAR, GRID, INK, LIMIT};
use super::{FONT, Failure, LABEL_SIZE, svg};
use crate::Error;
use crate::figures::{bytes, days};
use crate::report::Finding;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use plotters::element::{Circle, EmptyElement, Text};
use plotters::prelude::{AreaSeries, ChartBuilder, DashedLineSeries, LineSeries};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, TextStyle};
use std::fmt;

/// What is further away is not drawn.
const DAYS_MAX: f64 = 10.0 * 365.0;
const LIMIT_BYTES: f64 = DOCUMENT_BYTES_MAX as f64;
const MEGABYTE: f64 = 1024.0 * 1024.0;
/// The past is drawn no longer than so many times the future.
const PAST_SHARE_MAX: f64 = 2.0;
const SECONDS_A_DAY: f64 = 86_400.0;
/// Over a time no longer than this days are named; else months.
const DAYS_NAMED_MAX: f64 = 240.0;

/// How a document grows, as a finding tells it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    pub bytes_per_day: f64,
    /// Until it is full.
    pub days: f64,
}

impl Forecast {
    pub fn of(finding: &Finding) -> Option<Forecast> {
        let figure = |name: &str| finding.evidence.figures.get(name)?.as_f64();
        let growth =
            Forecast { bytes_per_day: figure("bytes_per_day")?, days: figure("days_to_limit")? };
        let drawn = growth.bytes_per_day > 0.0 && (0.0..=DAYS_MAX).contains(&growth.days);
        drawn.then_some(growth)
    }

    /// The size on a day, today being 0.
    fn bytes_on(self, day: f64) -> f64 {
        (LIMIT_BYTES - (self.days - day) * self.bytes_per_day).max(0.0)
    }

    /// The day the drawing begins on: when the document was empty, or somewhat later.
    fn first_day(self) -> f64 {
        let age = self.bytes_on(0.0) / self.bytes_per_day;
        -age.min(self.days.max(1.0) * PAST_SHARE_MAX).max(0.0)
    }
}

impl fmt::Display for Forecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let today = bytes(self.bytes_on(0.0) as u64);
        if self.days <= 0.0 {
            return write!(f, "Full: {today} of 16 MB");
        }
        let days = days(self.days);
        write!(f, "The first to be full: {today} today, 16 MB in {days} if it goes on as it did")
    }
}

/// The chart, with the dates as they follow from `started`; none where that is no date.
pub fn draw(growth: Forecast, started: &str) -> Result<Option<String>, Error> {
    let Ok(started) = started.parse::<Timestamp>() else { return Ok(None) };
    let first = growth.first_day();
    let last = growth.days.max(1.0) * 1.12;
    let label = |day: &f64| date(started, *day, last - first);
    let chart = svg(|area| {
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .margin_right(14)
            .x_label_area_size(24)
            .y_label_area_size(52)
            .build_cartesian_2d(first..last, 0.0..LIMIT_BYTES / MEGABYTE * 1.2)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(GRID.mix(0.0))
            .bold_line_style(GRID)
            .axis_style(AXIS)
            .x_labels(5)
            .y_labels(4)
            .x_label_formatter(&label)
            .y_label_formatter(&|size| format!("{size} MB"))
            .label_style((FONT, LABEL_SIZE, &INK))
            .draw()?;
        let on = |day: f64| (day, growth.bytes_on(day) / MEGABYTE);
        let limit = LIMIT_BYTES / MEGABYTE;
        let past = [on(first), on(0.0)];
        let future = [on(0.0), (growth.days, limit)];
        let whole = [past[0], past[1], future[1]];
        chart.draw_series(AreaSeries::new(whole, 0.0, BAR.mix(0.12)))?;
        chart.draw_series(LineSeries::new(past, BAR.stroke_width(2)))?;
        chart.draw_series(DashedLineSeries::new(future, 6, 4, BAR.stroke_width(2)))?;
        chart
            .draw_series(LineSeries::new([(first, limit), (last, limit)], LIMIT.stroke_width(1)))?;
        chart.draw_series([Circle::new(past[1], 4, BAR.filled())])?;
        chart.draw_series([Circle::new(future[1], 4, LIMIT.filled())])?;
        let corner = Pos::new(HPos::Right, VPos::Bottom);
        let style = TextStyle::from((FONT, LABEL_SIZE).into_font()).color(&INK).pos(corner);
        let full = Text::new(date(started, growth.days, 0.0), (-2, -7), style);
        chart.draw_series([EmptyElement::at(future[1]) + full])?;
        Ok::<(), Failure>(())
    })?;
    Ok(Some(chart))
}

/// The date of a day, as exact as labels over such a time need.
fn date(started: Timestamp, day: f64, span_days: f64) -> String {
    let seconds = started.as_second().saturating_add((day * SECONDS_A_DAY) as i64);
    let Ok(moment) = Timestamp::from_second(seconds) else { return String::new() };
    let format = match span_days {
        0.0 => "%-d %B %Y",
        span if span <= DAYS_NAMED_MAX => "%-d %b",
        _ => "%b %Y",
    };
    moment.to_zoned(TimeZone::UTC).strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Cure, Severity};
    use command::Namespace;
    use serde_json::json;

    fn finding(bytes_per_day: f64, days: f64) -> Finding {
        let namespace = Namespace { database: "d".into(), collection: "c".into() };
        let cure = Cure::command("none", String::new());
        Finding::new(Severity::Warn, &namespace, String::new(), cure)
            .figure("bytes_per_day", json!(bytes_per_day))
            .figure("days_to_limit", json!(days))
    }

    #[test]
    fn growth_is_drawn_to_the_day_it_ends() {
        let growth = Forecast::of(&finding(20_000.0, 400.0)).unwrap();
        assert_eq!(growth.bytes_on(400.0), LIMIT_BYTES);
        assert!(growth.bytes_on(growth.first_day()).abs() < 1.0);
        let chart = draw(growth, "2026-04-15T10:00:00Z").unwrap().unwrap();
        assert!(chart.contains("20 May 2027"), "{chart}");
        assert!(
            growth.to_string().ends_with("16 MB in 400 days if it goes on as it did"),
            "{growth}"
        );
        assert!(chart.contains(" 2027\n"), "{chart}");
    }

    #[test]
    fn what_cannot_be_drawn_is_not() {
        assert_eq!(Forecast::of(&finding(20_000.0, 1e9)), None);
        assert_eq!(Forecast::of(&finding(0.0, 10.0)), None);
        let growth = Forecast::of(&finding(1e12, 0.0)).unwrap();
        assert!(draw(growth, "2026-04-15T10:00:00Z").unwrap().is_some());
        assert_eq!(draw(growth, "yesterday").unwrap(), None);
    }
}
