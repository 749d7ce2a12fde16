//! The runner of golden scripts. A command is a line that begins with `>`:
//!
//! - `> {find: "c"}` runs a command on the script's own database and prints the reply;
//! - `[admin]> {…}` runs it on `admin`;
//! - `> show cursor.id, ok {…}` prints some fields, `> types {…}` the types of all;
//! - `> each {find: "c", filter: ?}` puts a value of every BSON type in place of `?` and prints
//!   which of them are taken and which refused;
//! - `> eval {$abs: -1}` evaluates an expression, `> kinds {$abs: "$v"}` over every type: see
//!   [`crate::evaluation`];
//! - `> match c {a: 1}` prints the `_id`s that a filter finds, by a scan and as planned;
//! - `> project {a: 1, b: 2} {a: 1}` prints what a projection makes of a document,
//!   `> change {a: 1} {$inc: {a: 1}}` what an update does, `> upsert {a: 1} {$set: {b: 2}}` what is
//!   inserted; a further document adds options of the command;
//! - `> on c {$limit: 1}` runs a pipeline and prints its documents, `> each on c {$limit: ?}`
//!   tries every type: see [`crate::pipe`];
//! - `> lost {…}` is a command instead of whose reply the connection ends;
//! - `> fill c 1000 {_id: i}` inserts many documents, `> sleep 100` waits for milliseconds;
//! - `[sequence]>` sends the documents as a section of their own, `[exhaust]>` lets the server
//!   send on unasked, `[unacknowledged]>` wants no reply;
//! - `b: > {…}` speaks over a second connection named `b`; `b: > later {…}` sends without waiting
//!   for the reply, `b: > waits` goes on once the command waits for what others hold, and
//!   `b: > reply` waits for the reply;
//! - `[session-a]>` speaks in a session named `a`, `[session-a write-3]>` as its retryable write of
//!   number 3, `[session-a start-4]>` begins its transaction 4 and `[session-a in-4]>` goes on
//!   with it.
//!
//! A line that ends with `\` goes on in the next. The database is named after the script, as
//! `find_sort` for `find/sort.txt`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, cstr, rawdoc};
use goldenscript::{Command, Context};

use crate::ask::Ask;
use crate::connection::{Connection, Manner};
use crate::evaluation::Evaluation;
use crate::syntax::{self, Scope};
use crate::{Error, Result, pipe, print, samples};

const FILL_BATCH_DOCUMENTS: usize = 1000;
/// How often `waits` looks, and how long in all.
const WAITS_LOOK_INTERVAL: Duration = Duration::from_millis(5);
const WAITS_LOOKS_MAX: usize = 6000;
/// The connection that `waits` asks over.
const WATCHER: &str = "the one who watches";

pub struct Script {
    address: SocketAddr,
    database: String,
    connections: BTreeMap<String, Connection>,
    /// What the server calls the connections that commands were sent over for later.
    numbers: BTreeMap<String, i32>,
    scope: Scope,
    evaluation: Evaluation,
    sessions: BTreeMap<String, bson::Uuid>,
}

impl Script {
    pub fn new(address: SocketAddr, database: &str) -> Script {
        Script {
            address,
            database: database.to_owned(),
            connections: BTreeMap::new(),
            numbers: BTreeMap::new(),
            scope: Scope::default(),
            evaluation: Evaluation::default(),
            sessions: BTreeMap::new(),
        }
    }

    fn connection(&mut self, name: &str) -> Result<&mut Connection> {
        if !self.connections.contains_key(name) {
            self.connections.insert(name.to_owned(), Connection::open(self.address)?);
        }
        self.connections.get_mut(name).ok_or_else(|| "no connection".into())
    }

    /// The document in `text`, with `$db` unless it has one.
    fn command(&mut self, text: &str, context: &Context) -> Result<RawDocumentBuf> {
        let mut command = syntax::document(text, &self.scope)?;
        for tag in &context.tags {
            if let Some((kind, name)) = tag.split_once('-') {
                self.place(&mut command, kind, name)?;
            }
        }
        if command.get("$db")?.is_none() {
            let database = if context.tags.contains("admin") { "admin" } else { &self.database };
            command.append(cstr!("$db"), database);
        }
        Ok(command)
    }

    /// The values in `text`, for verbs that make their command themselves.
    pub fn values(&self, text: &str) -> Result<Vec<RawBson>> {
        syntax::values(text, &self.scope)
    }

    /// Runs a command that needs no `$db` and gives one reply.
    pub fn ask(&mut self, mut command: RawDocumentBuf, name: &str) -> Result<RawDocumentBuf> {
        command.append(cstr!("$db"), self.database.as_str());
        self.connection(name)?.command(&command)
    }

    /// Puts a command into a session or a transaction.
    fn place(&mut self, command: &mut RawDocumentBuf, kind: &str, name: &str) -> Result<()> {
        if kind == "session" {
            let id = *self.sessions.entry(name.to_owned()).or_default();
            command.append(cstr!("lsid"), rawdoc! { "id": bson::Binary::from(id) });
            return Ok(());
        }
        command.append(cstr!("txnNumber"), name.parse::<i64>()?);
        match kind {
            "write" => {}
            "start" => {
                command.append(cstr!("startTransaction"), true);
                command.append(cstr!("autocommit"), false);
            }
            "in" => command.append(cstr!("autocommit"), false),
            _ => return Err(format!("no such tag: {kind}-{name}").into()),
        }
        Ok(())
    }

    fn converse(&mut self, text: &str, context: &Context) -> Result<Vec<RawDocumentBuf>> {
        let command = self.command(text, context)?;
        let manner = Manner {
            sequence: context.tags.contains("sequence"),
            exhaust: context.tags.contains("exhaust"),
            unacknowledged: context.tags.contains("unacknowledged"),
        };
        let name = context.prefix.clone().unwrap_or_default();
        let connection = self.connection(&name)?;
        let replies = connection.converse(&command, manner)?;
        self.scope.times = connection.times;
        for reply in &replies {
            self.remember_cursors(reply)?;
            self.remember_events(reply)?;
            self.remember_moment(reply)?;
        }
        Ok(replies)
    }

    /// Sends a command whose reply is to be received later.
    fn send(&mut self, text: &str, context: &Context) -> Result<()> {
        let command = self.command(text, context)?;
        let name = context.prefix.clone().unwrap_or_default();
        let connection = self.connection(&name)?;
        let hello = connection.command(&rawdoc! { "hello": 1, "$db": "admin" })?;
        connection.send(&command, Manner::default())?;
        self.numbers.insert(name, hello.get_i32("connectionId")?);
        Ok(())
    }

    /// Goes on once the command of a connection waits for what others hold.
    fn until_waiting(&mut self, context: &Context) -> Result<()> {
        let name = context.prefix.clone().unwrap_or_default();
        let number = *self.numbers.get(&name).ok_or("no command was sent for later")?;
        let waiting = rawdoc! {
            "currentOp": 1, "connectionId": number, "waitingForLock": true, "$db": "admin",
        };
        for _ in 0..WAITS_LOOKS_MAX {
            let reply = self.connection(WATCHER)?.command(&waiting)?;
            if !reply.get_array("inprog")?.is_empty() {
                return Ok(());
            }
            std::thread::sleep(WAITS_LOOK_INTERVAL);
        }
        Err(format!("the command of connection {name:?} does not wait for anyone").into())
    }

    /// Cursor ids differ from run to run; scripts call them by their order.
    fn remember_cursors(&mut self, reply: &RawDocument) -> Result<()> {
        if let Some(RawBsonRef::Document(cursor)) = reply.get("cursor")?
            && let Some(RawBsonRef::Int64(id)) = cursor.get("id")?
            && id != 0
            && !self.scope.cursors.contains(&id)
        {
            self.scope.cursors.push(id);
        }
        Ok(())
    }

    fn remember_moment(&mut self, reply: &RawDocument) -> Result<()> {
        let cursor = reply.get("cursor")?.and_then(|cursor| cursor.as_document());
        if let Some(RawBsonRef::Timestamp(time)) = cursor.unwrap_or(reply).get("atClusterTime")?
            && !self.scope.moments.contains(&time)
        {
            self.scope.moments.push(time);
        }
        Ok(())
    }

    /// Sends a command instead of whose reply the connection ends.
    fn lose(&mut self, text: &str, context: &Context) -> Result<String> {
        let name = context.prefix.clone().unwrap_or_default();
        match self.converse(text, context) {
            Ok(replies) => Err(format!("there was a reply: {replies:?}").into()),
            Err(error) if is_end(&error) => {
                self.connections.remove(&name);
                Ok("the connection was closed".to_owned())
            }
            Err(error) => Err(error),
        }
    }

    /// The tokens and times of a change stream's events differ, too.
    fn remember_events(&mut self, reply: &RawDocument) -> Result<()> {
        let Some(RawBsonRef::Document(cursor)) = reply.get("cursor")? else { return Ok(()) };
        for name in ["firstBatch", "nextBatch"] {
            let Some(RawBsonRef::Array(batch)) = cursor.get(name)? else { continue };
            for event in batch {
                let RawBsonRef::Document(event) = event? else { continue };
                if let (Some(token), Some(time)) = (event.get("_id")?, event.get("clusterTime")?) {
                    self.scope.events.push((token.into(), time.into()));
                }
            }
        }
        Ok(())
    }

    fn each(&mut self, text: &str, context: &Context) -> Result<String> {
        let mut outcomes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for sample in samples::samples() {
            let name = print::type_name(sample.as_raw_bson_ref());
            self.scope.sample = Some(sample);
            let replies = self.converse(text, context)?;
            let reply = replies.last().ok_or("no reply")?;
            outcomes.entry(outcome(reply)?).or_default().push(name);
        }
        self.scope.sample = None;
        let lines: Vec<String> = outcomes
            .iter()
            .map(|(outcome, types)| format!("{outcome}: {}", types.join(" ")))
            .collect();
        Ok(lines.join("\n"))
    }

    /// An expression of a script, which may be any value.
    fn evaluate(&mut self, verb: &str, text: &str) -> Result<String> {
        let (expression, rest) = syntax::value(text, &self.scope)?;
        if !rest.is_empty() {
            return Err(format!("expected the end at {rest:?}").into());
        }
        self.connection("")?;
        let connection = self.connections.get_mut("").ok_or("no connection")?;
        // The expression is told again, so that a long list of them can be read.
        match verb {
            "kinds" => {
                let kinds = self.evaluation.kinds(connection, &expression)?;
                Ok(format!("{text}\n  {}", kinds.replace('\n', "\n  ")))
            }
            _ => Ok(format!("{text} = {}", self.evaluation.one(connection, &expression)?)),
        }
    }

    fn fill(&mut self, text: &str) -> Result<String> {
        let (collection, text) = text.split_once(' ').ok_or("fill COLLECTION COUNT DOCUMENT")?;
        let (count, text) = text.trim().split_once(' ').ok_or("fill COLLECTION COUNT DOCUMENT")?;
        let count: i64 = count.parse()?;
        let mut documents = Vec::new();
        for index in 0..count {
            self.scope.index = Some(index);
            documents.push(syntax::document(text, &self.scope)?);
        }
        self.scope.index = None;
        let database = self.database.clone();
        for batch in documents.chunks(FILL_BATCH_DOCUMENTS) {
            let mut array = bson::RawArrayBuf::new();
            batch.iter().for_each(|document| array.push(document.clone()));
            let insert =
                rawdoc! { "insert": collection, "documents": array, "$db": database.as_str() };
            let reply = self.connection("")?.command(&insert)?;
            if outcome(&reply)? != "ok" || reply.get("writeErrors")?.is_some() {
                return print::reply(&reply, &[]);
            }
        }
        Ok(String::new())
    }
}

/// Whether an error says that the other side has closed the connection.
fn is_end(error: &Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|it| matches!(it.kind(), BrokenPipe | ConnectionReset | UnexpectedEof))
}

/// `ok`, or the code of the error.
fn outcome(reply: &RawDocument) -> Result<String> {
    let mut error = reply.get("code")?;
    if error.is_none()
        && let Some(RawBsonRef::Array(errors)) = reply.get("writeErrors")?
        && let Some(RawBsonRef::Document(first)) = errors.get(0)?
    {
        error = first.get("code")?;
    }
    Ok(match error {
        Some(RawBsonRef::Int32(code)) => format!("error {code}"),
        _ => "ok".to_owned(),
    })
}

impl goldenscript::Runner for Script {
    type Command = Command;

    fn run(&mut self, command: &Command, context: &Context) -> Result<String> {
        let line = command.name.trim();
        if let Some((verb @ ("eval" | "kinds"), text)) = line.split_once(' ') {
            return self.evaluate(verb, text);
        }
        let (verb, text) = match line.find('{') {
            Some(brace) => line.split_at(brace),
            None => (line, ""),
        };
        let (verb, options) = verb.trim().split_once(' ').unwrap_or((verb.trim(), ""));
        match verb {
            "" => {
                let replies = self.converse(text, context)?;
                let cursors = &self.scope.cursors;
                let texts = replies.iter().map(|reply| print::reply(reply, cursors));
                Ok(texts.collect::<Result<Vec<_>>>()?.join("\n"))
            }
            "show" => {
                let paths: Vec<&str> =
                    options.split([',', ' ']).filter(|s| !s.is_empty()).collect();
                let replies = self.converse(text, context)?;
                let texts = replies.iter().map(|reply| match reply.get("code") {
                    Ok(None) => print::selected(reply, &paths, &self.scope.cursors),
                    _ => print::reply(reply, &self.scope.cursors),
                });
                Ok(texts.collect::<Result<Vec<_>>>()?.join("\n"))
            }
            "types" => {
                let replies = self.converse(text, context)?;
                let texts = replies.iter().map(|reply| print::types(reply));
                Ok(texts.collect::<Result<Vec<_>>>()?.join("\n"))
            }
            "given" => {
                self.evaluation.given(syntax::document(text, &self.scope)?);
                Ok(String::new())
            }
            "collation" => {
                self.evaluation.collation(syntax::document(text, &self.scope)?);
                Ok(String::new())
            }
            "change" => Ask::new(self, text, context)?.change(),
            "match" => Ask::new(self, text, context)?.matches(options.trim()),
            "project" => Ask::new(self, text, context)?.project(),
            "upsert" => Ask::new(self, text, context)?.upsert(),
            "each" => match options.trim().strip_prefix("on ") {
                Some(collection) => self.each(&pipe::command(collection.trim(), text), context),
                None => self.each(text, context),
            },
            "on" => {
                let replies = self.converse(&pipe::command(options.trim(), text), context)?;
                let texts = replies.iter().map(|reply| pipe::shown(reply, &self.scope.cursors));
                Ok(texts.collect::<Result<Vec<_>>>()?.join("\n"))
            }
            "later" => {
                self.send(text, context)?;
                Ok(String::new())
            }
            "reply" => {
                let name = context.prefix.clone().unwrap_or_default();
                let reply = self.connection(&name)?.receive()?.1;
                print::reply(&reply, &self.scope.cursors)
            }
            "waits" => {
                self.until_waiting(context)?;
                Ok(String::new())
            }
            "lost" => self.lose(text, context),
            "fill" => self.fill(line["fill".len()..].trim_start()),
            "sleep" => {
                std::thread::sleep(Duration::from_millis(options.trim().parse()?));
                Ok(String::new())
            }
            verb => Err(Error::from(format!("no such verb {verb:?}"))),
        }
    }
}
