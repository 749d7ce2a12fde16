//! `validate`.

use error::{Code, Result};

use crate::fields::{self, Fields, is_true};
use crate::{Namespace, Request};

#[derive(Debug, Clone)]
pub struct Validate {
    pub namespace: Namespace,
    pub full: bool,
    pub background: bool,
    pub metadata: bool,
    pub repair: bool,
    pub check_bson: bool,
    pub enforce_fast_count: bool,
    pub fix_multikey: bool,
}

impl Validate {
    /// Any value that counts as true is yes; unknown fields are not looked at.
    pub fn parse(request: &Request) -> Result<Validate> {
        let mut view = Validate {
            namespace: fields::namespace(request)?,
            full: false,
            background: false,
            metadata: false,
            repair: false,
            check_bson: false,
            enforce_fast_count: false,
            fix_multikey: false,
        };
        let mut fields = Fields::of_command(request, "validate")?;
        while let Some(field) = fields.next()? {
            let yes = is_true(field.value());
            match field.name() {
                "full" => view.full = yes,
                "background" => view.background = yes,
                "metadata" => view.metadata = yes,
                "repair" => view.repair = yes,
                "checkBSONConformance" => view.check_bson = yes,
                "enforceFastCount" => view.enforce_fast_count = yes,
                "fixMultikey" => view.fix_multikey = yes,
                _ => {}
            }
        }
        view.check()?;
        Ok(view)
    }

    fn check(&self) -> Result<()> {
        let pairs = [
            ("background", self.background, "full", self.full),
            ("background", self.background, "enforceFastCount", self.enforce_fast_count),
            ("background", self.background, "repair", self.repair),
            ("checkBSONConformance", self.check_bson, "repair", self.repair),
            ("enforceFastCount", self.enforce_fast_count, "repair", self.repair),
        ];
        for (one, given, other, also) in pairs {
            if given && also {
                return Err(Code::InvalidOptions.error(format!(
                    "Running the validate command with both {{ {one}: true }} and {{ {other}: \
                     true }} is not supported."
                )));
            }
        }
        let other = self.full
            || self.background
            || self.repair
            || self.check_bson
            || self.enforce_fast_count
            || self.fix_multikey;
        if self.metadata && other {
            return Err(Code::InvalidOptions.error(
                "Running the validate command with { metadata: true } is not supported with any \
                 other options",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use bson::doc;

    fn parse(request: &Request) -> Result<()> {
        Validate::parse(request).map(|_| ())
    }

    #[test]
    fn options_must_agree() {
        let base = doc! { "validate": "c", "$db": "d", "unheeded": 1 };
        check_fields(parse, &base, &[("validate", "string symbol", 73), ("full", "any", 14)]);
        check_codes(
            parse,
            &base,
            &[
                (doc! { "full": true, "background": true }, 72),
                (doc! { "full": true, "metadata": true }, 72),
                (doc! { "full": true, "repair": 1 }, 0),
                (doc! { "metadata": true }, 0),
            ],
        );
    }
}
