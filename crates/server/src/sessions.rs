//! Lists of sessions in the commands that name them. Only their form is checked
//! so far: no session keeps anything that ending it would free.

use bson::RawDocument;
use bson::spec::ElementType;
use command::Request;
use command::fields::{Fields, Scope, objects, wrong_type};
use error::Result;

/// Checks that a command has no fields beside its list, and each entry of it.
pub(crate) fn check(
    request: &Request,
    name: &'static str,
    entry: fn(&RawDocument, Scope<'_>) -> Result<()>,
) -> Result<()> {
    let mut fields = Fields::of_command(request, name)?;
    if let Some(field) = fields.next()? {
        return Err(field.unknown());
    }
    let scope = Scope::new(name);
    let path = scope.path(name);
    let Some(list) = value::elements(request.body()).next() else {
        return Err(wrong_type(&path, ElementType::Null, &[ElementType::Array]));
    };
    for document in objects(list.value(), list.kind, &path)? {
        entry(document, Scope::within(name, &scope))?;
    }
    Ok(())
}

/// `{id: UUID, uid: BinData}`.
pub(crate) fn session(document: &RawDocument, scope: Scope<'_>) -> Result<()> {
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
    fields.required(id, "id")?;
    Ok(())
}

/// `{user: "name", db: "name"}`.
pub(crate) fn user(document: &RawDocument, scope: Scope<'_>) -> Result<()> {
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

/// `{lsid: session, uid: BinData, users: [...], roles: [...]}`, all optional.
pub(crate) fn pattern(document: &RawDocument, scope: Scope<'_>) -> Result<()> {
    let mut fields = Fields::of_document(document, scope);
    while let Some(field) = fields.next()? {
        match field.name() {
            "lsid" => {
                if let Some(lsid) = field.object()? {
                    session(lsid, field.scope())?;
                }
            }
            "uid" if field.kind() == ElementType::Binary => {}
            "uid" => return Err(field.wrong_type(&[ElementType::Binary])),
            "users" | "roles" => {
                field.objects()?;
            }
            _ => return Err(field.unknown()),
        }
    }
    Ok(())
}
