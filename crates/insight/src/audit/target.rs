//! What kind of server the target is, and what it cannot take.

use bson::Document;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    MongoDb,
    AzureDocumentDb,
    Freeboard,
}

/// The limits of a kind of server.
#[derive(Debug)]
pub struct Limits {
    pub document_bytes: u64,
    /// Collections of the whole deployment: what it refuses to pass, what it is advised not to.
    pub collections_max: Option<u64>,
    pub collections_advised: Option<u64>,
    /// Indexes of a collection, likewise.
    pub indexes_max: u64,
    pub indexes_advised: u64,
    /// Whether a validator is kept as the server comes.
    pub validators_enforced: bool,
    /// Whether `$sample` reads a small sample without a scan.
    pub samples_cheaply: bool,
}

const DOCUMENT_BYTES: u64 = 16 * 1024 * 1024;

const MONGODB: Limits = Limits {
    document_bytes: DOCUMENT_BYTES,
    collections_max: None,
    collections_advised: Some(10_000),
    indexes_max: 64,
    indexes_advised: 30,
    validators_enforced: true,
    samples_cheaply: true,
};

const AZURE_DOCUMENTDB: Limits = Limits {
    collections_max: Some(1_000),
    collections_advised: Some(1_000),
    validators_enforced: false,
    ..MONGODB
};

const FREEBOARD: Limits = Limits { collections_advised: None, samples_cheaply: false, ..MONGODB };

impl Target {
    pub const ALL: &[Target] = &[Target::MongoDb, Target::AzureDocumentDb, Target::Freeboard];

    pub fn name(self) -> &'static str {
        match self {
            Target::MongoDb => "mongodb",
            Target::AzureDocumentDb => "azure-documentdb",
            Target::Freeboard => "freeboard",
        }
    }

    pub fn limits(self) -> &'static Limits {
        match self {
            Target::MongoDb => &MONGODB,
            Target::AzureDocumentDb => &AZURE_DOCUMENTDB,
            Target::Freeboard => &FREEBOARD,
        }
    }

    /// What a server is, by what it answers to `buildInfo` and `hello`, and its address.
    pub fn detect(build_info: &Document, hello: &Document, address: &str) -> Target {
        let git = build_info.get_str("gitVersion").unwrap_or("");
        if git.starts_with("freeboard") {
            return Target::Freeboard;
        }
        // Only its gateway says so, with its version in it or nothing.
        let documentdb = hello.get_document("internal").is_ok();
        if documentdb || address.contains(".cosmos.azure.com") {
            return Target::AzureDocumentDb;
        }
        Target::MongoDb
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    #[test]
    fn servers_are_known_by_what_they_answer() {
        let of = |build: Document, hello: Document| Target::detect(&build, &hello, "127.0.0.1:1");
        assert_eq!(of(doc! { "gitVersion": "freeboard 1" }, doc! {}), Target::Freeboard);
        assert_eq!(
            of(doc! { "version": "7.0.0" }, doc! { "internal": {} }),
            Target::AzureDocumentDb
        );
        assert_eq!(of(doc! { "gitVersion": "abc" }, doc! { "ok": 1 }), Target::MongoDb);
        let address = "shop.mongocluster.cosmos.azure.com:10260";
        assert_eq!(Target::detect(&doc! {}, &doc! {}, address), Target::AzureDocumentDb);
    }
}
