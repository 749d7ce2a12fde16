//! The checklist.

use crate::report::{Item, Status};
use maud::{Markup, html};

pub fn section(items: &[Item]) -> Markup {
    html! {
        section id="checklist" {
            h2 { "Checklist" }
            ul.checklist {
                @for item in items {
                    @let (class, word) = status(item.status);
                    li.(class) {
                        span.status { (word) }
                        div { p.item { (item.item) } p.reason { (item.reason) } }
                    }
                }
            }
        }
    }
}

/// The class and the word.
fn status(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Pass => ("pass", "pass"),
        Status::Fail => ("fail", "fail"),
        Status::NotKnown => ("unknown", "not known"),
    }
}
