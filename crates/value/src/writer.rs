//! Building raw documents and arrays by appending, elements copied as bytes.

use crate::Element;
use bson::{RawArrayBuf, RawBsonRef, RawDocumentBuf};

/// Appends fields to a document; sub-documents are written in place.
#[derive(Debug, Default)]
pub struct DocumentWriter {
    bytes: Vec<u8>,
}

impl DocumentWriter {
    pub fn new() -> Self {
        todo!()
    }

    pub fn append(&mut self, key: &str, value: RawBsonRef<'_>) {
        let _ = (key, value, &self.bytes);
        todo!()
    }

    /// Copies an element, key and all.
    pub fn copy(&mut self, element: Element<'_>) {
        self.copy_as(element.key, element);
    }

    /// Copies an element's value under another key.
    pub fn copy_as(&mut self, key: &str, element: Element<'_>) {
        let _ = (key, element);
        todo!()
    }

    /// Opens a sub-document; what is appended next goes into it until `end`.
    pub fn begin_document(&mut self, key: &str) {
        let _ = key;
        todo!()
    }

    /// Opens an array; its elements are appended with `begin`/`append` under
    /// keys "0", "1", … given by the caller.
    pub fn begin_array(&mut self, key: &str) {
        let _ = key;
        todo!()
    }

    /// Closes the innermost open sub-document or array.
    pub fn end(&mut self) {
        todo!()
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.len() <= 4
    }

    pub fn finish(self) -> RawDocumentBuf {
        todo!()
    }
}

/// Appends values to an array, numbering them.
#[derive(Debug, Default)]
pub struct ArrayWriter {}

impl ArrayWriter {
    pub fn new() -> Self {
        todo!()
    }

    pub fn push(&mut self, value: RawBsonRef<'_>) {
        let _ = value;
        todo!()
    }

    pub fn copy(&mut self, element: Element<'_>) {
        let _ = element;
        todo!()
    }

    pub fn finish(self) -> RawArrayBuf {
        todo!()
    }
}
