//! How sizes or lengths are spread: bars whose width doubles, and how many are in each.

use super::palette::{AXIS, BAR, INK, OUTLIER};
use super::{FONT, Failure, LABEL_SIZE, svg};
use crate::Error;
use crate::figures::{bytes, count};
use crate::report::Spread;
use plotters::element::{Rectangle, Text};
use plotters::prelude::ChartBuilder;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, TextStyle};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Elements,
}

/// A bar that is not empty has at least this share of the height, to be seen.
const VISIBLE_SHARE: f64 = 0.03;
/// What is so many times the median has another colour.
pub const OUTLIER_TIMES_MEDIAN: u64 = 8;
/// Room for the figure above the highest bar.
const HEADROOM: f64 = 1.18;
/// Edges that are named below the bars.
const LABELS_MAX: usize = 8;
/// Edges from here on are rounded.
const EDGE_ROUNDED_MIN: u64 = 64;
/// Figures above bars, as long as there is room for them.
const BARS_WITH_FIGURES_MAX: usize = 14;

impl Unit {
    pub fn show(self, value: u64) -> String {
        match self {
            Unit::Bytes => bytes(value),
            Unit::Elements => count(value),
        }
    }

    /// For an edge between bars, where space is dear: 1,023 and 1,024 are the same there.
    fn edge(self, value: u64) -> String {
        let next = value.saturating_add(1);
        let round = next.is_power_of_two() && next >= EDGE_ROUNDED_MIN;
        let value = if round { next } else { value };
        match self {
            Unit::Bytes if value < 1024 => format!("{value} B"),
            Unit::Bytes => bytes(value),
            Unit::Elements => count(value),
        }
    }
}

pub fn draw(spread: &Spread, unit: Unit) -> Result<String, Error> {
    svg(|area| {
        let bars = &spread.histogram;
        let highest = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1) as f64;
        let mut chart = ChartBuilder::on(area)
            .margin(6)
            .margin_left(22)
            .margin_right(26)
            .x_label_area_size(24)
            .build_cartesian_2d(0.0..bars.len().max(1) as f64, 0.0..highest * HEADROOM)?;
        let edge = |x: &f64| match (x.round() as usize).checked_sub(1) {
            // The bar is one value wide, and named at its end.
            None if bars.first().is_some_and(|bar| bar.to <= spread.min) => String::new(),
            None => unit.edge(spread.min),
            Some(before) => {
                unit.edge(bars.get(before).map_or(spread.max, |bar| bar.to.min(spread.max)))
            }
        };
        chart
            .configure_mesh()
            .disable_mesh()
            .disable_y_axis()
            .axis_style(AXIS)
            .x_labels(LABELS_MAX.min(bars.len() + 1))
            .x_label_formatter(&edge)
            .label_style((FONT, LABEL_SIZE, &INK))
            .draw()?;
        let rectangles =
            bars.iter().enumerate().filter(|(_, bar)| bar.count > 0).map(|(at, bar)| {
                let height = (bar.count as f64).max(highest * VISIBLE_SHARE);
                let below = at.checked_sub(1).and_then(|before| bars.get(before));
                let far = spread.p50.max(1).saturating_mul(OUTLIER_TIMES_MEDIAN);
                let colour = if below.is_some_and(|below| below.to >= far) { OUTLIER } else { BAR };
                let corners = [(at as f64 + 0.06, 0.0), (at as f64 + 0.94, height)];
                Rectangle::new(corners, colour.filled())
            });
        chart.draw_series(rectangles)?;
        if bars.len() <= BARS_WITH_FIGURES_MAX {
            let above = Pos::new(HPos::Center, VPos::Bottom);
            let style = TextStyle::from((FONT, LABEL_SIZE).into_font()).color(&INK).pos(above);
            let figures = bars.iter().enumerate().filter(|(_, bar)| bar.count > 0);
            chart.draw_series(figures.map(|(at, bar)| {
                let height = (bar.count as f64).max(highest * VISIBLE_SHARE);
                Text::new(
                    brief(bar.count),
                    (at as f64 + 0.5, height + highest * 0.03),
                    style.clone(),
                )
            }))?;
        }
        Ok::<(), Failure>(())
    })
}

/// A count that fits above a bar: `950`, `12k`, `3.4M`.
fn brief(number: u64) -> String {
    let scaled = |unit: f64, name: &str| {
        let value = number as f64 / unit;
        if value < 10.0 { format!("{value:.1}{name}") } else { format!("{value:.0}{name}") }
    };
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => scaled(1e3, "k"),
        1_000_000..1_000_000_000 => scaled(1e6, "M"),
        _ => scaled(1e9, "G"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Bar;

    fn spread(bars: &[(u64, u64)]) -> Spread {
        let histogram: Vec<Bar> =
            bars.iter().map(|(to, count)| Bar { to: *to, count: *count }).collect();
        let max = histogram.last().map_or(0, |bar| bar.to);
        Spread { count: 100, min: 0, mean: 1.0, p50: 2, p90: 7, p99: 15, max, histogram }
    }

    #[test]
    fn bars_are_drawn_with_their_counts() {
        let chart =
            draw(&spread(&[(1, 3), (3, 90), (7, 0), (15, 6), (31, 0), (63, 1)]), Unit::Elements)
                .unwrap();
        assert!(chart.starts_with("<svg ") && chart.trim_end().ends_with("</svg>"));
        // Four bars, one of them eight times the median and more.
        assert_eq!(chart.matches("fill=\"#2B7FA8\"").count(), 3, "{chart}");
        assert_eq!(chart.matches("fill=\"#D97A1F\"").count(), 1);
        assert!(chart.contains(">\n90\n</text>"), "{chart}");
    }

    #[test]
    fn any_spread_can_be_drawn() {
        for bars in [&[][..], &[(0, 0)], &[(0, 1)], &[(u64::MAX, u64::MAX)]] {
            draw(&spread(bars), Unit::Bytes).unwrap();
        }
        let many: Vec<(u64, u64)> = (0..64).map(|power| (1 << power, power)).collect();
        draw(&spread(&many), Unit::Bytes).unwrap();
    }

    #[test]
    fn counts_are_brief() {
        assert_eq!(["950", "12k", "3.4M", "10M"], [950, 12_345, 3_400_000, 10_000_000].map(brief));
    }
}
