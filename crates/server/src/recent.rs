//! The last lines of the log, which `getLog` tells. Whoever writes the log writes them here
//! too, one line a write.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;

/// Lines that are kept.
pub const LINES_MAX: usize = 1024;
/// Bytes of a line that are kept.
pub const LINE_BYTES_MAX: usize = 1024;

/// Clones share their lines.
#[derive(Clone, Debug, Default)]
pub struct RecentLines {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<String>,
    /// Lines that were ever written.
    written: usize,
    /// Those that standard error did not take.
    dropped: usize,
}

impl RecentLines {
    pub fn push(&self, line: &str) {
        let line = line.trim_end();
        let end = line.floor_char_boundary(LINE_BYTES_MAX);
        let mut kept = self.kept.lock();
        if kept.lines.len() == LINES_MAX {
            kept.lines.pop_front();
        }
        kept.lines.push_back(line.get(..end).unwrap_or(line).to_owned());
        kept.written += 1;
    }

    /// Counts lines that were written here and could not be written where the log goes.
    pub fn count_dropped(&self, lines: usize) {
        self.kept.lock().dropped += lines;
    }

    pub fn dropped(&self) -> usize {
        self.kept.lock().dropped
    }

    /// How many were ever written, and those that are kept, the oldest first.
    pub fn read(&self) -> (usize, Vec<String>) {
        let kept = self.kept.lock();
        (kept.written, kept.lines.iter().cloned().collect())
    }
}

impl Write for RecentLines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(&String::from_utf8_lossy(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_all_are_counted() {
        let recent = RecentLines::default();
        let mut writer = recent.clone();
        for number in 0..LINES_MAX + 10 {
            writer.write_all(format!("line {number}\n").as_bytes()).unwrap();
        }
        let (written, lines) = recent.read();
        assert_eq!((written, lines.len()), (LINES_MAX + 10, LINES_MAX));
        assert_eq!(lines.first().unwrap(), "line 10");
        assert_eq!(lines.last().unwrap(), "line 1033");
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let recent = RecentLines::default();
        recent.push(&"ä".repeat(LINE_BYTES_MAX));
        recent.push(&format!("x{}", "ä".repeat(LINE_BYTES_MAX)));
        let (_, lines) = recent.read();
        let lengths: Vec<_> = lines.iter().map(String::len).collect();
        assert_eq!(lengths, [LINE_BYTES_MAX, LINE_BYTES_MAX - 1]);
    }
}
