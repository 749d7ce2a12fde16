//! The arguments that every command takes: session and transaction, concerns,
//! time limit, comment, read preference, API version.
//!
//! The server reads them once, before it dispatches; the views pass over them.

mod concern;
mod stable;

use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Error, Result};
use std::time::{SystemTime, UNIX_EPOCH};

pub use concern::{Acknowledgement, ReadConcern, ReadLevel, WriteConcern};

use crate::fields::{Field, Fields, Scope};
use crate::namespace::check_database;
use crate::{Command, Request};

/// The longest time limit, which is MongoDB's int32.
const MAX_TIME_MS_MAX: i64 = i32::MAX as i64;
/// How far a client's `$clusterTime` may be ahead of the wall clock: a year, as in MongoDB.
const CLOCK_DRIFT_SECONDS_MAX: u64 = 31_536_000;
/// A replica cannot tell how stale it is more exactly than that.
const MAX_STALENESS_SECONDS_MIN: i64 = 90;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Common<'a> {
    pub database: &'a str,
    /// `lsid.id`.
    pub session: Option<[u8; 16]>,
    pub txn_number: Option<i64>,
    /// False in a multi-document transaction; true is refused.
    pub autocommit: Option<bool>,
    pub start_transaction: bool,
    pub read_concern: Option<ReadConcern>,
    pub write_concern: Option<WriteConcern<'a>>,
    pub max_time_ms: Option<u32>,
    pub comment: Option<RawBsonRef<'a>>,
    pub read_preference: Option<ReadPreference>,
    pub api: Option<Api>,
    /// Whether a find shows documents as they are stored.
    pub raw_data: bool,
    /// Whether only the command's help is wanted.
    pub help: bool,
}

/// The versioned API that the client declared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Api {
    pub strict: bool,
    pub deprecation_errors: bool,
}

/// One server answers every mode; the mode is kept for `explain` and logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadPreference {
    Primary,
    PrimaryPreferred,
    Secondary,
    SecondaryPreferred,
    Nearest,
}

/// Whether a name is an argument of every command.
pub fn is_generic(name: &str) -> bool {
    matches!(
        name,
        "$audit"
            | "$client"
            | "$clusterTime"
            | "$configServerState"
            | "$configTime"
            | "$db"
            | "$oplogQueryData"
            | "$queryOptions"
            | "$readPreference"
            | "$replData"
            | "$tenant"
            | "$topologyTime"
            | "allowImplicitCollectionCreation"
            | "apiDeprecationErrors"
            | "apiStrict"
            | "apiVersion"
            | "autocommit"
            | "clientOperationKey"
            | "comment"
            | "coordinator"
            | "databaseVersion"
            | "expectPrefix"
            | "help"
            | "lsid"
            | "maxTimeMS"
            | "maxTimeMSOpOnly"
            | "mayBypassWriteBlocking"
            | "rawData"
            | "readConcern"
            | "requestGossipRoutingCache"
            | "serialization_context"
            | "shardVersion"
            | "startOrContinueTransaction"
            | "startTransaction"
            | "stmtId"
            | "tracking_info"
            | "txnNumber"
            | "txnRetryCounter"
            | "usesDefaultMaxTimeMS"
            | "versionContext"
            | "writeConcern"
    )
}

impl<'a> Common<'a> {
    /// Reads and checks the arguments of a request for `command`.
    pub fn parse(request: &'a Request, command: &Command) -> Result<Common<'a>> {
        let mut reading = Reading { common: Common::default(), api: ApiFields::default() };
        let scope = Scope::new(command.name);
        let mut named_database = false;
        for element in value::elements(request.body()).skip(1) {
            let field = Field::new(element, &scope);
            match element.key {
                "$db" => {
                    reading.common.database = database(&field)?;
                    named_database = true;
                }
                name if is_generic(name) => reading.take(&field)?,
                _ => {}
            }
        }
        if !named_database {
            return Err(Code::location(40571).error("OP_MSG requests require a $db argument"));
        }
        check_database(reading.common.database)?;
        let mut common = reading.common;
        common.api = reading.api.check()?;
        common.check_session()?;
        common.check_command(command)?;
        if common.api.is_some_and(|api| api.strict) {
            stable::check(command.name, request.body())?;
        }
        Ok(common)
    }

    /// Whether the command is part of a multi-document transaction.
    pub fn in_transaction(&self) -> bool {
        self.autocommit == Some(false)
    }

    fn check_session(&self) -> Result<()> {
        if let Some(number) = self.txn_number {
            if self.session.is_none() {
                return Err(options(
                    "Transaction number requires a session ID to also be specified",
                ));
            }
            if number < 0 {
                return Err(options("Transaction number cannot be negative"));
            }
        }
        if let Some(autocommit) = self.autocommit {
            if self.txn_number.is_none() {
                return Err(options(
                    "'autocommit' field requires a transaction number to also be specified",
                ));
            }
            if autocommit {
                return Err(options("Specifying autocommit=true is not allowed."));
            }
        } else if self.start_transaction {
            return Err(options(
                "'startTransaction' field requires 'autocommit' field to also be specified",
            ));
        }
        Ok(())
    }

    fn check_command(&self, command: &Command) -> Result<()> {
        if self.help {
            return Ok(());
        }
        if command.admin_only && self.database != "admin" {
            return Err(Code::Unauthorized
                .error(format!("{} may only be run against the admin database.", command.name)));
        }
        if let Some(api) = self.api
            && api.strict
            && !command.stable
        {
            return Err(Code::APIStrictError.error(format!(
                "Provided apiStrict:true, but the command {} is not in API Version 1. \
                 Information on supported commands and migrations in API Version 1 can be found \
                 at https://dochub.mongodb.org/core/manual-versioned-api",
                command.name
            )));
        }
        if self.write_concern.is_some() && !command.write_concern {
            return Err(options("Command does not support writeConcern"));
        }
        if let Some(concern) = &self.read_concern
            && concern.level != ReadLevel::Local
            && !command.read_concern
            && !self.start_transaction
        {
            return Err(options(&format!(
                "Command {} does not support {{ readConcern: {{ level: \"{}\", provenance: \
                 \"clientSupplied\" }} }} :: caused by :: read concern not supported",
                command.name,
                concern.level.name()
            )));
        }
        if self.in_transaction() {
            return self.check_transaction(command);
        }
        if self.read_concern.is_some_and(|concern| concern.level == ReadLevel::Snapshot)
            && !matches!(command.name, "aggregate" | "distinct" | "find" | "getMore")
        {
            return Err(options(&format!(
                "read concern snapshot is not supported by the {} command",
                command.name
            )));
        }
        if self.txn_number.is_some() && !command.retryable {
            return Err(Code::NotARetryableWriteCommand.error(format!(
                "txnNumber may only be provided for multi-document transactions and retryable \
                 write commands. autocommit:false was not provided, and {} is not a retryable \
                 write command.",
                command.name
            )));
        }
        Ok(())
    }

    fn check_transaction(&self, command: &Command) -> Result<()> {
        let refused =
            |message: String| Err(Code::OperationNotSupportedInTransaction.error(message));
        if !command.in_transaction {
            return refused(format!(
                "Cannot run '{}' in a multi-document transaction.",
                command.name
            ));
        }
        let ends = command.kind == crate::table::Kind::Session;
        if matches!(self.database, "admin" | "config" | "local") && !command.admin_only {
            return refused(format!(
                "Cannot run command against the '{}' database in a transaction.",
                self.database
            ));
        }
        if self.start_transaction {
            match command.name {
                "killCursors" => {
                    return refused(
                        "Cannot run killCursors as the first operation in a multi-document \
                         transaction."
                            .to_owned(),
                    );
                }
                "commitTransaction" => {
                    return refused("Cannot start a transaction with a commit".to_owned());
                }
                "abortTransaction" => {
                    return refused("Cannot start a transaction with an abort".to_owned());
                }
                _ => {}
            }
        }
        if let Some(concern) = &self.read_concern
            && matches!(concern.level, ReadLevel::Available | ReadLevel::Linearizable)
        {
            return Err(options(
                "The readConcern level must be either 'local' (default), 'majority' or 'snapshot' \
                 in order to run in a transaction",
            ));
        }
        if self.read_concern.is_some() && !self.start_transaction {
            return Err(options(
                "Only the first command in a transaction may specify a readConcern",
            ));
        }
        if self.write_concern.is_some() && !ends {
            return Err(options(
                "writeConcern is not allowed within a multi-statement transaction",
            ));
        }
        Ok(())
    }
}

struct Reading<'a> {
    common: Common<'a>,
    api: ApiFields,
}

impl<'a> Reading<'a> {
    fn take(&mut self, field: &Field<'a, '_>) -> Result<()> {
        let common = &mut self.common;
        match field.name() {
            "apiVersion" => {
                if let Some(version) = field.string()? {
                    if version != "1" {
                        return Err(Code::APIVersionError.error("API version must be \"1\""));
                    }
                    self.api.version = true;
                }
            }
            "apiStrict" => self.api.strict = field.boolean()?,
            "apiDeprecationErrors" => self.api.deprecation_errors = field.boolean()?,
            "lsid" => common.session = session(field)?,
            "txnNumber" => common.txn_number = field.long()?,
            "autocommit" => common.autocommit = field.boolean()?,
            "startTransaction" => match field.boolean()? {
                Some(false) => {
                    return Err(options("Specifying startTransaction=false is not allowed."));
                }
                start => common.start_transaction = start == Some(true),
            },
            "readConcern" => common.read_concern = ReadConcern::parse(field)?,
            "writeConcern" => common.write_concern = WriteConcern::parse(field)?,
            "maxTimeMS" => common.max_time_ms = max_time_ms(field)?,
            "comment" => common.comment = Some(field.value()),
            "$readPreference" => common.read_preference = read_preference(field)?,
            "$clusterTime" => {
                if let Some(gossip) = field.object()? {
                    check_cluster_time(gossip)?;
                }
            }
            "help" => common.help = field.boolean()?.unwrap_or(false),
            "allowImplicitCollectionCreation"
            | "coordinator"
            | "expectPrefix"
            | "mayBypassWriteBlocking"
            | "startOrContinueTransaction"
            | "usesDefaultMaxTimeMS" => {
                field.boolean()?;
            }
            "rawData" => common.raw_data = field.boolean_not_null()?,
            "$audit" | "$client" | "$configServerState" | "$queryOptions" | "tracking_info" => {
                field.object()?;
            }
            "clientOperationKey" => {
                field.uuid()?;
            }
            "maxTimeMSOpOnly" => {
                field.exact_int64()?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The clock does not follow what clients say, but a time that cannot be is refused.
fn check_cluster_time(gossip: &RawDocument) -> Result<()> {
    let Some(field) = value::element::get(gossip, "clusterTime") else { return Ok(()) };
    let RawBsonRef::Timestamp(given) = field.value() else {
        return Field::new(field, &Scope::new("$clusterTime")).timestamp().map(|_| ());
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    if u64::from(given.time) <= now.saturating_add(CLOCK_DRIFT_SECONDS_MAX) {
        return Ok(());
    }
    Err(Code::ClusterTimeFailsRateLimiter.error(format!(
        "New cluster time, {}, is too far from this node's wall clock time.",
        given.time
    )))
}

#[derive(Default)]
struct ApiFields {
    version: bool,
    strict: Option<bool>,
    deprecation_errors: Option<bool>,
}

impl ApiFields {
    fn check(self) -> Result<Option<Api>> {
        if self.version {
            return Ok(Some(Api {
                strict: self.strict.unwrap_or(false),
                deprecation_errors: self.deprecation_errors.unwrap_or(false),
            }));
        }
        let without = |name: &str| {
            Err(Code::location(4886600)
                .error(format!("Provided {name} without passing apiVersion")))
        };
        match (self.strict, self.deprecation_errors) {
            (Some(_), _) => without("apiStrict"),
            (None, Some(_)) => without("apiDeprecationErrors"),
            (None, None) => Ok(None),
        }
    }
}

fn database<'a>(field: &Field<'a, '_>) -> Result<&'a str> {
    field.value().as_str().ok_or_else(|| field.wrong_type(&[ElementType::String]))
}

/// `{id: <UUID>, uid: <digest>}`: what drivers and `startSession` send.
pub(crate) fn session_id(document: &RawDocument, scope: Scope<'_>) -> Result<[u8; 16]> {
    let mut id = None;
    let mut fields = Fields::of_document(document, scope);
    while let Some(field) = fields.next()? {
        match field.name() {
            "id" | "txnUUID" => {
                let uuid = field.uuid()?;
                if field.name() == "id" {
                    id = uuid;
                }
            }
            "uid" => {
                if field.value().as_binary().is_none() && !field.is_absent() {
                    return Err(field.wrong_type(&[ElementType::Binary]));
                }
            }
            "txnNumber" => {
                field.long()?;
            }
            _ => return Err(field.unknown()),
        }
    }
    fields.required(id, "id")
}

/// The session that a command names, if it does.
pub fn session_of(request: &Request) -> Option<[u8; 16]> {
    let session = value::element::get(request.body(), "lsid")?.value().as_document()?;
    session_id(session, Scope::new("lsid")).ok()
}

fn session(field: &Field<'_, '_>) -> Result<Option<[u8; 16]>> {
    match field.object()? {
        Some(document) => session_id(document, field.scope()).map(Some),
        None => Ok(None),
    }
}

fn max_time_ms(field: &Field<'_, '_>) -> Result<Option<u32>> {
    let value = field.exact_int64()?;
    let value = field.at_least(value, 0)?;
    let value = field.at_most(value, MAX_TIME_MS_MAX)?;
    Ok(value.and_then(|value| u32::try_from(value).ok()))
}

fn read_preference(field: &Field<'_, '_>) -> Result<Option<ReadPreference>> {
    let Some(document) = field.object()? else { return Ok(None) };
    let mut mode = None;
    let mut fields = Fields::of_document(document, Scope::new("readPreference"));
    while let Some(field) = fields.next()? {
        match field.name() {
            "mode" => {
                mode = field.choice(&[
                    ("primary", ReadPreference::Primary),
                    ("primaryPreferred", ReadPreference::PrimaryPreferred),
                    ("secondary", ReadPreference::Secondary),
                    ("secondaryPreferred", ReadPreference::SecondaryPreferred),
                    ("nearest", ReadPreference::Nearest),
                ])?;
            }
            "tags" => {
                field.objects()?;
            }
            "maxStalenessSeconds" => {
                let staleness = field.count()?.unwrap_or(0);
                if (1..MAX_STALENESS_SECONDS_MIN).contains(&staleness) {
                    return Err(Code::MaxStalenessOutOfRange.error(format!(
                        "maxStalenessSeconds value can not be less than \
                         {MAX_STALENESS_SECONDS_MIN}"
                    )));
                }
            }
            "hedge" => {
                field.object()?;
            }
            "$_isPretargeted" => {}
            _ => return Err(field.unknown()),
        }
    }
    fields.required(mode, "mode").map(Some)
}

fn options(message: &str) -> Error {
    Code::InvalidOptions.error(message)
}

#[cfg(test)]
mod tests;
