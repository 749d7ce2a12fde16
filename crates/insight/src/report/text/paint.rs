//! Lines of text, wrapped, with colours where they are wanted.

use crate::report::Severity;

pub const COLUMNS: usize = 100;
pub const INDENT: usize = 2;
/// The width of the names before figures and ids.
pub const LABEL: usize = 10;

pub struct Out {
    pub text: String,
    pub colour: bool,
}

#[derive(Clone, Copy)]
pub enum Paint {
    Red,
    Yellow,
    Green,
    Blue,
    Faint,
    Bold,
}

impl Out {
    pub fn new(colour: bool) -> Out {
        Out { text: String::new(), colour }
    }

    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    pub fn paint(&self, text: &str, paint: Paint) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match paint {
            Paint::Red => "1;31",
            Paint::Yellow => "33",
            Paint::Green => "32",
            Paint::Blue => "36",
            Paint::Faint => "2",
            Paint::Bold => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// An empty line, and a title.
    pub fn title(&mut self, title: &str) {
        let title = self.paint(title, Paint::Bold);
        self.line("");
        self.line(&title);
    }

    /// A label and text beside it, wrapped.
    pub fn labelled(&mut self, label: &str, text: &str, lines_max: usize) {
        let mut lines = wrap(text, COLUMNS - INDENT - LABEL);
        if lines.len() > lines_max {
            lines.truncate(lines_max);
            if let Some(last) = lines.last_mut() {
                last.push_str(" …");
            }
        }
        for (at, line) in lines.iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            let label = self.paint(&format!("{label:LABEL$}"), Paint::Faint);
            self.line(&format!("{:INDENT$}{label}{line}", ""));
        }
    }

    /// Text under a title, wrapped.
    pub fn indented(&mut self, text: &str) {
        for line in wrap(text, COLUMNS - INDENT) {
            self.line(&format!("{:INDENT$}{line}", ""));
        }
    }
}

pub fn paint_of(severity: Severity) -> Paint {
    match severity {
        Severity::Critical => Paint::Red,
        Severity::Warn => Paint::Yellow,
        Severity::Info => Paint::Blue,
    }
}

/// Lines of whole words; a word that is longer stays whole.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let width = |text: &str| text.chars().count();
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let full = lines
            .last()
            .is_some_and(|line| !line.is_empty() && width(line) + 1 + width(word) > columns);
        if full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
