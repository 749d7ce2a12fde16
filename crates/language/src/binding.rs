//! A variable whose value comes later: a parsed pipeline refers to it, and whoever runs
//! the pipeline gives it a value for each run. One run at a time may be under way.

use bson::RawBson;
use std::sync::{Arc, PoisonError, RwLock};

#[derive(Debug)]
pub struct Binding {
    name: Box<str>,
    /// `None` is missing.
    value: RwLock<Option<Arc<RawBson>>>,
}

impl Binding {
    pub fn new(name: &str) -> Arc<Binding> {
        Arc::new(Binding { name: name.into(), value: RwLock::default() })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn set(&self, value: Option<RawBson>) {
        *self.value.write().unwrap_or_else(PoisonError::into_inner) = value.map(Arc::new);
    }

    pub fn get(&self) -> Option<Arc<RawBson>> {
        self.value.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
