//! The key pattern: which fields, in which direction or by which plugin.

use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Error, Result};
use value::Element;

use super::{IndexKind, cannot, show};
use crate::fields::{safe_f64, type_name};

/// The largest key pattern.
const KEY_BYTES_MAX: usize = 2048;

/// The most fields of a compound index.
const KEY_FIELDS_MAX: usize = 32;

/// Checks a key pattern and tells the kind of its index (67, 2).
pub(super) fn check(key: &RawDocument) -> Result<IndexKind> {
    check_unique_names(key)?;
    if key.as_bytes().len() > KEY_BYTES_MAX {
        return Err(cannot("Index key pattern too large."));
    }
    if key.is_empty() {
        return Err(cannot("Index keys cannot be empty."));
    }
    let plugin = plugin(key);
    let kind = kind(plugin)?;
    if kind == IndexKind::Wildcard {
        check_wildcard(key)?;
    }
    for element in value::elements(key) {
        check_value(&element, plugin)?;
        check_path(element.key, kind)?;
    }
    if value::elements(key).count() > KEY_FIELDS_MAX {
        return Err(Code::location(13103).error("too many compound keys"));
    }
    let hashed = value::elements(key).filter(|element| element.value().as_str().is_some()).count();
    if kind == IndexKind::Hashed && hashed > 1 {
        return Err(Code::location(31303).error(format!(
            "A maximum of one index field is allowed to be hashed but found {hashed} for 'key' {}",
            show(key)
        )));
    }
    Ok(kind)
}

fn check_unique_names(key: &RawDocument) -> Result<()> {
    let mut names: Vec<_> = value::elements(key).map(|element| element.key).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Code::BadValue.error(format!(
            "The field '{}' appears multiple times in the index key pattern {}",
            pair[0],
            show(key)
        ))),
        None => Ok(()),
    }
}

/// The plugin a pattern asks for: its first string, or `wildcard` for `$**`.
pub(super) fn plugin(key: &RawDocument) -> Option<&str> {
    value::elements(key).find_map(|element| match element.value() {
        RawBsonRef::String(plugin) => Some(plugin),
        _ if is_wildcard(element.key) => Some("wildcard"),
        _ => None,
    })
}

pub(super) fn is_wildcard(name: &str) -> bool {
    name == "$**" || name.ends_with(".$**")
}

fn kind(plugin: Option<&str>) -> Result<IndexKind> {
    match plugin {
        None => Ok(IndexKind::Ordered),
        Some("hashed") => Ok(IndexKind::Hashed),
        Some("wildcard") => Ok(IndexKind::Wildcard),
        Some("text" | "2d" | "2dsphere") => Err(unsupported(plugin.unwrap_or_default())),
        Some("geoHaystack") => {
            Err(cannot("GeoHaystack indexes cannot be created in version 5.0 and above"))
        }
        Some("") => Err(cannot("Values in the index key pattern cannot be empty strings")),
        Some(other) => Err(cannot(format!("Unknown index plugin '{other}'"))),
    }
}

fn unsupported(plugin: &str) -> Error {
    cannot(format!("Index type '{plugin}' is not supported by this server"))
}

fn check_wildcard(key: &RawDocument) -> Result<()> {
    let wildcards: Vec<_> =
        value::elements(key).map(|element| element.key).filter(|name| is_wildcard(name)).collect();
    let wildcard = match wildcards.as_slice() {
        [wildcard] => wildcard,
        [] => {
            return Err(Code::location(7246202)
                .error("No wildcard index field is specified for the wildcard index"));
        }
        _ => {
            return Err(Code::location(7246201)
                .error("Index Key can contain only one wildcard index field"));
        }
    };
    let root = wildcard.strip_suffix("$**").unwrap_or_default();
    for element in value::elements(key).filter(|element| element.key != *wildcard) {
        let inside = !root.is_empty() && format!("{}.", element.key).starts_with(root);
        if inside {
            return Err(Code::location(7246204).error(format!(
                "A wildcard index field should not overlap with and index key fields if wildcard \
                 projection is empty, however '{}' is overlapping with the wildcard index field.",
                element.key
            )));
        }
    }
    Ok(())
}

fn check_value(element: &Element<'_>, plugin: Option<&str>) -> Result<()> {
    if let Some(direction) = safe_f64(element.value()) {
        if direction.is_nan() {
            return Err(cannot("Values in the index key pattern cannot be NaN."));
        }
        if direction == 0.0 {
            return Err(cannot("Values in the index key pattern cannot be 0."));
        }
        return Ok(());
    }
    let RawBsonRef::String(word) = element.value() else {
        return Err(wrong_value(element.kind));
    };
    if word == "wildcard" {
        return Err(cannot(
            "The key pattern value for an 'wildcard' index must be a non-zero number, not a \
             string.",
        ));
    }
    if plugin != Some(word) {
        return Err(cannot("Can't use more than one index plugin for a single index."));
    }
    Ok(())
}

fn wrong_value(kind: ElementType) -> Error {
    cannot(format!(
        "Values in v:2 index key pattern cannot be of type {}. Only numbers > 0, numbers < 0, and \
         strings are allowed.",
        type_name(kind)
    ))
}

fn check_path(path: &str, kind: IndexKind) -> Result<()> {
    if path.is_empty() {
        return Err(cannot("Index keys cannot be an empty field."));
    }
    if path == "_fts" {
        return Err(cannot("Index key contains an illegal field name: '_fts'"));
    }
    let last = path.split('.').count() - 1;
    for (position, part) in path.split('.').enumerate() {
        if part.is_empty() {
            return Err(cannot("Index keys cannot contain an empty field."));
        }
        let reference = position != 0 && matches!(part, "$db" | "$id" | "$ref");
        let wildcard = position == last && part == "$**" && kind == IndexKind::Wildcard;
        if part.starts_with('$') && !reference && !wildcard {
            return Err(cannot(
                "Index key contains an illegal field name: field name starts with '$'.",
            ));
        }
    }
    Ok(())
}
