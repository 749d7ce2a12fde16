//! What is logged of documents that break their collection's validator.

use super::Transaction;
use bson::RawDocument;
use command::Namespace;
use error::Error;

/// What a line of the log shows of a failed validation's `errInfo`.
const LOGGED_INFO_BYTES_MAX: usize = 4 * 1024;

/// Lines that a transaction keeps for its commit. A group of inserts has no more.
const WARNINGS_KEPT_MAX: usize = 1_000;

/// One line for what collects logs: what was refused or would have been, where and why.
#[derive(Debug)]
pub struct Warning {
    namespace: Namespace,
    id: String,
    reason: String,
    info: String,
}

impl Warning {
    pub fn of(namespace: &Namespace, document: &RawDocument, failure: &Error) -> Warning {
        let id = value::element::get(document, "_id").map(|id| value::text::short(id.value()));
        let info = failure.details().find(|(name, _)| *name == "errInfo");
        let info = info.map(|(_, info)| value::text::at_most(info, LOGGED_INFO_BYTES_MAX));
        Warning {
            namespace: namespace.clone(),
            id: id.unwrap_or_default(),
            reason: failure.message().to_owned(),
            info: info.unwrap_or_default(),
        }
    }

    pub fn log(&self) {
        tracing::warn!(
            namespace = %self.namespace,
            failingDocumentId = self.id,
            reason = self.reason,
            errInfo = self.info,
            "Document would fail validation"
        );
    }
}

impl Transaction {
    /// Keeps a line until the document that it is about is committed: a write that starts
    /// over meets the document again. What is too much to keep is logged before that.
    pub(super) fn warn(&mut self, warning: Warning) {
        if self.warnings.len() == WARNINGS_KEPT_MAX {
            self.log_warnings();
        }
        self.warnings.push(warning);
    }

    pub(super) fn log_warnings(&mut self) {
        self.warnings.drain(..).for_each(|warning| warning.log());
    }
}

#[cfg(test)]
mod tests {
    use crate::Engine;
    use bson::{RawDocumentBuf, rawdoc};
    use command::{Client, Request};
    use std::net::{Ipv4Addr, SocketAddr};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    /// Counts the lines that this module logs.
    #[derive(Default)]
    struct Lines(Arc<AtomicUsize>);

    impl Subscriber for Lines {
        fn enabled(&self, line: &Metadata<'_>) -> bool {
            line.is_event() && line.module_path().is_some_and(|path| path.ends_with("::warning"))
        }

        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    async fn run(engine: &Arc<Engine>, body: RawDocumentBuf) {
        let client = Arc::new(Client::new(1, SocketAddr::from((Ipv4Addr::LOCALHOST, 1))));
        engine.run(Request::from(body), &client).await.unwrap();
    }

    /// How many lines are logged when four documents that break the validator are inserted,
    /// of which the third and the fourth have an `_id` that is taken.
    async fn lines(action: &str) -> usize {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::open(directory.path()).await.unwrap();
        let create = rawdoc! {
            "create": "c", "$db": "d", "validator": { "a": 1 }, "validationAction": action,
        };
        run(&engine, create).await;
        let documents = rawdoc! {
            "insert": "c", "$db": "d", "ordered": false,
            "documents": [{ "_id": 1 }, { "_id": 2 }, { "_id": 1 }, { "_id": 2 }],
        };
        let lines = Lines::default();
        let count = lines.0.clone();
        let _counted = tracing::subscriber::set_default(lines);
        run(&engine, documents).await;
        count.load(Ordering::Relaxed)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_document_that_passes_with_a_warning_is_logged_once() {
        assert_eq!(lines("warn").await, 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_document_that_is_refused_is_logged_once() {
        assert_eq!(lines("errorAndLog").await, 4);
    }
}
