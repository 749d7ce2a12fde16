//! A backend whose commands do what the tests need.

use bson::rawdoc;
use command::{Client, Reply, Request};
use error::{Code, Result};
use server::backend::{Cursors, Figures, Health};
use server::{Backend, Status};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::time::Duration;

#[derive(Default)]
pub struct Probe {
    /// Batches given by `getMore` so far.
    batches: AtomicI64,
    stopped: AtomicBool,
    /// An `aggregate` has made it ill.
    ill: AtomicBool,
    /// A `distinct` has seen its client go.
    gone: AtomicBool,
}

/// How long `count` takes.
pub const SLOW: Duration = Duration::from_millis(500);

/// How long the reply of `validate` is: more than sockets take.
const LARGE: usize = 15_000_000;

/// Batches before a cursor is exhausted.
pub const BATCHES: i64 = 4;

impl Status for Probe {
    fn health(&self) -> Health {
        let well = if self.ill.load(SeqCst) { Err("it is ill".to_owned()) } else { Ok(()) };
        Health { well, ready: Ok(()) }
    }

    fn figures(&self) -> Figures {
        Figures { cursors: Cursors { open: 3, without_timeout: 1 }, ..Figures::default() }
    }
}

impl Backend for Probe {
    async fn run(&self, request: Request, client: &std::sync::Arc<Client>) -> Result<Reply> {
        assert!(!self.stopped.load(SeqCst), "a command after the backend was stopped");
        let body = match request.name() {
            "find" => panic!("the probe panics"),
            "count" => {
                tokio::time::sleep(SLOW).await;
                rawdoc! { "n": 1, "ok": 1.0 }
            }
            "distinct" => {
                while !client.is_gone() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                self.gone.store(true, SeqCst);
                rawdoc! { "ok": 1.0 }
            }
            "dbStats" => rawdoc! {
                "here": !client.is_gone(), "gone": self.gone.load(SeqCst), "ok": 1.0,
            },
            "aggregate" => {
                self.ill.store(true, SeqCst);
                rawdoc! { "ok": 1.0 }
            }
            "insert" => {
                let documents = request.documents("documents")?;
                rawdoc! { "n": documents.len() as i32, "ok": 1.0 }
            }
            "getMore" => {
                let batch = self.batches.fetch_add(1, SeqCst) + 1;
                let id = if batch < BATCHES { 77_i64 } else { 0 };
                rawdoc! { "cursor": { "nextBatch": [batch], "id": id, "ns": "a.b" }, "ok": 1.0 }
            }
            "top" => {
                let application = client.application.as_deref().unwrap_or("none");
                rawdoc! { "application": application, "ok": 1.0 }
            }
            "validate" => rawdoc! { "text": "x".repeat(LARGE), "ok": 1.0 },
            name if command::command(name).is_none() => {
                return Err(command::refused::not_found(name));
            }
            name => return Err(Code::NotImplemented.error(format!("{name} is not probed"))),
        };
        Ok(Reply::new(body))
    }

    async fn stop(&self) {
        self.stopped.store(true, SeqCst);
    }
}
