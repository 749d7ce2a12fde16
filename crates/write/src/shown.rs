//! Changes as clients see them, where documents are stored otherwise: for change streams.

use crate::{Guard, GuardOf, StoredRow, Transaction, Version};
use bson::{RawDocument, RawDocumentBuf};
use command::Namespace;
use error::Result;
use language::Needs;
use language::update::Update;
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

/// A document as clients see it.
#[derive(Debug, Clone)]
pub struct ShownDocument {
    pub document: RawDocumentBuf,
    /// The arrays of which it has no more than the head: whole, they are too large.
    pub heads: Vec<Path>,
}

impl ShownDocument {
    pub fn has_head(&self, path: &Path) -> bool {
        self.heads.contains(path)
    }
}

impl From<&RawDocument> for ShownDocument {
    fn from(document: &RawDocument) -> ShownDocument {
        ShownDocument { document: document.to_owned(), heads: Vec::new() }
    }
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
    /// The documents before and after, where they are not those that are compared.
    pub images: Option<[RawDocumentBuf; 2]>,
}

impl ShownChange {
    /// From one document to another.
    pub fn of(before: RawDocumentBuf, after: RawDocumentBuf) -> ShownChange {
        ShownChange { before: Some(before), after: Some(after), cut: None, images: None }
    }

    /// A new document.
    pub fn inserted(after: ShownDocument) -> ShownChange {
        ShownChange { before: None, after: Some(after.document), cut: None, images: None }
    }

    /// One that is deleted.
    pub fn deleted(before: ShownDocument) -> ShownChange {
        ShownChange { before: Some(before.document), after: None, cut: None, images: None }
    }

    /// Whether clients see a difference.
    pub fn is_visible(&self) -> bool {
        self.before != self.after
    }
}

/// An update of a collection that may be watched.
pub struct ShownUpdate<'a, T: Transaction> {
    pub guard: &'a GuardOf<T>,
    pub update: &'a Update,
    pub plan: &'a <GuardOf<T> as Guard<T>>::Plan,
    pub watched: Watched,
}

impl<T: Transaction> ShownUpdate<'_, T> {
    /// What of a document must be loaded.
    pub fn needs(&self, needs: &mut Needs) {
        match self.watched {
            Watched::Not => {}
            Watched::Changes => self.guard.change_needs(self.update, self.plan, needs),
            Watched::Documents => needs.all(),
        }
    }

    /// The document as it is before a write, if that will have been another.
    pub async fn former(&self, transaction: &mut T, row: &T::Row) -> Result<Option<ShownDocument>> {
        match self.watched {
            Watched::Not => Ok(None),
            // Nothing is looked at but what is appended.
            Watched::Changes if self.appends(row) => Ok(None),
            Watched::Changes | Watched::Documents => self.whole(transaction, row.version()).await,
        }
    }

    /// Says how clients see the update, where that is not as it is stored. Whether it does.
    pub async fn announce(
        &self,
        transaction: &mut T,
        row: &T::Row,
        former: Option<ShownDocument>,
        after: Version<'_>,
    ) -> Result<bool> {
        let change = match self.watched {
            Watched::Not => None,
            Watched::Changes if self.appends(row) => self.appended(row, after)?,
            Watched::Changes | Watched::Documents => {
                let latter = self.whole(transaction, after).await?;
                self.compared(row, former, after, latter)?
            }
        };
        let is_announced = change.is_some();
        change.into_iter().for_each(|change| transaction.announce(change));
        Ok(is_announced)
    }

    fn appends(&self, row: &T::Row) -> bool {
        self.guard.appends(self.update, self.plan, row.version())
    }

    fn appended(&self, row: &T::Row, after: Version<'_>) -> Result<Option<ShownChange>> {
        self.guard.appended(self.update, self.plan, row, after)
    }

    fn compared(
        &self,
        row: &T::Row,
        former: Option<ShownDocument>,
        after: Version<'_>,
        latter: Option<ShownDocument>,
    ) -> Result<Option<ShownChange>> {
        if former.is_none() && latter.is_none() {
            return Ok(None);
        }
        let former = former.unwrap_or_else(|| ShownDocument::from(&**row));
        let latter = latter.unwrap_or_else(|| ShownDocument::from(after.document));
        if self.appends(row)
            && let Some(change) = self.appended(row, after)?
        {
            let images = Some([former.document, latter.document]);
            return Ok(Some(ShownChange { images, ..change }));
        }
        self.guard.compared(self.plan, former, latter).map(Some)
    }

    async fn whole(
        &self,
        transaction: &mut T,
        version: Version<'_>,
    ) -> Result<Option<ShownDocument>> {
        let plan = Some(self.plan).filter(|_| self.watched == Watched::Changes);
        Box::pin(self.guard.whole(transaction, version, plan)).await
    }
}

/// A new document as its event shows it, where that is not as it is stored.
pub async fn announce_insert<T: Transaction>(
    guard: &GuardOf<T>,
    transaction: &mut T,
    namespace: &Namespace,
    version: Version<'_>,
) -> Result<()> {
    if transaction.watched(namespace) == Watched::Not {
        return Ok(());
    }
    let whole = Box::pin(guard.whole(transaction, version, None)).await?;
    whole.into_iter().for_each(|whole| transaction.announce(ShownChange::inserted(whole)));
    Ok(())
}

/// A document before it is deleted, if its event is to show it, and not as it is stored.
pub async fn deleted<T: Transaction>(
    guard: &GuardOf<T>,
    transaction: &mut T,
    namespace: &Namespace,
    version: Version<'_>,
) -> Result<Option<ShownChange>> {
    if transaction.watched(namespace) != Watched::Documents {
        return Ok(None);
    }
    let whole = Box::pin(guard.whole(transaction, version, None)).await?;
    Ok(whole.map(ShownChange::deleted))
}
