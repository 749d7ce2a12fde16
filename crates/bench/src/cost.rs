//! What writes cost a server, as `serverStatus` tells it.

use bson::{Document, doc};
use mongodb::Database;

use crate::status::integer;

/// Since the server's start, or between two moments. What a server does not tell is 0.
#[derive(Default, Clone, Copy)]
pub struct Cost {
    pub writes: i64,
    pub fsyncs: i64,
    /// Before compression.
    pub journal_bytes: i64,
    /// Of the whole process.
    pub cpu_us: i64,
}

impl Cost {
    pub async fn read(database: &Database) -> Option<Cost> {
        let status = database.run_command(doc! { "serverStatus": 1 }).await.ok()?;
        let nothing = Document::new();
        let part = |of: &Document, name: &str| {
            of.get_document(name).cloned().unwrap_or_else(|_| nothing.clone())
        };
        let own = part(&status, "freeboard");
        let (commits, journal) = (part(&own, "commits"), part(&own, "journal"));
        let process = part(&status, "extra_info");
        let number = |of: &Document, name: &str| integer(of, name).unwrap_or(0);
        Some(Cost {
            writes: number(&commits, "writes"),
            fsyncs: number(&commits, "fsyncs"),
            journal_bytes: number(&journal, "bytes"),
            cpu_us: number(&process, "user_time_us") + number(&process, "system_time_us"),
        })
    }

    pub fn since(&self, before: &Cost) -> Cost {
        Cost {
            writes: self.writes - before.writes,
            fsyncs: self.fsyncs - before.fsyncs,
            journal_bytes: self.journal_bytes - before.journal_bytes,
            cpu_us: self.cpu_us - before.cpu_us,
        }
    }

    pub fn add(&mut self, other: &Cost) {
        self.writes += other.writes;
        self.fsyncs += other.fsyncs;
        self.journal_bytes += other.journal_bytes;
        self.cpu_us += other.cpu_us;
    }
}
