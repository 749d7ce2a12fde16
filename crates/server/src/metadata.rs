//! What a driver says about itself in its first hello, checked.

use crate::limits::{APPLICATION_NAME_BYTES_MAX, CLIENT_METADATA_BYTES_MAX};
use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};

/// Checks a client's metadata and returns the name of its application.
pub(crate) fn application(client: &RawDocument) -> Result<Option<String>> {
    if client.as_bytes().len() > CLIENT_METADATA_BYTES_MAX {
        return Err(Code::ClientMetadataDocumentTooLarge.error(format!(
            "The client metadata document must be less then or equal to \
             {CLIENT_METADATA_BYTES_MAX} bytes"
        )));
    }
    let mut name = None;
    if let Some(application) = section(client, "application")? {
        name = text(application, "application", "name")?.map(str::to_owned);
    }
    if let Some(name) = &name
        && name.len() > APPLICATION_NAME_BYTES_MAX
    {
        return Err(Code::ClientMetadataAppNameTooLarge.error(format!(
            "The 'application.name' field must be less then or equal to \
             {APPLICATION_NAME_BYTES_MAX} bytes in the client metadata document"
        )));
    }
    let driver = required(section(client, "driver")?, "sub-document 'driver'")?;
    required(text(driver, "driver", "name")?, "field 'driver.name'")?;
    required(text(driver, "driver", "version")?, "field 'driver.version'")?;
    let os = required(section(client, "os")?, "sub-document 'os'")?;
    required(text(os, "os", "type")?, "field 'os.type'")?;
    Ok(name)
}

fn section<'a>(client: &'a RawDocument, name: &str) -> Result<Option<&'a RawDocument>> {
    match client.get(name) {
        Ok(Some(RawBsonRef::Document(section))) => Ok(Some(section)),
        Ok(None) => Ok(None),
        _ => Err(Code::TypeMismatch.error(format!(
            "The '{name}' field is required to be a BSON document in the client metadata document"
        ))),
    }
}

fn text<'a>(section: &'a RawDocument, outer: &str, name: &str) -> Result<Option<&'a str>> {
    match section.get(name) {
        Ok(Some(RawBsonRef::String(text))) => Ok(Some(text)),
        Ok(None) => Ok(None),
        _ => Err(Code::TypeMismatch.error(format!(
            "The '{outer}.{name}' field must be a string in the client metadata document"
        ))),
    }
}

fn required<T>(found: Option<T>, what: &str) -> Result<T> {
    found.ok_or_else(|| {
        Code::ClientMetadataMissingField
            .error(format!("Missing required {what} in the client metadata document"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{RawDocumentBuf, rawdoc};

    fn code(client: RawDocumentBuf) -> Code {
        application(&client).unwrap_err().code()
    }

    #[test]
    fn a_driver_describes_itself() {
        let driver = rawdoc! { "name": "d", "version": "1" };
        let os = rawdoc! { "type": "Linux" };
        let plain = rawdoc! { "driver": driver.clone(), "os": os.clone(), "more": 1 };
        assert_eq!(application(&plain).unwrap(), None);
        let named = rawdoc! {
            "application": { "name": "shop" }, "driver": driver.clone(), "os": os.clone()
        };
        assert_eq!(application(&named).unwrap().as_deref(), Some("shop"));

        assert_eq!(code(rawdoc! { "os": os.clone() }), Code::ClientMetadataMissingField);
        assert_eq!(code(rawdoc! { "driver": driver.clone() }), Code::ClientMetadataMissingField);
        assert_eq!(
            code(rawdoc! { "driver": { "name": "d" }, "os": os.clone() }),
            Code::ClientMetadataMissingField
        );
        assert_eq!(code(rawdoc! { "driver": 1, "os": os.clone() }), Code::TypeMismatch);
        assert_eq!(
            code(rawdoc! {
                "application": { "name": "x".repeat(129) }, "driver": driver.clone(), "os": os
            }),
            Code::ClientMetadataAppNameTooLarge
        );
        assert_eq!(code(rawdoc! { "x": "x".repeat(600) }), Code::ClientMetadataDocumentTooLarge);
    }
}
