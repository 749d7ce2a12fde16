//! The whole sequence at once: for updates that must see all of it, and for
//! elements that must move from piece to piece.

use super::pack::{Packer, PageFill, head_len};
use super::page::{Look, Page, Walk};
use super::{Counters, Done, Head, Mass, Work, array, items, limits};
use crate::patterns::fields::{self, Edits};
use crate::patterns::place::{self, identical};
use crate::policy::{Keep, Overflow};
use bson::{RawArrayBuf, RawBson, RawDocument, RawDocumentBuf};
use error::Result;
use language::Needs;
use language::update::Update;
use value::Element;
use write::Transaction;

/// An array with all its pages.
pub struct Loaded<R> {
    pub head: RawArrayBuf,
    pub pages: Vec<Page<R>>,
}

impl<R: std::ops::Deref<Target = RawDocument>> Loaded<R> {
    pub fn head(&self) -> Vec<Element<'_>> {
        value::element::array_elements(&self.head).items().collect()
    }

    /// All elements, in order.
    pub fn items(&self, rule: &Overflow) -> Vec<Element<'_>> {
        join(rule, &self.head(), &self.pages)
    }
}

pub fn join<'a, R: std::ops::Deref<Target = RawDocument>>(
    rule: &Overflow,
    head: &[Element<'a>],
    pages: &'a [Page<R>],
) -> Vec<Element<'a>> {
    let paged = pages.iter().flat_map(|page| page.items(rule));
    match rule.keep {
        Keep::Oldest => head.iter().copied().chain(paged).collect(),
        Keep::Newest => paged.chain(head.iter().copied()).collect(),
    }
}

/// A document with some of its arrays whole.
pub struct WholeDocument<T: Transaction> {
    pub document: RawDocumentBuf,
    loaded: Vec<(value::Path, Loaded<T::Row>)>,
}

impl<T: Transaction> WholeDocument<T> {
    pub fn new(row: &RawDocument) -> WholeDocument<T> {
        WholeDocument { document: row.to_owned(), loaded: Vec::new() }
    }

    pub fn add(&mut self, rule: &Overflow, loaded: Loaded<T::Row>) -> Result<()> {
        let whole = RawBson::Array(array(&loaded.items(rule)));
        self.document = fields::edit(&self.document, &[(&rule.path, Some(whole))])?;
        self.loaded.push((rule.path.clone(), loaded));
        Ok(())
    }

    pub fn of(&self, rule: &Overflow) -> Option<&Loaded<T::Row>> {
        self.loaded.iter().find(|(path, _)| *path == rule.path).map(|(_, loaded)| loaded)
    }

    /// Puts back what the row has of an array that stays as it is.
    pub fn restore<'r>(
        &self,
        rule: &'r Overflow,
        row: &RawDocument,
        after: &RawDocument,
        edits: &mut Edits<'r>,
    ) {
        if self.of(rule).is_some()
            && place::find(after, &rule.path).is_some()
            && let Some(old) = place::find(row, &rule.path)
        {
            edits.push((&rule.path, Some(RawBson::from(old.value()))));
        }
    }
}

impl<T: Transaction> Work<'_, T> {
    /// Applies an update to the whole sequence.
    pub async fn whole(
        &mut self,
        update: &Update,
        head: &[Element<'_>],
        counters: Counters,
    ) -> Result<Done> {
        let pages = self.load_pages(head, counters).await?;
        let piece = self.apply(update, &join(self.rule, head, &pages))?;
        match piece {
            Some(piece) => self.rewrite(head, &pages, &piece.items()).await,
            None => Ok(Done::stays(counters)),
        }
    }

    pub async fn load_all(
        &mut self,
        row: &T::Row,
        loaded: &Needs,
        counters: Counters,
    ) -> Result<Loaded<T::Row>> {
        let holder = self.head(row, loaded).await?;
        let head = items(holder.as_deref().unwrap_or(row), self.rule);
        let pages = self.load_pages(&head, counters).await?;
        Ok(Loaded { head: array(&head), pages })
    }

    pub async fn load_pages(
        &mut self,
        head: &[Element<'_>],
        counters: Counters,
    ) -> Result<Vec<Page<T::Row>>> {
        let count = counters.count.unwrap_or(0);
        if count > limits::LOOK_ELEMENTS_MAX {
            return Err(limits::too_long(self.rule, count));
        }
        let mut bytes: usize = head.iter().map(|item| item.bytes.len()).sum();
        let mut all: Vec<Page<T::Row>> = Vec::new();
        let mut walk = Walk::new(Look::Array);
        while let Some(pages) = self.next(&mut walk).await? {
            for page in pages {
                bytes += page.items(self.rule).iter().map(|item| item.bytes.len()).sum::<usize>();
                if bytes > limits::LOOK_BYTES_MAX {
                    return Err(limits::too_long(self.rule, count));
                }
                all.push(page);
            }
        }
        Ok(all)
    }

    /// Makes the sequence `new`: pages that hold the same as before stay, the
    /// others are repacked.
    pub async fn rewrite(
        &mut self,
        head: &[Element<'_>],
        pages: &[Page<T::Row>],
        new: &[Element<'_>],
    ) -> Result<Done> {
        let old = join(self.rule, head, pages);
        let same = old.iter().zip(new).take_while(|(a, b)| identical(a, b)).count();
        let paged = old.len() - head.len();
        let (new_head, new_paged) = self.cut(head.len(), paged, same, new);
        let unchanged = match self.rule.keep {
            Keep::Oldest => same.saturating_sub(head.len()),
            Keep::Newest => same.min(paged),
        };
        let pages = self.repack(pages, new_paged, unchanged).await?;
        let head_changed = head.len() != new_head.len()
            || !head.iter().zip(new_head).all(|(a, b)| identical(a, b));
        let head = match head_changed {
            true => Head::Becomes(array(new_head)),
            false => Head::Stays,
        };
        Ok(Done { head, counters: Counters::of(Mass::of(new), pages), paged: true })
    }

    /// Which elements of the new sequence the head keeps, and which go to pages.
    /// Where the border can stay, it does.
    fn cut<'s, 'e>(
        &self,
        head: usize,
        paged: usize,
        same: usize,
        new: &'s [Element<'e>],
    ) -> (&'s [Element<'e>], &'s [Element<'e>]) {
        match self.rule.keep {
            Keep::Oldest => {
                let kept = if same >= head && paged > 0 { head } else { head_len(self.rule, new) };
                new.split_at(kept)
            }
            Keep::Newest => {
                let rest = new.get(paged..).unwrap_or_default();
                let stays = same >= paged && head_len(self.rule, rest) == rest.len();
                let kept = if stays { rest.len() } else { head_len(self.rule, new) };
                let (paged, head) = new.split_at(new.len() - kept);
                (head, paged)
            }
        }
    }

    /// Packs elements into pages, and gives back how many pages there are. The
    /// first `unchanged` elements are on the pages they were on.
    pub async fn repack(
        &mut self,
        pages: &[Page<T::Row>],
        items: &[Element<'_>],
        unchanged: usize,
    ) -> Result<usize> {
        let packer = Packer::new(self.rule, self.parent);
        let held: Vec<Vec<Element<'_>>> = pages.iter().map(|page| page.items(self.rule)).collect();
        let (mut slot, mut at) = (0, 0);
        while slot < held.len() && at + held[slot].len() <= unchanged.min(items.len()) {
            at += held[slot].len();
            slot += 1;
        }
        // The last page that stays may have room for what follows.
        if slot > 0 && at < items.len() {
            slot -= 1;
            at -= held[slot].len();
        }
        let mut number = pages.last().map_or(0, |page| page.number);
        let mut rest = &items[at..];
        while !rest.is_empty() {
            let (fit, more) =
                rest.split_at(packer.take(PageFill::default(), rest).max(1).min(rest.len()));
            match (pages.get(slot), held.get(slot)) {
                (Some(page), Some(held)) => {
                    let same = held.len() == fit.len()
                        && held.iter().zip(fit).all(|(a, b)| identical(a, b));
                    if !same {
                        self.replace_page(page, fit).await?;
                    }
                }
                _ => {
                    number += 1;
                    self.insert_page(number, fit).await?;
                }
            }
            slot += 1;
            rest = more;
        }
        for page in pages.iter().skip(slot) {
            self.delete_page(page).await?;
        }
        Ok(slot)
    }
}
