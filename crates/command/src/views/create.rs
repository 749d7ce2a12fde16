//! `create`.

use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Error, Result};

use super::{IndexSpec, Timeseries};
use crate::fields::{self, Field, Fields, is_true, out_of_range, safe_i64};
use crate::{Namespace, Request};

/// The largest `size` of a capped collection: 1 PB.
const CAPPED_BYTES_MAX: i64 = 1 << 50;

/// `max` of a capped collection stays under this.
const CAPPED_DOCUMENTS_END: i64 = 1 << 31;

/// The only version of a clustered index.
const CLUSTERED_INDEX_VERSION: i32 = 2;

#[derive(Debug, Clone)]
pub struct Create<'a> {
    pub namespace: Namespace,
    pub capped: bool,
    pub size: Option<i64>,
    pub max: Option<i64>,
    pub validator: Option<&'a RawDocument>,
    pub validation_level: Option<ValidationLevel>,
    pub validation_action: Option<ValidationAction>,
    pub view_on: Option<&'a str>,
    pub pipeline: Option<Vec<&'a RawDocument>>,
    pub collation: Option<&'a RawDocument>,
    pub timeseries: Option<Timeseries<'a>>,
    pub clustered_index: Option<ClusteredIndex<'a>>,
    pub expire_after_seconds: Option<i64>,
    pub id_index: Option<&'a RawDocument>,
    pub storage_engine: Option<&'a RawDocument>,
    pub index_option_defaults: Option<&'a RawDocument>,
    /// `changeStreamPreAndPostImages.enabled`.
    pub pre_and_post_images: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValidationLevel {
    Off,
    Strict,
    Moderate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValidationAction {
    Error,
    Warn,
    ErrorAndLog,
}

/// A collection kept in the order of `_id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusteredIndex<'a> {
    pub name: Option<&'a str>,
}

impl ValidationLevel {
    pub(super) fn parse(field: &Field<'_, '_>) -> Result<Option<ValidationLevel>> {
        field.choice(&[
            ("off", ValidationLevel::Off),
            ("strict", ValidationLevel::Strict),
            ("moderate", ValidationLevel::Moderate),
        ])
    }
}

impl ValidationAction {
    pub(super) fn parse(field: &Field<'_, '_>) -> Result<Option<ValidationAction>> {
        field.choice(&[
            ("error", ValidationAction::Error),
            ("warn", ValidationAction::Warn),
            ("errorAndLog", ValidationAction::ErrorAndLog),
        ])
    }
}

impl<'a> Create<'a> {
    pub fn parse(request: &'a Request) -> Result<Create<'a>> {
        let mut create = Create::new(fields::namespace(request)?);
        let mut fields = Fields::of_command(request, "create")?;
        while let Some(field) = fields.next()? {
            create.take(&field)?;
        }
        create.namespace.check_create()?;
        create.check_storage()?;
        create.check_timeseries()?;
        create.check_view()?;
        Ok(create)
    }

    fn new(namespace: Namespace) -> Create<'a> {
        Create {
            namespace,
            capped: false,
            size: None,
            max: None,
            validator: None,
            validation_level: None,
            validation_action: None,
            view_on: None,
            pipeline: None,
            collation: None,
            timeseries: None,
            clustered_index: None,
            expire_after_seconds: None,
            id_index: None,
            storage_engine: None,
            index_option_defaults: None,
            pre_and_post_images: None,
        }
    }

    fn take(&mut self, field: &Field<'a, '_>) -> Result<()> {
        match field.name() {
            "capped" => self.capped = field.safe_bool()?.unwrap_or(false),
            "size" => self.size = capped_size(field)?,
            "max" => self.max = capped_max(field)?,
            "validator" => self.validator = field.object()?,
            "validationLevel" => self.validation_level = ValidationLevel::parse(field)?,
            "validationAction" => self.validation_action = ValidationAction::parse(field)?,
            "viewOn" => self.view_on = view_on(field)?,
            "pipeline" => self.pipeline = field.objects()?,
            "collation" => self.collation = collation(field)?,
            "timeseries" => self.timeseries = Timeseries::parse(field)?,
            "clusteredIndex" => self.clustered_index = ClusteredIndex::parse(field)?,
            "expireAfterSeconds" => self.expire_after_seconds = field.safe_int64()?,
            "idIndex" => self.id_index = field.object()?,
            "storageEngine" => self.storage_engine = storage_engine(field)?,
            "indexOptionDefaults" => self.index_option_defaults = index_option_defaults(field)?,
            "changeStreamPreAndPostImages" => self.pre_and_post_images = images(field)?,
            "temp" => {
                if field.safe_bool()? == Some(true) {
                    return Err(options("the 'temp' field is an invalid option"));
                }
            }
            "flags" => {
                field.safe_int64()?;
            }
            "recordIdsReplicated" => {
                if field.safe_bool()? == Some(true) {
                    return Err(Code::CommandNotSupported.error(
                        "'recordIdsReplicated' option may not be run without \
                         featureFlagRecordIdsReplicated enabled",
                    ));
                }
            }
            "encryptedFields" => {
                if field.object()?.is_some() {
                    return Err(Code::location(6346402)
                        .error("Encrypted collections are not supported on standalone"));
                }
            }
            _ => return Err(field.unknown()),
        }
        Ok(())
    }

    fn check_storage(&self) -> Result<()> {
        if self.clustered_index.is_some() {
            self.check_clustered()?;
        } else if self.capped && self.size.is_none() {
            return Err(options("the 'size' field is required when 'capped' is true"));
        } else if (self.size.is_some() || self.max.is_some()) && !self.capped {
            return Err(options(
                "the 'capped' field needs to be true when either the 'size' or 'max' fields are \
                 present",
            ));
        }
        if self.expire_after_seconds.is_some()
            && self.timeseries.is_none()
            && self.clustered_index.is_none()
        {
            return Err(options(
                "'expireAfterSeconds' is only supported on time-series collections or when the \
                     'clusteredIndex' option is specified",
            ));
        }
        if let Some(spec) = self.id_index {
            IndexSpec::parse(spec)?.check_id_index()?;
        }
        Ok(())
    }

    fn check_clustered(&self) -> Result<()> {
        let refuse = |code, words: &str| Err(Code::location(code).error(words));
        if self.size.is_some() {
            return refuse(
                6049200,
                "the 'size' field for capped collections is not allowed on clustered collections",
            );
        }
        if self.max.is_some() {
            return refuse(
                6049204,
                "the 'max' field for capped collections is not allowed on clustered collections",
            );
        }
        if self.capped {
            return refuse(
                6127800,
                "Clustered capped collection only available with 'enableTestCommands' server \
                 parameter",
            );
        }
        if self.id_index.is_some() {
            return Err(options("The 'clusteredIndex' option is not supported with 'idIndex'"));
        }
        Ok(())
    }

    fn check_view(&self) -> Result<()> {
        if self.view_on.is_none() {
            if self.pipeline.is_some() {
                return Err(options("'pipeline' requires 'viewOn' to also be specified"));
            }
            return Ok(());
        }
        if self.namespace.is_system() {
            return Err(Code::InvalidNamespace.error(
                "View name cannot start with 'system.', which is reserved for system namespaces",
            ));
        }
        if self.id_index.is_some() {
            return Err(options("'idIndex' is not allowed with 'viewOn'"));
        }
        if self.clustered_index.is_some() {
            return Err(Code::location(6026500)
                .error("The 'clusteredIndex' option is not supported with views"));
        }
        // Other options of collections mean nothing for a view; MongoDB ignores them, too.
        match self.pre_and_post_images {
            Some(true) => {
                Err(options("option not supported on a view: changeStreamPreAndPostImages"))
            }
            _ => Ok(()),
        }
    }

    fn check_timeseries(&self) -> Result<()> {
        if self.timeseries.is_none() {
            return Ok(());
        }
        let given = [
            ("capped", self.capped),
            ("viewOn", self.view_on.is_some()),
            ("validator", self.validator.is_some()),
            ("validationLevel", self.validation_level.is_some()),
            ("validationAction", self.validation_action.is_some()),
            ("clusteredIndex", self.clustered_index.is_some()),
            ("idIndex", self.id_index.is_some()),
            ("changeStreamPreAndPostImages", self.pre_and_post_images.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(options(&format!(
                "{}: 'timeseries' is not allowed with '{name}'",
                self.namespace
            ))),
            None => Ok(()),
        }
    }
}

impl<'a> ClusteredIndex<'a> {
    fn parse(field: &Field<'a, '_>) -> Result<Option<ClusteredIndex<'a>>> {
        let spec = match field.value() {
            RawBsonRef::Document(spec) => spec,
            RawBsonRef::Boolean(_) => return legacy_clustered(is_true(field.value())),
            value if safe_i64(value).is_some() => return legacy_clustered(is_true(value)),
            _ if field.is_absent() => return Ok(None),
            _ => {
                return Err(field.wrong_type(&[
                    ElementType::Boolean,
                    ElementType::Int64,
                    ElementType::Int32,
                    ElementType::Decimal128,
                    ElementType::Double,
                    ElementType::EmbeddedDocument,
                ]));
            }
        };
        let (mut version, mut name, mut key, mut unique) = (None, None, None, None);
        let mut fields = Fields::of_document(spec, field.scope());
        while let Some(field) = fields.next()? {
            match field.name() {
                "v" => version = field.safe_int()?,
                "key" => key = field.object()?,
                "name" => name = field.string()?,
                "unique" => unique = field.safe_bool()?,
                _ => return Err(field.unknown()),
            }
        }
        let (key, unique) = (fields.required(key, "key")?, fields.required(unique, "unique")?);
        if !unique {
            return Err(Code::location(5979700)
                .error("The clusteredIndex option requires unique: true to be specified"));
        }
        if !is_id_key(key) {
            return Err(Code::InvalidIndexSpecificationOption
                .error("The clusteredIndex option is only supported for key: {_id: 1}"));
        }
        if let Some(version) = version.filter(|version| *version != CLUSTERED_INDEX_VERSION) {
            return Err(Code::location(5979704).error(format!(
                "Invalid clusteredIndex specification; cannot create a clusteredIndex with \
                 v={version}"
            )));
        }
        Ok(Some(ClusteredIndex { name }))
    }
}

/// `clusteredIndex: true` is for collections that MongoDB makes for itself.
fn legacy_clustered(clustered: bool) -> Result<Option<ClusteredIndex<'static>>> {
    if clustered {
        return Err(Code::location(5979703).error(
            "The 'clusteredIndex' legacy format {clusteredIndex: <bool>} is only supported for \
             specific internal collections",
        ));
    }
    Ok(None)
}

/// Exactly `{_id: 1}`.
pub(super) fn is_id_key(key: &RawDocument) -> bool {
    let mut elements = value::elements(key);
    match (elements.next(), elements.next()) {
        (Some(only), None) => only.key == "_id" && fields::safe_f64(only.value()) == Some(1.0),
        _ => false,
    }
}

/// The bytes of a capped collection.
pub(super) fn capped_size(field: &Field<'_, '_>) -> Result<Option<i64>> {
    let size = field.safe_int64()?;
    let size = field.at_least(size, 1)?;
    field.at_most(size, CAPPED_BYTES_MAX)
}

/// The documents of a capped collection.
pub(super) fn capped_max(field: &Field<'_, '_>) -> Result<Option<i64>> {
    match field.safe_int64()? {
        Some(max) if max >= CAPPED_DOCUMENTS_END => {
            Err(out_of_range(field.name(), "<", CAPPED_DOCUMENTS_END, max))
        }
        max => Ok(max),
    }
}

/// The name of a view's source, which may not be empty.
pub(super) fn view_on<'a>(field: &Field<'a, '_>) -> Result<Option<&'a str>> {
    match field.string()? {
        Some("") => Err(Code::BadValue.error("'viewOn' cannot be empty")),
        name => Ok(name),
    }
}

/// A collation names its locale, if it is given at all.
fn collation<'a>(field: &Field<'a, '_>) -> Result<Option<&'a RawDocument>> {
    match field.object()? {
        Some(collation) if collation.is_empty() => Err(Code::IDLFailedToParse
            .error("BSON field 'create.collation.locale' is missing but a required field")),
        collation => Ok(collation),
    }
}

/// Options for storage engines, of which this server takes those of MongoDB's own.
fn storage_engine<'a>(field: &Field<'a, '_>) -> Result<Option<&'a RawDocument>> {
    let engines = field.object()?;
    for engine in engines.into_iter().flat_map(value::elements) {
        if engine.as_document().is_none() {
            return Err(Code::BadValue
                .error(format!("'storageEngine.{}' has to be an embedded document.", engine.key)));
        }
        if engine.key != "wiredTiger" {
            return Err(options(&format!(
                "{} is not a registered storage engine for this server",
                engine.key
            )));
        }
    }
    Ok(engines)
}

fn index_option_defaults<'a>(field: &Field<'a, '_>) -> Result<Option<&'a RawDocument>> {
    let Some(document) = field.object()? else { return Ok(None) };
    let mut fields = Fields::of_document(document, field.scope());
    while let Some(field) = fields.next()? {
        match field.name() {
            "storageEngine" => {
                field.object()?;
            }
            _ => return Err(field.unknown()),
        }
    }
    Ok(Some(document))
}

/// `changeStreamPreAndPostImages: {enabled}`.
pub(super) fn images(field: &Field<'_, '_>) -> Result<Option<bool>> {
    let Some(document) = field.object()? else { return Ok(None) };
    let mut enabled = None;
    let mut fields = Fields::of_document(document, field.scope());
    while let Some(field) = fields.next()? {
        match field.name() {
            "enabled" => enabled = field.boolean()?,
            _ => return Err(field.unknown()),
        }
    }
    fields.required(enabled, "enabled").map(Some)
}

fn options(message: &str) -> Error {
    Code::InvalidOptions.error(message)
}

#[cfg(test)]
#[path = "create_tests.rs"]
mod tests;
