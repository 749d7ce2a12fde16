//! `killCursors`.

use bson::spec::ElementType;
use error::Result;

use crate::fields::{self, Field, Fields};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct KillCursors {
    pub namespace: Namespace,
    pub cursors: Vec<i64>,
}

impl KillCursors {
    pub fn parse(request: &Request) -> Result<KillCursors> {
        let namespace = fields::namespace(request)?;
        let mut cursors = None;
        let mut fields = Fields::of_command(request, "killCursors")?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "cursors" => cursors = ids(&field)?,
                _ => return Err(field.unknown()),
            }
        }
        let cursors = fields.required(cursors, "cursors")?;
        Ok(KillCursors { namespace, cursors })
    }
}

fn ids(field: &Field<'_, '_>) -> Result<Option<Vec<i64>>> {
    let Some(array) = field.array()? else { return Ok(None) };
    let scope = field.scope();
    let mut ids = Vec::new();
    for element in value::element::array_elements(array) {
        let entry = Field::new(element, &scope);
        match entry.long()? {
            Some(id) => ids.push(id),
            None => return Err(entry.wrong_type(&[ElementType::Int64])),
        }
    }
    Ok(Some(ids))
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::{doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        KillCursors::parse(request).map(|_| ())
    }

    #[test]
    fn cursors_are_longs() {
        let body = rawdoc! { "killCursors": "c", "$db": "d", "cursors": [1_i64, 2_i64] };
        assert_eq!(KillCursors::parse(&Request::from(body)).unwrap().cursors, [1, 2]);
        let base = doc! { "killCursors": "c", "$db": "d", "cursors": [1_i64] };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[("killCursors", "string symbol", 73), ("cursors", "array null", 14)],
        );
        check_codes(parse, &base, &[(doc! { "cursors": [1] }, 14)]);
        assert_eq!(code(parse, &doc! { "killCursors": "c", "$db": "d" }), 40414);
    }
}
