//! One index as `createIndexes` describes it, checked.

mod compound;
mod key;
mod options;

use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use value::DocumentWriter;
use value::text::document as show;

use super::create::is_id_key;

#[derive(Debug, Clone)]
pub struct IndexSpec<'a> {
    pub key: &'a RawDocument,
    pub name: &'a str,
    pub kind: IndexKind,
    pub version: i32,
    pub unique: bool,
    pub sparse: Option<bool>,
    pub hidden: bool,
    pub background: Option<bool>,
    pub prepare_unique: bool,
    pub clustered: bool,
    pub partial_filter: Option<&'a RawDocument>,
    pub expire_after_seconds: Option<i32>,
    pub storage_engine: Option<&'a RawDocument>,
    pub collation: Option<&'a RawDocument>,
    pub wildcard_projection: Option<&'a RawDocument>,
    pub spec: &'a RawDocument,
    pub unknown: Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// Keys in BSON order.
    Ordered,
    Hashed,
    Wildcard,
}

/// What becomes of options that no index has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    Refused,
    /// As `mongorestore` asks for, which brings what older servers took.
    Ignored,
}

impl<'a> IndexSpec<'a> {
    /// Checks one specification; the error names it.
    pub fn parse(spec: &'a RawDocument) -> Result<IndexSpec<'a>> {
        IndexSpec::parse_with(spec, Unknown::Refused)
    }

    /// The same, with a choice for options that no index has.
    pub fn parse_with(spec: &'a RawDocument, unknown: Unknown) -> Result<IndexSpec<'a>> {
        let parsed = options::read(spec, unknown)
            .map_err(|error| error.context(&format!("Error in specification {}", show(spec))))?;
        if is_id_key(parsed.key) {
            parsed.check_id_index()?;
        } else {
            parsed.check_name()?;
        }
        parsed.check_agreement()?;
        Ok(parsed)
    }

    /// The rules of the `_id` index (197, 2).
    pub fn check_id_index(&self) -> Result<()> {
        if !self.clustered {
            const ALLOWED: &[&str] = &["collation", "key", "name", "ns", "v", "_id"];
            let mut options = value::elements(self.spec).filter(|it| self.is_read(it.key));
            if let Some(other) = options.find(|element| !ALLOWED.contains(&element.key)) {
                return Err(Code::InvalidIndexSpecificationOption.error(format!(
                    "The field '{}' is not valid for an _id index specification. Specification: {}",
                    other.key,
                    show(self.spec)
                )));
            }
        }
        if !is_id_key(self.key) {
            return Err(Code::BadValue.error(format!(
                "The field 'key' for an _id index must be {{_id: 1}}, but got {}",
                show(self.key)
            )));
        }
        Ok(())
    }

    /// Whether an option is not ignored.
    fn is_read(&self, option: &str) -> bool {
        self.unknown == Unknown::Refused || options::is_known(self.spec, option)
    }

    fn check_name(&self) -> Result<()> {
        match self.name {
            "_id_" => Err(Code::BadValue.error(format!(
                "The index name '_id_' is reserved for the _id index, which must have key pattern \
                 {{_id: 1}}, found key: {}",
                show(self.key)
            ))),
            "*" => Err(Code::BadValue.error("The index name '*' is not valid.")),
            "" => Err(cannot("cannot create index with empty name string")),
            name if name.contains('\0') => {
                Err(cannot("index names cannot have embedded null characters"))
            }
            _ => Ok(()),
        }
    }

    fn check_agreement(&self) -> Result<()> {
        if self.unique && self.prepare_unique {
            return Err(cannot(format!(
                "Invalid index specification {}; cannot create an index with the 'unique' option \
                 and the 'prepareUnique' option",
                show(self.spec)
            )));
        }
        if self.sparse == Some(true) && self.partial_filter.is_some() {
            return Err(cannot("cannot mix \"partialFilterExpression\" and \"sparse\" options"));
        }
        if self.collation.is_some() && self.version < 2 {
            return Err(cannot(format!(
                "Invalid index specification {}; cannot create an index with the 'collation' \
                 option and v={}",
                show(self.spec),
                self.version
            )));
        }
        if self.expire_after_seconds.is_some() && value::elements(self.key).nth(1).is_some() {
            return Err(cannot(format!(
                "TTL indexes are single-field indexes, compound indexes do not support TTL. Index \
                 spec: {}",
                show(self.spec)
            )));
        }
        match self.kind {
            IndexKind::Ordered => Ok(()),
            IndexKind::Hashed if self.unique => Err(Code::location(16764).error(
                "Currently hashed indexes cannot guarantee uniqueness. Use a regular index.",
            )),
            IndexKind::Hashed => Ok(()),
            IndexKind::Wildcard => self.check_wildcard(),
        }
    }

    fn check_wildcard(&self) -> Result<()> {
        let given = [
            ("sparse", self.sparse == Some(true)),
            ("unique", self.unique),
            ("expireAfterSeconds", self.expire_after_seconds.is_some()),
            ("clustered", self.clustered),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                Err(cannot(format!("Index type 'wildcard' does not support the '{option}' option")))
            }
            None if self.version < 2 => Err(cannot(format!(
                "Index type 'wildcard' is not allowed with index version v: {}",
                self.version
            ))),
            None => Ok(()),
        }
    }

    /// The specification as it is kept and listed: `v`, `key`, `name`, and then
    /// the options that were given, in MongoDB's order.
    pub fn normalized(&self) -> RawDocumentBuf {
        let mut writer = DocumentWriter::new();
        writer.append_i32("v", self.version);
        writer.append_document("key", self.key);
        writer.append_str(
            "name",
            if is_id_key(self.key) && !self.clustered { "_id_" } else { self.name },
        );
        if let Some(background) = self.background {
            writer.append_bool("background", background);
        }
        if self.unique {
            writer.append_bool("unique", true);
        }
        if self.hidden {
            writer.append_bool("hidden", true);
        }
        if let Some(filter) = self.partial_filter {
            writer.append_document("partialFilterExpression", filter);
        }
        if let Some(sparse) = self.sparse {
            writer.append_bool("sparse", sparse);
        }
        if let Some(seconds) = self.expire_after_seconds {
            writer.append_i32("expireAfterSeconds", seconds);
        }
        if let Some(storage_engine) = self.storage_engine {
            writer.append_document("storageEngine", storage_engine);
        }
        if let Some(collation) = self.collation {
            writer.append_document("collation", collation);
        }
        if let Some(projection) = self.wildcard_projection {
            writer.append_document("wildcardProjection", projection);
        }
        if self.clustered {
            writer.append_bool("clustered", true);
        }
        if self.prepare_unique {
            writer.append_bool("prepareUnique", true);
        }
        writer.finish()
    }
}

fn cannot(message: impl Into<String>) -> Error {
    Code::CannotCreateIndex.error(message)
}

#[cfg(test)]
mod tests;
