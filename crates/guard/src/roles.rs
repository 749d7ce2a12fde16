//! What a collection is to the policies.

use crate::patterns::overflow::{Amends, Counters, Seen};
use crate::patterns::{Measured, OneStatement, Plan, fields, overflow, sequence};
use crate::policy::{Keep, OnLimit, Overflow, Policy};
use crate::read;
use crate::restore::is_free;
use bson::{RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Error, Result};
use language::Needs;
use language::query::{Filter, Matched};
use language::update::Update;
use std::borrow::Cow;
use std::sync::Arc;
use value::Path;
use write::{
    Applied, FastInsert, Guard, Inserted, Outcome, Returns, ShownChange, ShownDocument, StoredRow,
    Transaction, Version, Wanted,
};

/// The roles of one collection. It can have several at once.
#[derive(Debug, Clone)]
pub struct Roles {
    /// What its own policy says; nothing if it has none.
    rules: Policy,
    own: Own,
    /// It holds the pages of this collection: only that one's policy writes to it.
    pub pages_of: Option<Namespace>,
    /// It is the view of the elements of this collection.
    pub view_of: Option<Namespace>,
}

/// Whether a collection has a policy of its own.
#[derive(Debug, Clone)]
enum Own {
    Absent,
    Set,
    /// It fails closed: nobody may write.
    Unreadable(Error),
}

/// What the roles of a collection take in memory, with the places where holders are counted.
const ROLES_BYTES: usize = 2 * 1024;

/// A rule for one array, and so many times its path.
const ARRAY_BYTES: usize = 1024;
const PATH_TIMES: usize = 8;

impl Roles {
    /// None so far.
    pub(crate) fn none(namespace: &Namespace) -> Roles {
        Roles { rules: Policy::empty(namespace), own: Own::Absent, pages_of: None, view_of: None }
    }

    pub(crate) fn is_none(&self) -> bool {
        !self.has_policy() && self.pages_of.is_none() && self.view_of.is_none()
    }

    pub(crate) fn set_policy(&mut self, policy: Policy) {
        self.rules = policy;
        self.own = Own::Set;
    }

    pub(crate) fn set_unreadable(&mut self, error: Error) {
        self.drop_policy();
        self.own = Own::Unreadable(error);
    }

    pub(crate) fn drop_policy(&mut self) {
        self.rules = Policy::empty(&self.rules.namespace);
        self.own = Own::Absent;
    }

    /// The collection's own policy, if it has one that can be read.
    pub fn policy(&self) -> Option<&Policy> {
        matches!(self.own, Own::Set).then_some(&self.rules)
    }

    /// Whether it has a policy of its own, be it readable or not.
    pub fn has_policy(&self) -> bool {
        !matches!(self.own, Own::Absent)
    }

    pub fn is_unreadable(&self) -> bool {
        matches!(self.own, Own::Unreadable(_))
    }

    /// The rules that writes go by, or the reason why clients may not write here.
    pub fn rules(&self) -> Result<&Policy> {
        if let Some(of) = &self.pages_of {
            return Err(Code::InvalidNamespace.error(format!(
                "these are pages, which the policy of '{of}' writes; write to '{of}' instead"
            )));
        }
        match &self.own {
            Own::Absent | Own::Set => Ok(&self.rules),
            Own::Unreadable(error) => Err(Code::InvalidOptions.error(format!(
                "the policy of the collection cannot be read ({}); set it again with \
                 setGrowthPolicy",
                error.message()
            ))),
        }
    }

    /// An update of one document as a statement that keeps the policy by itself: one round
    /// trip to a cluster. `None` if it takes the write loop. `document` is what `update` was
    /// parsed from.
    pub fn as_statement(
        &self,
        document: &RawDocument,
        update: &Update,
    ) -> Result<Option<OneStatement>> {
        let rules = self.rules()?;
        // Which documents it still holds for, only the loop sees.
        match rules.leaving {
            true => Ok(None),
            false => Ok(sequence::as_statement(rules, document, update)),
        }
    }

    /// The arrays of a document that appending leaves as they are: what is pushed
    /// goes to their pages.
    pub fn cold(&self, version: Version<'_>, measured: Option<&Measured>) -> Vec<&Path> {
        let has_pages = |at: usize, rule: &Overflow| {
            let arrays = measured.map_or(&[][..], |measured| &measured.arrays);
            match arrays.iter().find(|array| array.rule == at) {
                Some(array) => array.after.is_some_and(|length| length.pages > 0),
                None => overflow::has_pages(version, rule),
            }
        };
        let rules = self.rules.arrays.iter().enumerate();
        let cold = rules.filter(|(at, rule)| match &rule.on_limit {
            OnLimit::Overflow(rule) => rule.keep == Keep::Oldest && has_pages(*at, rule),
            _ => false,
        });
        cold.map(|(_, rule)| &rule.path).collect()
    }

    /// What it takes in memory.
    pub(crate) fn footprint(&self) -> usize {
        let rules = self.rules.arrays.iter();
        let rules = rules.map(|rule| ARRAY_BYTES + PATH_TIMES * rule.path.as_str().len());
        ROLES_BYTES + rules.sum::<usize>()
    }
}

impl<T: Transaction> Guard<T> for Roles {
    type Plan = Plan;
    type Note = Measured;

    fn plan(&self, update: &Update) -> Result<Plan> {
        Ok(Plan::of(self.rules()?, update))
    }

    fn update_needs(&self, update: &Update, plan: &Plan, needs: &mut Needs) {
        sequence::update_needs::<T>(&self.rules, update, plan, needs);
        if self.rules.leaving {
            // Of documents that it no longer holds for, nothing is carried out apart.
            update.needs(needs);
        }
    }

    fn delete_needs(&self, needs: &mut Needs) {
        sequence::delete_needs::<T>(&self.rules, needs);
    }

    fn insert_needs(&self, documents: &[&RawDocument]) -> Vec<Wanted> {
        sequence::insert_needs::<T>(&self.rules, documents)
    }

    fn shows_more(&self, version: Version<'_>) -> bool {
        let has_pages = |rule: &Arc<Overflow>| overflow::has_pages(version, rule);
        // Who must not write here is refused before anything is matched.
        self.rules().is_err()
            || (self.rules.digest.overflows && self.rules.overflows().any(has_pages))
    }

    async fn matches(
        &self,
        transaction: &mut T,
        row: &T::Row,
        filter: &Filter,
    ) -> Result<Option<Matched>> {
        read::matches(self.rules()?, transaction, row, filter).await
    }

    async fn shown(
        &self,
        transaction: &mut T,
        version: Version<'_>,
        returns: &Returns<'_>,
    ) -> Result<RawDocumentBuf> {
        let Returns { needs, projection, .. } = returns;
        read::shown(self.rules()?, transaction, version, *projection, needs).await
    }

    fn change_needs(&self, update: &Update, plan: &Plan, needs: &mut Needs) {
        // What is appended shows without the array.
        let appended = read::appended(&self.rules, update, plan);
        if appended.is_none_or(|appended| appended.may_drop()) {
            read::looked_at(&self.rules, plan).for_each(|path| needs.add(path));
        }
    }

    async fn whole(
        &self,
        transaction: &mut T,
        version: Version<'_>,
        plan: Option<&Plan>,
    ) -> Result<Option<ShownDocument>> {
        read::whole(self.rules()?, transaction, version, plan).await
    }

    fn appends(&self, update: &Update, plan: &Plan, before: Version<'_>) -> bool {
        let appended = read::appended(&self.rules, update, plan);
        appended.is_some_and(|appended| appended.is_all(before))
    }

    fn appended(
        &self,
        update: &Update,
        plan: &Plan,
        before: &RawDocument,
        after: Version<'_>,
    ) -> Result<Option<ShownChange>> {
        match read::appended(&self.rules, update, plan) {
            Some(appended) => appended.change(before, after),
            None => Ok(None),
        }
    }

    fn compared(
        &self,
        plan: &Plan,
        before: ShownDocument,
        after: ShownDocument,
    ) -> Result<ShownChange> {
        read::compared(&self.rules, plan, before, after)
    }

    fn fast_insert<'d>(&self, document: Cow<'d, RawDocument>) -> Result<FastInsert<'d, Measured>> {
        let rules = self.rules()?;
        // A new document has no pages, whatever it says.
        if rules.leaving {
            let document = Some(match without_counters(rules, &document)? {
                Some(without) => Cow::Owned(without),
                None => document,
            });
            let note = Measured::default();
            return Ok(FastInsert::Done(Inserted { document, sidecar: None, note }));
        }
        sequence::fast_insert::<T>(rules, document)
    }

    async fn insert<'d>(
        &self,
        transaction: &mut T,
        document: Cow<'d, RawDocument>,
    ) -> Result<Inserted<'d, Measured>> {
        sequence::insert(self.rules()?, transaction, document).await
    }

    fn fast_update(
        &self,
        transaction: &T,
        row: &T::Row,
        applied: &Applied<'_, Plan>,
    ) -> Result<Option<Outcome<Measured>>> {
        let rules = self.rules()?;
        if is_free(rules, row.version()) {
            let mut after = applied.update.apply(row, applied.matched)?;
            if let Some(written) = &after
                && let Some(without) = without_counters(rules, written)?
            {
                // What was written may be no more than counters.
                after = Some(without).filter(|without| without.as_bytes() != row.as_bytes());
            }
            return Ok(Some(Outcome { after, ..Outcome::default() }));
        }
        sequence::fast_update(rules, transaction, row, applied)
    }

    async fn update(
        &self,
        transaction: &mut T,
        row: &T::Row,
        applied: Applied<'_, Plan>,
    ) -> Result<Outcome<Measured>> {
        sequence::update(self.rules()?, transaction, row, &applied).await
    }

    async fn delete(&self, transaction: &mut T, row: &T::Row) -> Result<()> {
        sequence::delete(self.rules()?, transaction, row).await
    }
}

/// A document without pages as a policy that is being left leaves it; `None` if it says nothing
/// of its arrays. Counters that clients write would be wrong soon, since nobody keeps them up.
fn without_counters(rules: &Policy, document: &RawDocument) -> Result<Option<RawDocumentBuf>> {
    let mut amends = Amends::default();
    for rule in rules.overflows() {
        Counters::default().write(rule, &Seen::of(document.into(), rule), &mut amends);
    }
    match amends.edits.is_empty() {
        true => Ok(None),
        false => fields::edit(document, &amends.edits).map(Some),
    }
}
