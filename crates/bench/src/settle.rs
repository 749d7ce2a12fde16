//! Letting a server finish what it still does for earlier writes.

use std::time::{Duration, Instant};

use bson::doc;
use mongodb::Database;

use crate::status::integer;

/// A server that was just filled has work left, which is not what is measured: it may
/// take so long to settle, and has settled once it was idle so often, at this distance.
const SETTLE_MAX: Duration = Duration::from_secs(30);
const SETTLE_LOOKS: usize = 7;
const SETTLE_PAUSE: Duration = Duration::from_millis(100);

/// Waits until the server has nothing left to do for earlier writes. Servers that do not
/// say what they do in the background are not waited for.
pub async fn settle(database: &Database) {
    let begun = Instant::now();
    let mut idle = 0;
    while idle < SETTLE_LOOKS && begun.elapsed() < SETTLE_MAX {
        match background(database).await {
            None => return,
            Some(0) => idle += 1,
            Some(_) => idle = 0,
        }
        tokio::time::sleep(SETTLE_PAUSE).await;
    }
}

/// Flushes, compactions and purges under way.
async fn background(database: &Database) -> Option<i64> {
    let status = database.run_command(doc! { "serverStatus": 1 }).await.ok()?;
    let work = status.get_document("freeboard").ok()?.get_document("background").ok()?;
    ["flushes", "compactions", "purges"].iter().map(|kind| integer(work, kind)).sum()
}
