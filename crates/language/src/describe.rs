//! Values and types as error messages spell them: `value::text`, cut short.

pub use value::text::{short as value, short_element as element, short_field as field, type_name};
