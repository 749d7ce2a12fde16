//! Where in a command a field stands, for messages.

/// A step of a path; built on the stack and joined only when an error needs it.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'s> {
    name: &'s str,
    parent: Option<&'s Scope<'s>>,
}

impl<'s> Scope<'s> {
    pub const fn new(name: &'s str) -> Scope<'s> {
        Scope { name, parent: None }
    }

    /// The scope of a field's own fields.
    pub const fn within(name: &'s str, parent: &'s Scope<'s>) -> Scope<'s> {
        Scope { name, parent: Some(parent) }
    }

    pub fn name(&self) -> &'s str {
        self.name
    }

    /// The dotted path of a field in this scope.
    pub fn path(&self, field: &str) -> String {
        let mut path = match self.parent {
            Some(parent) => parent.path(self.name),
            None => self.name.to_owned(),
        };
        path.push('.');
        path.push_str(field);
        path
    }
}
