//! Lists of sessions in the commands that name them.

use bson::RawDocument;
use bson::spec::ElementType;
use error::Result;

use crate::Request;
use crate::fields::{Fields, Scope, objects, wrong_type};

/// The entries of a command's list, which has no fields beside it.
pub fn list<T>(
    request: &Request,
    name: &'static str,
    entry: fn(&RawDocument, Scope<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut fields = Fields::of_command(request, name)?;
    if let Some(field) = fields.next()? {
        return Err(field.unknown());
    }
    let scope = Scope::new(name);
    let path = scope.path(name);
    let Some(list) = value::elements(request.body()).next() else {
        return Err(wrong_type(&path, ElementType::Null, &[ElementType::Array]));
    };
    let entries = objects(list.value(), list.kind, &path)?;
    entries.into_iter().map(|document| entry(document, Scope::within(name, &scope))).collect()
}

/// `{id: UUID, uid: BinData}`.
pub fn session(document: &RawDocument, scope: Scope<'_>) -> Result<[u8; 16]> {
    let mut id = None;
    let mut fields = Fields::of_document(document, scope);
    while let Some(field) = fields.next()? {
        match field.name() {
            "id" => id = field.uuid()?,
            "uid" if field.kind() == ElementType::Binary => {}
            "uid" => return Err(field.wrong_type(&[ElementType::Binary])),
            _ => return Err(field.unknown()),
        }
    }
    fields.required(id, "id")
}

/// `{user: "name", db: "name"}`.
pub fn user(document: &RawDocument, scope: Scope<'_>) -> Result<()> {
    let (mut user, mut database) = (None, None);
    let mut fields = Fields::of_document(document, scope);
    while let Some(field) = fields.next()? {
        match field.name() {
            "user" => user = field.string()?,
            "db" => database = field.string()?,
            _ => return Err(field.unknown()),
        }
    }
    fields.required(user, "user")?;
    fields.required(database, "db")?;
    Ok(())
}

/// Which sessions `killAllSessionsByPattern` is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    All,
    Session([u8; 16]),
    /// Those of some users.
    User,
}

/// `{lsid: session, uid: BinData, users: [...], roles: [...]}`, all optional.
pub fn pattern(document: &RawDocument, scope: Scope<'_>) -> Result<Pattern> {
    let mut pattern = Pattern::All;
    let mut fields = Fields::of_document(document, scope);
    while let Some(field) = fields.next()? {
        match field.name() {
            "lsid" => {
                if let Some(lsid) = field.object()? {
                    pattern = Pattern::Session(session(lsid, field.scope())?);
                }
            }
            "uid" if field.kind() == ElementType::Binary => pattern = Pattern::User,
            "uid" => return Err(field.wrong_type(&[ElementType::Binary])),
            "users" => {
                if field.objects()?.is_some_and(|users| !users.is_empty()) {
                    pattern = Pattern::User;
                }
            }
            "roles" => {
                field.objects()?;
            }
            _ => return Err(field.unknown()),
        }
    }
    Ok(pattern)
}
