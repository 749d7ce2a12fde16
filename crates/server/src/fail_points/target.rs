//! The command that fail points are evaluated for.

use super::strings;
use bson::{RawBsonRef, RawDocument};
use command::{Client, Command, Common, Reply, Request};
use value::element::get;
use value::elements;

pub(crate) struct Target<'a> {
    pub request: &'a Request,
    pub command: &'static Command,
    pub common: &'a Common<'a>,
    pub client: &'a Client,
}

impl Target<'_> {
    /// Whether the data of a point name the command, and its sender.
    pub fn is_named(&self, data: &RawDocument) -> bool {
        // Otherwise no client could set the point back.
        if matches!(self.command.name, "configureFailPoint" | "waitForFailPoint") {
            return false;
        }
        let is_mine =
            |name: &&str| *name == self.command.name || self.command.aliases.contains(name);
        let is_listed = super::flag(data, "failAllCommands")
            || strings(data, "failCommands").is_some_and(|names| names.iter().any(is_mine));
        is_listed && self.is_sender(data)
    }

    /// Whether the data of a point name the sender of the command, and its namespace.
    pub fn is_sender(&self, data: &RawDocument) -> bool {
        let says = |name: &str| get(data, name).and_then(|field| field.value().as_str());
        says("appName").is_none_or(|name| self.application() == Some(name))
            && says("namespace").is_none_or(|name| self.namespace().as_deref() == Some(name))
    }

    /// The client's application. Its first hello names it, and may fail by that.
    fn application(&self) -> Option<&str> {
        let known = self.client.application.as_deref();
        known.or_else(|| {
            let field = |document, name| get(document, name).and_then(|it| it.as_document());
            let application = field(field(self.request.body(), "client")?, "application")?;
            get(application, "name")?.value().as_str()
        })
    }

    fn namespace(&self) -> Option<String> {
        let body = self.request.body();
        let first = match self.command.name {
            "getMore" => get(body, "collection"),
            _ => elements(body).next(),
        };
        let collection = first?.value().as_str()?;
        Some(format!("{}.{collection}", self.common.database))
    }

    /// Whether the command is a write that a client may send again.
    pub fn is_retryable_write(&self) -> bool {
        let numbered = self.common.txn_number.is_some() && !self.common.in_transaction();
        self.command.retryable && numbered
    }

    /// The statements that a retryable write has carried out, but for those that were answered
    /// from their records.
    pub fn statements_done(&self, reply: &Reply) -> usize {
        if !self.is_retryable_write() {
            return 0;
        }
        let field = match self.command.name {
            "insert" => "documents",
            "update" => "updates",
            "delete" => "deletes",
            "bulkWrite" => "ops",
            _ => "",
        };
        let statements = match field {
            "" => 1,
            field => self.request.documents(field).map_or(0, |documents| documents.len()),
        };
        let retried = match get(&reply.body, "retriedStmtIds").map(|ids| ids.value()) {
            Some(RawBsonRef::Array(ids)) => value::element::array_elements(ids).count(),
            _ => usize::from(get(&reply.body, "retriedStmtId").is_some()),
        };
        statements.saturating_sub(retried)
    }
}
