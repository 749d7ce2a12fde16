//! From a document to its index keys.
