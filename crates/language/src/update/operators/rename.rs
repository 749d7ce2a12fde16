//! `$rename`: moves a value to another name.
//!
//! It is two leaves of the tree: one at the old path, which removes the field,
//! and one at the new path, which takes its value.

use super::super::operator::{Absent, Argument, Operator, Scope, depth_below};
use super::super::place::{Place, id_of};
use super::super::stored::too_deep;
use super::super::tree::is_filtered;
use super::super::walk::{Facts, Run};
use super::Row;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Error, Result};
use std::sync::Arc;
use value::check::DEPTH_MAX;
use value::{DocumentWriter, Element, Path};

pub const ROW: Row = Row { name: "$rename", parse, help: "give a field another name" };

#[derive(Debug)]
struct Source {
    to: Box<str>,
    target: Arc<Target>,
}

#[derive(Debug)]
struct Target {
    from: Path,
}

fn parse(argument: &Argument<'_>) -> Result<Arc<dyn Operator>> {
    let refused = |why: &str| Code::BadValue.error(format!("{why}: {}", argument.describe()));
    let RawBsonRef::String(to) = argument.value() else {
        return Err(refused("The 'to' field for $rename must be a string"));
    };
    if to.contains('\0') {
        return Err(
            Code::BadValue.error("The 'to' field for $rename cannot contain an embedded null byte")
        );
    }
    let (from, target) = (Path::new(argument.field.key), Path::new(to));
    if from == target {
        return Err(refused("The source and target field for $rename must differ"));
    }
    if from.overlaps(&target) {
        return Err(refused(
            "The source and target field for $rename must not be on the same path",
        ));
    }
    let dynamic = |path: &Path| path.components().any(|part| part == "$" || is_filtered(part));
    if dynamic(&from) {
        return Err(Code::BadValue
            .error(format!("The source field for $rename may not be dynamic: {}", from.as_str())));
    }
    if dynamic(&target) {
        return Err(Code::BadValue
            .error(format!("The destination field for $rename may not be dynamic: {to}")));
    }
    Ok(Arc::new(Source { to: to.into(), target: Arc::new(Target { from }) }))
}

impl Operator for Source {
    fn update<'d>(&self, old: Element<'d>, place: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        if let Some(array) = place.array() {
            return Err(through_array("source", &place.path(), array, run.facts.before));
        }
        run.edits.remove(old)
    }

    fn scope(&self) -> Scope {
        Scope::Renamed
    }

    fn moves(&self) -> bool {
        true
    }

    fn absent(&self, _: &Facts<'_>) -> Result<Absent> {
        Ok(Absent::Refuses)
    }

    fn companion(&self) -> Option<(&str, Arc<dyn Operator>)> {
        Some((&self.to, self.target.clone()))
    }
}

impl Target {
    /// The value at the old path, if there is one.
    fn source<'d>(&self, facts: &Facts<'d>) -> Option<Element<'d>> {
        facts.sources.get(self.from.as_str()).copied()
    }

    fn check(&self, source: Element<'_>, place: &Place<'_>, facts: &Facts<'_>) -> Result<()> {
        if let Some(array) = place.array() {
            return Err(through_array("destination", &place.path(), array, facts.before));
        }
        // A value that moves up, or stays on its level, was not too deep before.
        if place.level > self.from.len() && place.level + depth_below(source) > DEPTH_MAX {
            return Err(too_deep());
        }
        Ok(())
    }
}

impl Operator for Target {
    fn update<'d>(&self, old: Element<'d>, place: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        let Some(source) = self.source(&run.facts) else { return Ok(()) };
        self.check(source, place, &run.facts)?;
        // Even by an equal value the old one is replaced: no `_id` may be.
        run.edits.replace(old, |out| out.copy_as(old.key, source))
    }

    fn moves(&self) -> bool {
        true
    }

    fn absent(&self, facts: &Facts<'_>) -> Result<Absent> {
        let found = self.source(facts).is_some();
        Ok(if found { Absent::Creates } else { Absent::Ignores })
    }

    fn create(
        &self,
        key: &str,
        place: &Place<'_>,
        facts: &Facts<'_>,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        let Some(source) = self.source(facts) else { return Ok(()) };
        self.check(source, place, facts)?;
        out.copy_as(key, source);
        Ok(())
    }
}

fn through_array(which: &str, path: &str, array: &Place<'_>, document: &RawDocument) -> Error {
    Code::BadValue.error(format!(
        "The {which} field cannot be an array element, '{path}' in doc with {} has an array field \
         called '{}'",
        id_of(document),
        array.name()
    ))
}
