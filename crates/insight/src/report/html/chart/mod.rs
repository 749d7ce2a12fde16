//! Charts, drawn as SVG.

pub mod forecast;
pub mod histogram;
pub mod palette;

use crate::Error;
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea, SVGBackend};

/// Drawn at this size and scaled to the page's width; small enough for a telephone.
pub const WIDTH: u32 = 400;
pub const HEIGHT: u32 = 180;
pub const FONT: &str = "sans-serif";
pub const LABEL_SIZE: u32 = 12;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Failure = DrawingAreaErrorKind<std::io::Error>;

/// What is drawn, as an SVG element.
fn svg(draw: impl FnOnce(&Area<'_>) -> Result<(), Failure>) -> Result<String, Error> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area();
        draw(&area)
            .and_then(|()| area.present())
            .map_err(|error| Error::Use(format!("a chart could not be drawn: {error}")))?;
    }
    Ok(text)
}
