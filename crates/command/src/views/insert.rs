//! `insert`.

use bson::RawDocument;
use error::Result;

use super::WriteOptions;
use crate::fields::{self, Fields};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct Insert<'a> {
    pub namespace: Namespace,
    pub documents: Vec<&'a RawDocument>,
    pub options: WriteOptions,
}

impl<'a> Insert<'a> {
    pub fn parse(request: &'a Request) -> Result<Insert<'a>> {
        let namespace = fields::namespace(request)?;
        let mut options = WriteOptions::of(request, "insert")?;
        let mut fields = Fields::with_sequences(request, "insert", &["documents"])?;
        while let Some(field) = fields.next()? {
            match field.name() {
                "documents" => {}
                _ => options.take("insert", &field)?,
            }
        }
        let documents = fields.documents(request, "documents")?;
        options.check(documents.len())?;
        Ok(Insert { namespace, documents, options })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::Sequence;
    use bson::{doc, rawdoc};

    fn parse(request: &Request) -> Result<()> {
        Insert::parse(request).map(|_| ())
    }

    #[test]
    fn documents_come_as_a_sequence_too() {
        let documents = rawdoc! { "_id": 1 }.into_bytes().into();
        let body = rawdoc! { "insert": "c", "$db": "d", "ordered": false, "stmtId": 4 };
        let sequence = Sequence { name: "documents".into(), documents };
        let request = Request::new(body.into_bytes().into(), vec![sequence]);
        let insert = Insert::parse(&request).unwrap();
        assert_eq!(insert.documents.len(), 1);
        assert!(!insert.options.ordered);
        assert_eq!(insert.options.statement_at(2), 6);
    }

    #[test]
    fn every_argument_has_its_type() {
        let base = doc! { "insert": "c", "$db": "d", "documents": [{}] };
        check_strict(parse, &base);
        check_fields(
            parse,
            &base,
            &[
                ("insert", "string symbol", 73),
                ("documents", "array null", 14),
                ("ordered", "bool null", 14),
                ("bypassDocumentValidation", "bool number null", 14),
                ("stmtId", "int null", 14),
                ("stmtIds", "array null", 14),
                ("collectionUUID", "binData null", 14),
                ("bypassEmptyTsReplacement", "bool", 14),
            ],
        );
    }

    #[test]
    fn a_batch_has_a_size() {
        check_codes(
            parse,
            &doc! { "insert": "c", "$db": "d" },
            &[
                (doc! {}, 40414),
                (doc! { "documents": bson::Bson::Null }, 40414),
                (doc! { "documents": [] }, 16),
                (doc! { "documents": [1] }, 14),
                (doc! { "documents": [bson::Bson::Null] }, 16),
                (doc! { "documents": vec![doc! {}; 100_000] }, 0),
                (doc! { "documents": vec![doc! {}; 100_001] }, 16),
                (doc! { "documents": [{}], "stmtIds": [1, 2] }, 16),
                (doc! { "documents": [{}], "stmtIds": [1], "stmtId": 1 }, 72),
                (doc! { "documents": [{}], "stmtIds": ["x"] }, 14),
                (doc! { "documents": [{}], "encryptionInformation": {} }, 115),
            ],
        );
    }
}
