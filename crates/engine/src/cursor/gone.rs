//! Cursors whose clients have gone give way to others where memory is short.
//!
//! As in MongoDB, a cursor outlives the connection that it was opened on: with its session
//! another one may read on, and with `noCursorTimeout` it has no time limit. What it keeps is in
//! the memory budget meanwhile.

use super::{Cursors, Lying, Slot};
use crate::Engine;
use budget::Kind;
use command::Client;
use error::Code;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two looks at whether memory is short.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

impl Cursors {
    /// Ends idle cursors whose last client has closed its connection, the longest unused first,
    /// as long as memory is short.
    fn give_way(&self, is_short: impl Fn() -> bool) {
        if !is_short() {
            return;
        }
        let mut idle = self.by_client();
        idle.sort_unstable_by_key(|(_, used, _)| *used);
        // It is looked at sockets, so without the lock.
        for (id, used, _) in idle.into_iter().filter(|(_, _, client)| client.is_gone()) {
            if !is_short() {
                return;
            }
            let killed = self.open.lock().take(id, |slot| slot.is_idle() && slot.used == used);
            if let Some(slot) = killed {
                let (namespace, client) = (&slot.namespace, &slot.client.address);
                tracing::info!(%namespace, %client, "ended a cursor of a client that has gone");
                slot.interrupt.stop(Code::CursorKilled);
            }
        }
    }

    /// Idle cursors, when they were used last and by whom.
    fn by_client(&self) -> Vec<(i64, Instant, Arc<Client>)> {
        let open = self.open.lock();
        let idle = open.iter().filter(|(_, slot)| slot.is_idle());
        idle.map(|(id, slot)| (id, slot.used, slot.client.clone())).collect()
    }
}

impl Slot {
    fn is_idle(&self) -> bool {
        matches!(self.state, Lying::Idle(_))
    }
}

impl Engine {
    /// Has cursors give way until the engine closes.
    pub(crate) async fn reclaim_cursors(self: Arc<Self>) {
        loop {
            tokio::time::sleep(LOOK_INTERVAL).await;
            self.cursors.give_way(|| budget::process().is_short(Kind::Work));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{RawDocumentBuf, rawdoc};
    use command::{Presence, Request};
    use std::cell::Cell;
    use std::sync::Weak;

    #[derive(Debug)]
    struct There;

    impl Presence for There {
        fn is_there(&self) -> bool {
            true
        }
    }

    fn client(presence: Weak<dyn Presence>) -> Arc<Client> {
        let client = Client::new(1, std::net::SocketAddr::from(([127, 0, 0, 1], 1)));
        Arc::new(Client { presence: Some(presence), ..client })
    }

    async fn run(engine: &Arc<Engine>, client: &Arc<Client>, of: RawDocumentBuf) -> RawDocumentBuf {
        engine.run(Request::from(of), client).await.expect("runs").body
    }

    #[tokio::test]
    async fn cursors_of_clients_that_have_gone_give_way_and_no_others() {
        let directory = tempfile::tempdir().expect("a directory");
        let engine = Engine::open(directory.path()).await.expect("opens");
        let presence: Arc<dyn Presence> = Arc::new(There);
        let there = client(Arc::downgrade(&presence));
        let closed: Arc<dyn Presence> = Arc::new(There);
        let gone = client(Arc::downgrade(&closed));
        drop(closed);
        let documents: Vec<_> = (0..9).map(|id| rawdoc! { "_id": id }).collect();
        let documents = bson::RawArrayBuf::from_iter(documents);
        run(&engine, &there, rawdoc! { "insert": "c", "documents": documents, "$db": "d" }).await;
        let find = rawdoc! {
            "find": "c", "sort": { "a": 1 }, "batchSize": 1, "noCursorTimeout": true, "$db": "d",
        };
        let mut opened = Vec::new();
        for client in [&gone, &there, &gone, &gone] {
            let reply = run(&engine, client, find.clone()).await;
            opened.push(reply.get_document("cursor").unwrap().get_i64("id").unwrap());
        }
        // A client that is there has gone on with the third.
        let more = rawdoc! { "getMore": opened[2], "collection": "c", "batchSize": 1, "$db": "d" };
        run(&engine, &there, more).await;
        let left = || {
            let open = engine.cursors.open.lock();
            opened.iter().map(|id| open.contains(*id)).collect::<Vec<_>>()
        };
        engine.cursors.give_way(|| false);
        assert_eq!(left(), [true; 4]);
        let looks = Cell::new(0);
        engine.cursors.give_way(|| looks.replace(looks.get() + 1) < 2);
        assert_eq!(left(), [false, true, true, true], "the oldest, and then there is room");
        engine.cursors.give_way(|| true);
        assert_eq!(left(), [false, true, true, false]);
        engine.close().await;
    }
}
