//! The names that a projection may give fields.

use error::{Code, Result};
use value::Path;

/// Paths deeper than a stored document are refused.
const COMPONENTS_MAX: usize = 200;

/// A dotted path whose components are proper field names.
pub fn parse(text: &str) -> Result<Path> {
    if text.is_empty() {
        return Err(
            Code::location(40352).error("FieldPath cannot be constructed with empty string")
        );
    }
    if text.ends_with('.') {
        return Err(Code::location(40353).error("FieldPath must not end with a '.'."));
    }
    let path = Path::new(text);
    if path.len() > COMPONENTS_MAX {
        return Err(Code::Overflow.error("FieldPath is too long"));
    }
    path.components().try_for_each(check_name)?;
    Ok(path)
}

fn check_name(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Code::location(15998).error("FieldPath field names may not be empty strings."));
    }
    if name.starts_with('$') && !matches!(name, "$db" | "$id" | "$ref") {
        return Err(Code::location(16410).error(
            "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
        ));
    }
    Ok(())
}
