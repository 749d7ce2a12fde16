//! The `wildcardProjection` of a compound wildcard index, which must keep clear of its other
//! fields.

use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Error, Result};

use super::key::is_wildcard;
use crate::fields::{is_true, safe_f64, type_name};

/// A path by its parts, so that paths sort part by part.
type Path<'a> = Vec<&'a str>;

pub(super) fn check(key: &RawDocument, projection: &RawDocument) -> Result<()> {
    let names = value::elements(key).map(|element| element.key);
    let fields = sorted(names.filter(|name| !is_wildcard(name)));
    for element in value::elements(projection) {
        check_value(element.key, element.value(), element.kind)?;
    }
    let of = |wanted: bool| {
        let chosen = value::elements(projection).filter(|it| is_true(it.value()) == wanted);
        sorted(chosen.map(|element| element.key))
    };
    let (included, excluded) = (of(true), of(false));
    check_overlap(&included)?;
    check_overlap(&excluded)?;
    check_included(&fields, &included)?;
    check_excluded(&fields, &excluded)?;
    let is_id = |paths: &[Path<'_>]| matches!(paths, [only] if *only == ["_id"]);
    if !included.is_empty() && !excluded.is_empty() && !is_id(&included) && !is_id(&excluded) {
        return Err(refused(
            7246211,
            "Inclusion and exclusion statements cannot combine in the wildcardProjection with an \
             exception of explicitly including _id field",
        ));
    }
    Ok(())
}

fn check_value(name: &str, value: RawBsonRef<'_>, kind: ElementType) -> Result<()> {
    match kind == ElementType::Boolean || safe_f64(value).is_some() {
        true => Ok(()),
        false => Err(refused(
            7246207,
            &format!(
                "Fields in wildcardProjection must be numbers, however '{name}' is a {}.",
                type_name(kind)
            ),
        )),
    }
}

fn check_overlap(paths: &[Path<'_>]) -> Result<()> {
    match paths.windows(2).find(|pair| pair[1].starts_with(&pair[0])) {
        Some(pair) => Err(refused(
            7246200,
            &format!(
                "Fields in Wildcard Projection cannot overlap, however '{}' is overlapped with '{}'",
                pair[0].join("."),
                pair[1].join(".")
            ),
        )),
        None => Ok(()),
    }
}

fn check_included(fields: &[Path<'_>], included: &[Path<'_>]) -> Result<()> {
    match fields.iter().find(|field| included.iter().any(|path| field.starts_with(path))) {
        Some(field) => Err(refused(
            7246208,
            &format!(
                "Index Key and Wildcard Projection cannot contain overlapping fields, however '{}' \
                 is in both",
                field.join(".")
            ),
        )),
        None => Ok(()),
    }
}

/// Where anything is left out, the index's other fields are.
fn check_excluded(fields: &[Path<'_>], excluded: &[Path<'_>]) -> Result<()> {
    let covered = |field: &&Path<'_>| excluded.iter().any(|path| field.starts_with(path));
    match fields.iter().find(|field| !covered(field)) {
        Some(field) if !excluded.is_empty() => {
            let code = if excluded.iter().any(|path| path > field) { 7246209 } else { 7246210 };
            let words = format!(
                "wildcardProjection paths must exclude all regular index fields, however '{}' is \
                 not excluded.",
                field.join(".")
            );
            Err(refused(code, &words))
        }
        _ => Ok(()),
    }
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Path<'a>> {
    let mut paths: Vec<Path<'a>> = names.map(|name| name.split('.').collect()).collect();
    paths.sort_unstable();
    paths
}

fn refused(code: i32, words: &str) -> Error {
    Code::location(code).error(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn the_other_fields_are_left_out_and_nothing_overlaps() {
        let key = rawdoc! { "a": 1, "$**": 1, "b.c": -1 };
        for (projection, code) in [
            (rawdoc! { "x": 1 }, None),
            (rawdoc! { "x": true, "_id": 1 }, None),
            (rawdoc! { "a": 0, "b": 0 }, None),
            (rawdoc! { "a": 0, "b.c": 0, "_id": 1 }, None),
            (rawdoc! { "x": "y" }, Some(7246207)),
            (rawdoc! { "x": { "y": 1 } }, Some(7246207)),
            (rawdoc! { "x": 1, "x.y": 1 }, Some(7246200)),
            (rawdoc! { "a": 1 }, Some(7246208)),
            (rawdoc! { "b": 1 }, Some(7246208)),
            (rawdoc! { "b.c.d": 1 }, None),
            (rawdoc! { "x": 0 }, Some(7246209)),
            (rawdoc! { "a": 0 }, Some(7246210)),
            (rawdoc! { "a": 0, "b": 0, "x": 1 }, Some(7246211)),
        ] {
            let found = check(&key, &projection).err().map(|error| error.code());
            assert_eq!(found, code.map(Code::location), "{projection:?}");
        }
    }
}
