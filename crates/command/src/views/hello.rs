//! `hello` and `isMaster`.

use bson::oid::ObjectId;
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};

use crate::Request;
use crate::fields::{Field, Fields};

#[derive(Debug, Clone)]
pub struct Hello<'a> {
    /// The driver's metadata, in its first hello.
    pub client: Option<&'a RawDocument>,
    pub compression: Vec<&'a str>,
    /// `database.user` whose mechanisms are wanted.
    pub mechanisms_of: Option<&'a str>,
    pub speculative_authenticate: Option<&'a RawDocument>,
    /// What the client has seen; the answer waits until there is something new.
    pub topology_version: Option<TopologyVersion>,
    pub max_await_ms: Option<i64>,
    /// Whether the client understands `hello` when it says `isMaster`.
    pub hello_ok: bool,
    pub load_balanced: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopologyVersion {
    pub process_id: ObjectId,
    pub counter: i64,
}

impl<'a> Hello<'a> {
    pub fn parse(request: &'a Request) -> Result<Hello<'a>> {
        let mut hello = Hello {
            client: None,
            compression: Vec::new(),
            mechanisms_of: None,
            speculative_authenticate: None,
            topology_version: None,
            max_await_ms: None,
            hello_ok: false,
            load_balanced: false,
        };
        let mut fields = Fields::of_command(request, "hello")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "client" => hello.client = field.object()?,
                "compression" => hello.compression = compressors(&field)?,
                "saslSupportedMechs" => hello.mechanisms_of = user(&field)?,
                "speculativeAuthenticate" => hello.speculative_authenticate = field.object()?,
                "topologyVersion" => hello.topology_version = TopologyVersion::parse(&field)?,
                "maxAwaitTimeMS" => hello.max_await_ms = field.count()?,
                "helloOk" => hello.hello_ok = field.boolean()?.unwrap_or(false),
                "loadBalanced" => hello.load_balanced = field.boolean()?.unwrap_or(false),
                // What the shell and other servers say of themselves.
                "backpressure" | "forShell" | "hangUpOnStepDown" | "hostInfo"
                | "internalClient" => {}
                _ => return Err(field.unknown()),
            }
        }
        hello.check()?;
        Ok(hello)
    }

    fn check(&self) -> Result<()> {
        match (self.topology_version, self.max_await_ms) {
            (Some(_), None) => Err(Code::location(31368)
                .error("A request with a 'topologyVersion' must include 'maxAwaitTimeMS'")),
            (None, Some(_)) => Err(Code::location(31371)
                .error("A request with 'maxAwaitTimeMS' must include a 'topologyVersion'")),
            (Some(version), Some(_)) if version.counter < 0 => {
                Err(Code::location(31372)
                    .error("'topologyVersion' must have a non-negative counter"))
            }
            _ => Ok(()),
        }
    }
}

impl TopologyVersion {
    fn parse(field: &Field<'_, '_>) -> Result<Option<TopologyVersion>> {
        let Some(document) = field.object()? else { return Ok(None) };
        let (mut process_id, mut counter) = (None, None);
        let mut fields = Fields::of_document(document, field.scope());
        while let Some(field) = fields.next()? {
            match field.name() {
                "processId" => match field.value() {
                    RawBsonRef::ObjectId(id) => process_id = Some(id),
                    _ => return Err(field.wrong_type(&[ElementType::ObjectId])),
                },
                "counter" => counter = field.long()?,
                _ => return Err(field.unknown()),
            }
        }
        Ok(Some(TopologyVersion {
            process_id: fields.required(process_id, "processId")?,
            counter: fields.required(counter, "counter")?,
        }))
    }
}

fn compressors<'a>(field: &Field<'a, '_>) -> Result<Vec<&'a str>> {
    let Some(array) = field.array()? else { return Ok(Vec::new()) };
    let scope = field.scope();
    let mut names = Vec::new();
    for element in value::element::array_elements(array) {
        names.extend(Field::new(element, &scope).string()?);
    }
    Ok(names)
}

/// `"database.user"`, or `{user, db}`, which is not a form drivers use.
fn user<'a>(field: &Field<'a, '_>) -> Result<Option<&'a str>> {
    match field.value() {
        RawBsonRef::Document(_) => Ok(None),
        _ => field.string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        Hello::parse(request).map(|_| ())
    }

    #[test]
    fn a_handshake_is_read() {
        let body = rawdoc! {
            "isMaster": 1, "$db": "admin", "helloOk": true, "client": { "driver": {} },
            "compression": ["zstd", "snappy"], "saslSupportedMechs": "admin.root",
        };
        let request = Request::from(body);
        let hello = Hello::parse(&request).unwrap();
        assert!(hello.hello_ok && hello.client.is_some());
        assert_eq!(hello.compression, ["zstd", "snappy"]);
        assert_eq!(hello.mechanisms_of, Some("admin.root"));
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "hello": 1, "$db": "admin" };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("client", "object null", 14),
                ("compression", "array null", 14),
                ("topologyVersion", "object null", 14),
                ("maxAwaitTimeMS", "number null", 14),
                ("helloOk", "bool null", 14),
                ("loadBalanced", "bool null", 14),
            ],
        );
        let version = doc! { "processId": ObjectId::new(), "counter": 0_i64 };
        check_codes(
            parse,
            &base,
            &[
                (doc! { "topologyVersion": version.clone(), "maxAwaitTimeMS": 10 }, 0),
                (doc! { "topologyVersion": version }, 31368),
                (doc! { "maxAwaitTimeMS": 10 }, 31371),
                (doc! { "maxAwaitTimeMS": -1 }, 2),
                (doc! { "topologyVersion": {} }, 40414),
            ],
        );
    }
}
