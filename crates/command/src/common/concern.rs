//! Read concern and write concern.

use bson::{RawBsonRef, RawDocument, Timestamp};
use error::{Code, Result};

use crate::fields::{Field, Fields, Scope, safe_i64, type_name};

/// The most members a replica set can have, and so the largest `w`.
const MEMBERS_MAX: i64 = 50;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadConcern {
    pub level: ReadLevel,
    pub after_cluster_time: Option<Timestamp>,
    pub at_cluster_time: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReadLevel {
    #[default]
    Local,
    Available,
    Majority,
    Linearizable,
    Snapshot,
}

const LEVELS: &[(&str, ReadLevel)] = &[
    ("local", ReadLevel::Local),
    ("available", ReadLevel::Available),
    ("majority", ReadLevel::Majority),
    ("linearizable", ReadLevel::Linearizable),
    ("snapshot", ReadLevel::Snapshot),
];

impl ReadLevel {
    pub fn name(self) -> &'static str {
        LEVELS.iter().find(|(_, level)| *level == self).map_or("local", |(name, _)| name)
    }
}

impl ReadConcern {
    pub(super) fn parse(field: &Field<'_, '_>) -> Result<Option<ReadConcern>> {
        let Some(document) = field.object()? else { return Ok(None) };
        let mut concern = ReadConcern::default();
        let mut given = false;
        let mut fields = Fields::of_document(document, Scope::new("readConcern"));
        while let Some(field) = fields.next()? {
            given = true;
            match field.name() {
                "level" => concern.level = field.choice(LEVELS)?.unwrap_or_default(),
                "afterClusterTime" => concern.after_cluster_time = field.timestamp()?,
                "atClusterTime" => concern.at_cluster_time = field.timestamp()?,
                "afterOpTime" | "provenance" | "$_allowTransactionTableSnapshot" => {}
                _ => return Err(field.unknown()),
            }
        }
        concern.check()?;
        Ok(given.then_some(concern))
    }

    fn check(&self) -> Result<()> {
        let fail = |message: &str| Err(Code::InvalidOptions.error(message));
        if self.after_cluster_time.is_some() && self.at_cluster_time.is_some() {
            return fail(
                "Specifying a timestamp for readConcern snapshot in a causally consistent session \
                 is not allowed.",
            );
        }
        let causal =
            matches!(self.level, ReadLevel::Local | ReadLevel::Majority | ReadLevel::Snapshot);
        if self.after_cluster_time.is_some() && !causal {
            return fail(
                "afterClusterTime field can be set only if level is equal to majority, local, or \
                 snapshot",
            );
        }
        if self.at_cluster_time.is_some() && self.level != ReadLevel::Snapshot {
            return fail("atClusterTime field can be set only if level is equal to snapshot");
        }
        let zero = Some(Timestamp { time: 0, increment: 0 });
        if self.at_cluster_time == zero {
            return fail("atClusterTime cannot be a null timestamp");
        }
        if self.after_cluster_time == zero {
            return fail("afterClusterTime cannot be a null timestamp");
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WriteConcern<'a> {
    pub w: Acknowledgement<'a>,
    /// `j`, or `fsync: true` as its old spelling.
    pub journal: Option<bool>,
    pub timeout_ms: i64,
}

/// Who must have a write before it is acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Acknowledgement<'a> {
    /// No `w` was given: the server's default.
    #[default]
    Default,
    Members(u8),
    Majority,
    /// A concern that a replica set defines; none does here.
    Named(&'a str),
    /// A number of members for each tag.
    Tags(&'a RawDocument),
}

impl<'a> WriteConcern<'a> {
    pub(super) fn parse(field: &Field<'a, '_>) -> Result<Option<WriteConcern<'a>>> {
        let Some(document) = field.object()? else { return Ok(None) };
        if document.is_empty() {
            return Ok(None);
        }
        let mut concern = WriteConcern::default();
        let (mut journal, mut fsync) = (None, None);
        let mut fields = Fields::of_document(document, Scope::new("writeConcern"));
        while let Some(field) = fields.next()? {
            match field.name() {
                "w" => concern.w = acknowledgement(&field)?,
                "j" => journal = field.safe_bool()?,
                "fsync" => fsync = field.safe_bool()?,
                "wtimeout" => concern.timeout_ms = timeout(&field)?,
                "getLastError" | "wElectionId" | "wOpTime" => {}
                "provenance" => {
                    field.string()?;
                }
                _ => return Err(field.unknown()),
            }
        }
        if journal == Some(true) && fsync == Some(true) {
            return Err(Code::FailedToParse.error("fsync and j options cannot be used together"));
        }
        concern.journal = if fsync == Some(true) { fsync } else { journal };
        Ok(Some(concern))
    }

    /// Whether the client wants no answer.
    pub fn is_unacknowledged(&self) -> bool {
        self.w == Acknowledgement::Members(0) && self.journal != Some(true)
    }
}

fn acknowledgement<'a>(field: &Field<'a, '_>) -> Result<Acknowledgement<'a>> {
    let fail = |message: String| Err(Code::FailedToParse.error(message));
    match field.value() {
        RawBsonRef::String("majority") => Ok(Acknowledgement::Majority),
        RawBsonRef::String(name) => Ok(Acknowledgement::Named(name)),
        RawBsonRef::Document(tags) if tags.is_empty() => {
            fail("tagged write concern requires tags".to_owned())
        }
        RawBsonRef::Document(tags) => {
            match value::elements(tags).find(|tag| safe_i64(tag.value()).is_none()) {
                Some(tag) => fail(format!(
                    "tags must be a number; found: {} for tag {}",
                    type_name(tag.kind),
                    tag.key
                )),
                None => Ok(Acknowledgement::Tags(tags)),
            }
        }
        _ if field.is_absent() => Ok(Acknowledgement::Default),
        value => match safe_i64(value) {
            Some(count @ 0..=MEMBERS_MAX) => Ok(Acknowledgement::Members(count as u8)),
            Some(_) => fail(format!(
                "w has to be a non-negative number and not greater than {MEMBERS_MAX}"
            )),
            None => fail(format!(
                "w has to be a number, string, or object; found: {}",
                type_name(field.kind())
            )),
        },
    }
}

/// `wtimeout` takes any number, and anything else as no limit.
fn timeout(field: &Field<'_, '_>) -> Result<i64> {
    let Some(timeout) = safe_i64(field.value()) else {
        return Ok(0);
    };
    if timeout > i64::from(i32::MAX) {
        return Err(Code::FailedToParse
            .error(format!("wtimeout must be a 32-bit integer, but found: {timeout}")));
    }
    Ok(timeout)
}
