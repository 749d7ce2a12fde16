//! `overflow`: where the elements go that a document does not keep.

use super::array::is_too_long;
use super::reader::Reader;
use super::{Bounds, Keep, OnLimit, OnTotal, Overflow, Policy, Read, TooLarge};
use crate::patterns::place::EMPTY_ARRAY_BYTES;
use command::Namespace;
use error::Result;
use std::sync::Arc;
use value::Path;
use write::limits::DOCUMENT_BYTES_MAX;

/// The weight of what a document keeps of an array, at the most, where the policy does not say.
const HEAD_BYTES: usize = 4 * 1024 * 1024;
/// A page's weight, where the policy does not say.
const PAGE_BYTES: usize = 32 * 1024;
/// The heaviest page that a policy may ask for: it is written whole by every append.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Elements of a page, where the policy bounds the array by bytes alone.
const PAGE_ELEMENTS: usize = 1_000;

const KEYS: &[&str] = &[
    "count",
    "elements",
    "flag",
    "into",
    "keep",
    "on_total",
    "page",
    "page_bytes",
    "pages",
    "parent_key",
    "read",
    "too_large",
    "total_bytes",
    "total_max",
];

impl Overflow {
    /// What the array is called in a page.
    pub fn name(&self) -> &str {
        self.path.last()
    }

    /// Where clients see how many elements there are, that there are pages, and how many.
    pub fn names(&self) -> [Option<&Path>; 3] {
        [self.count.as_ref(), self.flag.as_ref(), self.pages.as_ref()]
    }

    /// Those that the policy names.
    pub fn named(&self) -> impl Iterator<Item = &Path> {
        self.names().into_iter().flatten()
    }

    /// Whether what documents say of their pages under an earlier rule is understood under this
    /// one. A name may be added, which is written beside what is there; one that goes or becomes
    /// another would leave a field behind that nobody keeps.
    pub fn counts_as(&self, was: &Overflow) -> bool {
        let mut names = self.names().into_iter().zip(was.names());
        let is_kept = |(now, was): (Option<&Path>, Option<&Path>)| was.is_none() || now == was;
        names.all(is_kept) && self.is_hidden() == was.is_hidden()
    }

    /// Whether what the server must know of an array with pages is kept in the sidecar, since
    /// not all of it has a name.
    pub fn is_hidden(&self) -> bool {
        self.count.is_none() || self.pages.is_none()
    }

    /// Whether the sidecar says what an array with pages takes: where that is bounded, or where
    /// clients see it whole.
    pub fn is_weighed(&self) -> bool {
        self.total.max_bytes.is_some() || self.read == Read::Merged
    }

    /// Whether writes drop elements from the front of the array.
    pub fn drops(&self) -> bool {
        self.on_total == OnTotal::DropOldest && self.total != Bounds::NONE
    }
}

impl Policy {
    /// The arrays whose pages would be lost sight of under another policy, or under none: pages
    /// and counters are known by these keys.
    pub fn pages_lost<'a>(
        &'a self,
        next: Option<&'a Policy>,
    ) -> impl Iterator<Item = &'a Arc<Overflow>> {
        let goes_on = |was: &Overflow, now: &Overflow| {
            now.path == was.path
                && now.into == was.into
                && now.parent_key == was.parent_key
                && now.keep == was.keep
                && now.counts_as(was)
        };
        self.overflows().filter(move |was| {
            let mut overflows = next.into_iter().flat_map(Policy::overflows);
            !overflows.any(|now| goes_on(was, now))
        })
    }
}

/// Bounds the heads that are bounded in number only: elements may be large, and documents must
/// not come near their own bound by what they keep of arrays that have pages to go to. No head
/// holds more than the whole array may, so that code that looks at heads need not check both.
pub fn bound_heads(policy: &mut Policy) {
    let room = policy.document.max_bytes.unwrap_or(DOCUMENT_BYTES_MAX) / 2;
    let share = room / policy.overflows().count().max(1);
    let most = share.clamp(EMPTY_ARRAY_BYTES, HEAD_BYTES);
    for rule in &mut policy.arrays {
        if let OnLimit::Overflow(overflow) = &mut rule.on_limit {
            let least =
                |one: Option<usize>, other: Option<usize>| one.into_iter().chain(other).min();
            rule.bounds.max_bytes.get_or_insert(most);
            rule.bounds = Bounds {
                max: least(rule.bounds.max, overflow.total.max),
                max_bytes: least(rule.bounds.max_bytes, overflow.total.max_bytes),
            };
            Arc::make_mut(overflow).head = rule.bounds;
        }
    }
}

/// Reads the options; `options` is `None` where all are left out.
pub fn read(
    namespace: &Namespace,
    rule: &Reader<'_>,
    options: Option<&Reader<'_>>,
    path: &Path,
    head: Bounds,
) -> Result<Overflow> {
    let nothing = bson::RawDocumentBuf::new();
    let none = Reader::new(&nothing);
    let options = options.unwrap_or(&none);
    options.only(KEYS)?;
    let page_bytes = options.bytes("page_bytes")?.unwrap_or(PAGE_BYTES);
    if page_bytes > PAGE_BYTES_MAX {
        return Err(options.refuse("page_bytes", "must not pass 4MB"));
    }
    let into = match options.text("into")? {
        Some(into) => into.to_owned(),
        None => format!("{}_{}", namespace.collection, path.as_str().replace('.', "_")),
    };
    let target = |key: &str, collection: &str| {
        let target = Namespace::new(&namespace.database, collection);
        let target = target.and_then(|target| target.check_write().map(|()| target));
        target.map_err(|error| {
            let why = format!("names no collection: {}", error.message());
            rule.refuse(&format!("overflow.{key}"), &why)
        })
    };
    let parent_key = options.text("parent_key")?.unwrap_or("parentId");
    if parent_key.contains('.') || parent_key.starts_with('$') || is_too_long(parent_key) {
        return Err(options.refuse("parent_key", "must be one field name, of at most 1,024 bytes"));
    }
    let counter = |key: &str| -> Result<Option<Path>> {
        let text = options.text(key)?;
        if text.is_some_and(|text| {
            text.split('.').any(|name| name.is_empty() || name.starts_with('$'))
        }) {
            return Err(options.refuse(key, "must be a path of field names"));
        }
        if text.is_some_and(is_too_long) {
            let expected = "must be a path of at most 100 names and 1,024 bytes";
            return Err(options.refuse(key, expected));
        }
        Ok(text.map(Path::new))
    };
    let (total, on_total) = read_total(options, head)?;
    let overflow = Overflow {
        path: path.clone(),
        head,
        into: target("into", &into)?,
        view: options.text("elements")?.map(|it| target("elements", it)).transpose()?,
        parent_key: parent_key.into(),
        page: options.count("page")?.or(head.max).unwrap_or(PAGE_ELEMENTS),
        page_bytes,
        keep: options
            .word("keep", &[("oldest", Keep::Oldest), ("newest", Keep::Newest)])?
            .unwrap_or(Keep::Oldest),
        read: options
            .word("read", &[("head", Read::Head), ("merged", Read::Merged)])?
            .unwrap_or(Read::Merged),
        too_large: options
            .word("too_large", &[("head", TooLarge::Head), ("error", TooLarge::Error)])?
            .unwrap_or(TooLarge::Head),
        total,
        on_total,
        count: counter("count")?,
        flag: counter("flag")?,
        pages: counter("pages")?,
        counted: true,
    };
    if overflow.read == Read::Head && overflow.count.is_none() && overflow.flag.is_none() {
        let why = "is head, so documents must say where there is more; expected 'count' or 'flag' \
                   to name a field, or read: merged";
        return Err(options.refuse("read", why));
    }
    Ok(overflow)
}

/// The bounds of the whole array: no less than those of its head, which is a part of it.
fn read_total(options: &Reader<'_>, head: Bounds) -> Result<(Bounds, OnTotal)> {
    let total =
        Bounds { max: options.count("total_max")?, max_bytes: options.bytes("total_bytes")? };
    let least = |key: &str, of_head: &str, total: Option<usize>, least: Option<usize>| match total {
        Some(total) if least.is_some_and(|least| total < least) => {
            let why = format!(
                "must be at least {}, which is '{of_head}' of what the document keeps, but is \
                 {total}",
                least.unwrap_or_default()
            );
            Err(options.refuse(key, &why))
        }
        _ => Ok(()),
    };
    least("total_max", "max", total.max, head.max)?;
    least("total_bytes", "max_bytes", total.max_bytes, head.max_bytes)?;
    if let Some(bytes) = total.max_bytes.filter(|bytes| *bytes < EMPTY_ARRAY_BYTES) {
        let why = format!(
            "must be at least {EMPTY_ARRAY_BYTES}, which an array takes that holds nothing, but \
             is {bytes}"
        );
        return Err(options.refuse("total_bytes", &why));
    }
    let words = [("reject", OnTotal::Reject), ("drop_oldest", OnTotal::DropOldest)];
    let on_total = options.word("on_total", &words)?;
    if on_total.is_some() && total == Bounds::NONE {
        let why = "says what happens at a bound, and there is none; expected 'total_max', \
                   'total_bytes' or both beside it";
        return Err(options.refuse("on_total", why));
    }
    Ok((total, on_total.unwrap_or(OnTotal::Reject)))
}
