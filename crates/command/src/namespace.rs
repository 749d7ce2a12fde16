//! `database.collection`, checked.
//!
//! MongoDB reads from almost any name and creates only under stricter rules, so
//! there are two checks: [`Namespace::new`], which every command passes, and
//! [`Namespace::check_create`] and [`Namespace::check_write`] for what changes
//! data.

use error::{Code, Error, Result};

/// The longest database name.
pub const DATABASE_BYTES_MAX: usize = 63;

/// The longest `database.collection` a user may create.
pub const NAMESPACE_BYTES_MAX: usize = 255;

/// What an aggregation without a collection runs on.
pub const COLLECTIONLESS: &str = "$cmd.aggregate";

/// The collection of each database that keeps its growth policies.
pub const POLICIES: &str = "freeboard.policies";

const BUCKETS_PREFIX: &str = "system.buckets.";

/// System collections a client may create and write, by database; `None` stands
/// for every database.
const CLIENT_SYSTEM_COLLECTIONS: &[(Option<&str>, &str)] = &[
    (Some("admin"), "system.backup_users"),
    (Some("admin"), "system.keys"),
    (Some("admin"), "system.new_users"),
    (Some("admin"), "system.roles"),
    (Some("admin"), "system.version"),
    (Some("config"), "system.indexBuilds"),
    (Some("config"), "system.preimages"),
    (Some("config"), "system.sessions"),
    (Some("local"), "system.healthlog"),
    (Some("local"), "system.replset"),
    (None, "system.js"),
    (None, "system.users"),
    (None, "system.views"),
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace {
    pub database: Box<str>,
    pub collection: Box<str>,
}

impl Namespace {
    /// Checks both names against MongoDB's rules (code 73).
    pub fn new(database: &str, collection: &str) -> Result<Namespace> {
        check_database(database)?;
        if collection.contains('\0') {
            return Err(invalid("namespaces cannot have embedded null characters"));
        }
        if collection.starts_with('.') {
            return Err(invalid(format!("Collection names cannot start with '.': {collection}")));
        }
        if collection.is_empty() {
            return Err(invalid(format!("Invalid namespace specified '{database}.'")));
        }
        Ok(Namespace { database: database.into(), collection: collection.into() })
    }

    /// Splits `database.collection` at the first dot, then as `new`.
    pub fn parse(full: &str) -> Result<Namespace> {
        let Some((database, collection)) = full.split_once('.') else {
            return Err(invalid(format!("Invalid namespace specified '{full}'")));
        };
        if database.is_empty() {
            return Err(invalid(format!("Invalid namespace specified '{full}'")));
        }
        Namespace::new(database, collection)
    }

    /// Whether a user may create a collection or view of this name.
    pub fn check_create(&self) -> Result<()> {
        let (database, collection) = (&*self.database, &*self.collection);
        if database.contains('$') {
            return Err(invalid(format!("Invalid namespace: {self}")));
        }
        if collection.contains('$') {
            return Err(invalid(format!("Invalid collection name: {self}")));
        }
        if self.is_profile() {
            return Ok(());
        }
        if self.is_policies() {
            return Err(invalid(format!(
                "{self} holds the growth policies; use setGrowthPolicy and dropGrowthPolicy"
            )));
        }
        if self.is_system() && !self.is_client_system() {
            return Err(invalid(format!("Invalid system namespace: {self}")));
        }
        let length = database.len() + 1 + collection.len();
        if length > NAMESPACE_BYTES_MAX {
            return Err(invalid(format!(
                "Fully qualified namespace is too long. Namespace: {self} Max: {NAMESPACE_BYTES_MAX}"
            )));
        }
        if collection.contains(".system.") {
            return Err(Code::BadValue.error(format!("Invalid namespace: {self}")));
        }
        Ok(())
    }

    /// Whether a user may write to this collection.
    pub fn check_write(&self) -> Result<()> {
        if self.is_profile() || self.is_views() {
            return Err(invalid(format!("cannot write to {self}")));
        }
        self.check_create()
    }

    /// `{aggregate: 1}`: no collection at all.
    pub fn is_collectionless(&self) -> bool {
        &*self.collection == COLLECTIONLESS
    }

    /// `system.…`: kept by the server, left out of user counts.
    pub fn is_system(&self) -> bool {
        self.collection.starts_with("system.")
    }

    /// Where `profile` records operations.
    pub fn is_profile(&self) -> bool {
        &*self.collection == "system.profile"
    }

    /// Where a database's growth policies are kept.
    pub fn is_policies(&self) -> bool {
        &*self.collection == POLICIES
    }

    /// Where view definitions are listed.
    pub fn is_views(&self) -> bool {
        &*self.collection == "system.views"
    }

    fn is_client_system(&self) -> bool {
        if let Some(series) = self.collection.strip_prefix(BUCKETS_PREFIX) {
            return !series.is_empty();
        }
        CLIENT_SYSTEM_COLLECTIONS.iter().any(|(database, collection)| {
            *collection == &*self.collection
                && database.is_none_or(|database| database == &*self.database)
        })
    }
}

/// Checks a database name (code 73). `$` is allowed, as in `$external`; creating
/// in such a database is not.
pub fn check_database(database: &str) -> Result<()> {
    let forbidden = |c: char| matches!(c, '\0' | '/' | '\\' | '.' | ' ' | '"');
    if database.is_empty() || database.len() > DATABASE_BYTES_MAX || database.contains(forbidden) {
        return Err(invalid(format!("Invalid database name: '{database}'")));
    }
    Ok(())
}

fn invalid(message: impl Into<String>) -> Error {
    Code::InvalidNamespace.error(message)
}

impl std::fmt::Display for Namespace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.database, self.collection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn namespace(database: &str, collection: &str) -> Namespace {
        Namespace::new(database, collection).unwrap()
    }

    #[test]
    fn database_names_follow_the_rules() {
        for name in ["a", "a-b", "$external", "ünï", &"d".repeat(63)] {
            assert!(check_database(name).is_ok(), "{name}");
        }
        for name in ["", "a.b", "a b", "a/b", "a\\b", "a\"b", "a\0b", &"d".repeat(64)] {
            assert_eq!(check_database(name).unwrap_err().code().number(), 73, "{name}");
        }
    }

    #[test]
    fn collection_names_follow_the_rules_of_reading() {
        for name in ["c", "a.b", "c.", "$cmd", "system.profile", "ends."] {
            assert!(Namespace::new("d", name).is_ok(), "{name}");
        }
        for name in ["", ".c", "c\0"] {
            assert_eq!(Namespace::new("d", name).unwrap_err().code().number(), 73, "{name}");
        }
    }

    #[test]
    fn creating_is_stricter_than_reading() {
        for name in ["c", "a.b", "system.js", "system.views", "system.profile", "system.buckets.x"]
        {
            assert!(namespace("d", name).check_create().is_ok(), "{name}");
        }
        for name in ["$cmd", "a$b", "system.foo", "system.buckets.", "system."] {
            let error = namespace("d", name).check_create().unwrap_err();
            assert_eq!(error.code().number(), 73, "{name}");
        }
        assert_eq!(namespace("d", "a.system.b").check_create().unwrap_err().code().number(), 2);
        assert_eq!(namespace("$d", "c").check_create().unwrap_err().code().number(), 73);
        assert!(namespace("config", "system.sessions").check_create().is_ok());
        assert!(namespace("d", "system.sessions").check_create().is_err());
    }

    #[test]
    fn the_whole_namespace_has_a_length() {
        assert!(namespace("d", &"c".repeat(253)).check_create().is_ok());
        assert!(namespace("d", &"c".repeat(254)).check_create().is_err());
    }

    #[test]
    fn the_server_keeps_profile_and_views_to_itself() {
        for name in ["system.profile", "system.views"] {
            let error = namespace("d", name).check_write().unwrap_err();
            assert_eq!(error.message(), format!("cannot write to d.{name}"));
        }
        assert!(namespace("d", "system.js").check_write().is_ok());
    }

    #[test]
    fn a_full_name_splits_at_its_first_dot() {
        assert_eq!(Namespace::parse("d.a.b").unwrap(), namespace("d", "a.b"));
        for full in ["", "d", "d.", ".c"] {
            assert_eq!(Namespace::parse(full).unwrap_err().code().number(), 73, "{full}");
        }
    }
}
