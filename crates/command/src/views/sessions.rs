//! The commands about sessions: `endSessions`, `killSessions`, `refreshSessions`,
//! `killAllSessions`.

use bson::RawDocument;
use bson::spec::ElementType;
use error::Result;

use crate::common::session_id;
use crate::fields::{Field, Fields, Scope};
use crate::{Command, Request};

/// Sessions by their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sessions {
    pub ids: Vec<[u8; 16]>,
}

/// Sessions of users; none stands for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KillAllSessions<'a> {
    /// User and database.
    pub users: Vec<(&'a str, &'a str)>,
}

impl Sessions {
    /// For any command whose first field is an array of session ids.
    pub fn parse(request: &Request, command: &Command) -> Result<Sessions> {
        let scope = Scope::new(command.name);
        let within = Scope::within(command.name, &scope);
        let mut ids = Vec::new();
        for document in first_array(request, &scope)? {
            ids.push(session_id(document, within)?);
        }
        no_fields(request, command.name)?;
        Ok(Sessions { ids })
    }
}

impl<'a> KillAllSessions<'a> {
    pub fn parse(request: &'a Request) -> Result<KillAllSessions<'a>> {
        let scope = Scope::new("killAllSessions");
        let mut users = Vec::new();
        for document in first_array(request, &scope)? {
            let (mut user, mut database) = (None, None);
            let mut fields =
                Fields::of_document(document, Scope::within("killAllSessions", &scope));
            while let Some(field) = fields.next()? {
                match field.name() {
                    "user" => user = field.string()?,
                    "db" => database = field.string()?,
                    _ => return Err(field.unknown()),
                }
            }
            users.push((fields.required(user, "user")?, fields.required(database, "db")?));
        }
        no_fields(request, "killAllSessions")?;
        Ok(KillAllSessions { users })
    }
}

fn first_array<'a>(request: &'a Request, scope: &Scope<'_>) -> Result<Vec<&'a RawDocument>> {
    let Some(first) = value::elements(request.body()).next() else { return Ok(Vec::new()) };
    let field = Field::new(first, scope);
    field.objects()?.ok_or_else(|| field.wrong_type(&[ElementType::Array]))
}

fn no_fields(request: &Request, command: &'static str) -> Result<()> {
    match Fields::of_command(request, command)?.next()? {
        Some(field) => Err(field.unknown()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::command;
    use bson::{Uuid, doc};

    fn end(request: &Request) -> Result<()> {
        Sessions::parse(request, command("endSessions").unwrap()).map(|_| ())
    }

    fn kill_all(request: &Request) -> Result<()> {
        KillAllSessions::parse(request).map(|_| ())
    }

    #[test]
    fn sessions_are_named() {
        let id = Uuid::new();
        let request = request(&doc! { "endSessions": [{ "id": id }], "$db": "admin" });
        let sessions = Sessions::parse(&request, command("endSessions").unwrap()).unwrap();
        assert_eq!(sessions.ids, [id.bytes()]);
        let base = doc! { "endSessions": [{ "id": id }], "$db": "admin" };
        check_strict(end, &base);
        check_fields(end, &base, &[("endSessions", "array", 14)]);
        check_codes(
            end,
            &base,
            &[
                (doc! { "endSessions": [{}] }, 40414),
                (doc! { "endSessions": [{ "id": 1 }] }, 14),
                (doc! { "endSessions": [1] }, 14),
            ],
        );
    }

    #[test]
    fn users_are_named() {
        let base = doc! { "killAllSessions": [{ "user": "u", "db": "d" }], "$db": "admin" };
        check_strict(kill_all, &base);
        check_codes(
            kill_all,
            &base,
            &[
                (doc! { "killAllSessions": [] }, 0),
                (doc! { "killAllSessions": [{ "user": "u" }] }, 40414),
                (doc! { "killAllSessions": 1 }, 14),
            ],
        );
    }
}
