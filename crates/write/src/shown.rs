//! Changes as clients see them, where documents are stored otherwise: for change streams.

use crate::{Guard, GuardOf, Returns, StoredRow, Transaction, Version};
use bson::RawDocumentBuf;
use command::Namespace;
use error::Result;
use language::Needs;
use value::Path;

/// Who watches the changes of a collection whose documents are not shown as they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Watched {
    #[default]
    Not,
    /// What is different is enough.
    Changes,
    /// The documents before and after are kept as well.
    Documents,
}

/// A change as clients see it.
#[derive(Debug)]
pub struct ShownChange {
    /// `None` of a new document.
    pub before: Option<RawDocumentBuf>,
    /// `None` of one that is deleted.
    pub after: Option<RawDocumentBuf>,
    /// An array of which both lack the beginning, and how many elements that are.
    pub cut: Option<(Path, usize)>,
}

impl ShownChange {
    /// Whether clients see a difference.
    pub fn is_visible(&self) -> bool {
        self.before != self.after
    }
}

/// A document whole, as clients see it; the version must be loaded.
pub async fn whole<T: Transaction>(
    guard: &GuardOf<T>,
    transaction: &mut T,
    version: Version<'_>,
) -> Result<RawDocumentBuf> {
    let returns = Returns { needs: Needs::All, projection: None, after: false };
    Box::pin(guard.shown(transaction, version, &returns)).await
}

/// The document as it is before a write, if it is watched and will have been another.
pub async fn former<T: Transaction>(
    guard: &GuardOf<T>,
    plan: &<GuardOf<T> as Guard<T>>::Plan,
    transaction: &mut T,
    namespace: &Namespace,
    row: &T::Row,
) -> Result<Option<RawDocumentBuf>> {
    let is_needed = match transaction.watched(namespace) {
        Watched::Not => false,
        // Of what is appended nothing but that is looked at.
        Watched::Changes => guard.shows_more(row.version()) && !guard.appends(plan, row.version()),
        Watched::Documents => guard.shows_more(row.version()),
    };
    match is_needed {
        true => whole(guard, transaction, row.version()).await.map(Some),
        false => Ok(None),
    }
}

/// Says how clients see an update, where that is not as it is stored. Whether it does.
pub async fn announce_update<T: Transaction>(
    guard: &GuardOf<T>,
    transaction: &mut T,
    namespace: &Namespace,
    row: &T::Row,
    former: Option<RawDocumentBuf>,
    after: Version<'_>,
) -> Result<bool> {
    let was = guard.shows_more(row.version());
    if transaction.watched(namespace) == Watched::Not || !(was || guard.shows_more(after)) {
        return Ok(false);
    }
    let change = match (former, was) {
        (None, true) => Box::pin(guard.appended(transaction, row.version(), after)).await?,
        (former, _) => ShownChange {
            before: Some(former.unwrap_or_else(|| (**row).to_owned())),
            after: Some(whole(guard, transaction, after).await?),
            cut: None,
        },
    };
    transaction.announce(change);
    Ok(true)
}
