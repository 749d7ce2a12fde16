//! An array with pages written as one value: `$set`, `$unset`, replacements,
//! pipelines. What a client has read as the array may be only its head, so
//! writing it back must not lose the pages.

use super::whole::Loaded;
use super::{Counters, Done, Work, identical, items, limits};
use crate::patterns::place;
use crate::policy::Read;
use bson::RawDocument;
use bson::spec::ElementType;
use error::Result;
use language::Needs;
use language::update::{Scope, Update};
use value::Element;
use write::Transaction;

/// How the array is written.
pub struct Assigned<'a, R> {
    pub scope: Scope,
    pub update: &'a Update,
    /// The pages, if they have been loaded.
    pub loaded: Option<&'a Loaded<R>>,
}

impl<T: Transaction> Work<'_, T> {
    /// `row` is the document as it was, `after` as the update has left it.
    pub async fn assign(
        &mut self,
        assigned: Assigned<'_, T::Row>,
        row: &T::Row,
        after: &RawDocument,
        loaded: &Needs,
    ) -> Result<Done> {
        let counters = self.counters(row, loaded).await?;
        let old = place::find(row, &self.rule.path);
        let new = place::find(after, &self.rule.path);
        match assigned.scope {
            Scope::Renamed => return Err(limits::renamed(self.rule)),
            Scope::Removed => return self.emptied(None).await,
            _ => {}
        }
        if let (Some(old), Some(new)) = (old, new)
            && identical(&old, &new)
        {
            return Ok(Done { counters, ..Done::default() });
        }
        if self.rule.read == Read::Merged {
            return self.write_whole(assigned, row, new, loaded, counters).await;
        }
        let replacement = assigned.update.is_replacement();
        match new {
            Some(new) if is_empty(new) && !replacement => self.emptied(Some(0)).await,
            None if assigned.update.is_pipeline() => self.emptied(None).await,
            Some(new) if new.kind == ElementType::Array => {
                let holder = self.head(row, loaded).await?;
                let head = items(holder.as_deref().unwrap_or(row), self.rule);
                let new: Vec<Element<'_>> = new.children().items().collect();
                let equal = head.len() == new.len()
                    && head
                        .iter()
                        .zip(&new)
                        .all(|(a, b)| value::compare(a.value(), b.value()).is_eq());
                match equal {
                    true => Ok(Done { counters, ..Done::default() }),
                    false => Err(limits::replaces_head(self.rule, counters.pages)),
                }
            }
            _ => Err(limits::replaces_head(self.rule, counters.pages)),
        }
    }

    /// All pages go. `count` is what is left: an empty array, or none.
    async fn emptied(&mut self, count: Option<usize>) -> Result<Done> {
        self.clear().await?;
        Ok(Done { head: None, counters: Counters { count, pages: 0 }, paged: true })
    }

    /// The array written is the whole sequence.
    async fn write_whole(
        &mut self,
        assigned: Assigned<'_, T::Row>,
        row: &T::Row,
        new: Option<Element<'_>>,
        loaded: &Needs,
        counters: Counters,
    ) -> Result<Done> {
        let Some(new) = new.filter(|new| new.kind == ElementType::Array) else {
            return self.emptied(None).await;
        };
        let own;
        let sequence = match assigned.loaded {
            Some(sequence) => sequence,
            None => {
                own = self.load_all(row, loaded, counters).await?;
                &own
            }
        };
        let new: Vec<Element<'_>> = new.children().items().collect();
        let head: Vec<Element<'_>> =
            value::element::array_elements(&sequence.head).items().collect();
        let mut done = self.rewrite(&head, &sequence.pages, &new).await?;
        // What stands in the document now is the whole array.
        done.head.get_or_insert_with(|| sequence.head.clone());
        Ok(done)
    }
}

fn is_empty(value: Element<'_>) -> bool {
    value.kind == ElementType::Array && value.children().items().next().is_none()
}
