//! The colours of charts. A chart is drawn in the colours of the light page; the stylesheet
//! puts its own variables in their place, so that charts follow the page into the dark.

use plotters::style::RGBColor;

pub const AXIS: RGBColor = RGBColor(0x9a, 0xa8, 0xb4);
pub const BAR: RGBColor = RGBColor(0x2b, 0x7f, 0xa8);
pub const GRID: RGBColor = RGBColor(0xdd, 0xe4, 0xe9);
pub const INK: RGBColor = RGBColor(0x4a, 0x59, 0x66);
pub const LIMIT: RGBColor = RGBColor(0xb8, 0x33, 0x2a);
pub const OUTLIER: RGBColor = RGBColor(0xd9, 0x7a, 0x1f);

const NAMES: &[(RGBColor, &str)] = &[
    (AXIS, "chart-axis"),
    (BAR, "chart-bar"),
    (GRID, "chart-grid"),
    (INK, "chart-ink"),
    (LIMIT, "chart-limit"),
    (OUTLIER, "chart-outlier"),
];

/// Rules that put the page's variables in the place of the colours.
pub fn style() -> String {
    let mut rules = String::new();
    for (RGBColor(red, green, blue), name) in NAMES {
        for attribute in ["fill", "stroke"] {
            rules += &format!(
                "svg [{attribute}=\"#{red:02X}{green:02X}{blue:02X}\"]{{{attribute}:var(--{name})}}\n"
            );
        }
    }
    rules
}
