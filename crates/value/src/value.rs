//! A value that is either still in its document or computed.

use bson::{RawBson, RawBsonRef};

#[derive(Debug, Clone)]
pub enum Value<'a> {
    Ref(RawBsonRef<'a>),
    Own(RawBson),
}

impl Value<'_> {
    pub fn get(&self) -> RawBsonRef<'_> {
        match self {
            Value::Ref(value) => *value,
            Value::Own(value) => value.as_raw_bson_ref(),
        }
    }
}
