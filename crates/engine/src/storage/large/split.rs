//! Taking documents apart.

use super::segments::{ElementRun, Former, Segment, WHOLE_BYTES_MAX, cut};
use super::stub::{Secret, Stub, ValuePlace, write_segments, write_whole};
use super::{COLD_VALUE_BYTES, LARGE_VALUE_BYTES, items};
use bson::RawDocument;
use bson::spec::ElementType;
use fjall::Slice;
use value::element::get;
use value::{DocumentWriter, Element, Path, elements};
use write::Version;

/// A document taken apart for storage.
pub struct Split {
    /// The record's bytes: the document with stubs, the sidecar, and the trailer.
    pub record: Vec<u8>,
    /// New large values and their numbers.
    pub values: Vec<(u32, Slice)>,
    /// Numbers of the large values that stay as they are, in order.
    pub kept: Vec<u32>,
    /// The size of the whole document.
    pub size: usize,
}

/// The document in whose place another one comes.
#[derive(Clone, Copy)]
pub struct Before<'a> {
    /// As it is stored, stubs and all.
    pub stored: &'a RawDocument,
    /// The same with some of its large values.
    pub loaded: &'a RawDocument,
    /// The numbers that its large values have, in order.
    pub numbers: &'a [u32],
    /// Where to look for the next free one.
    pub next: u32,
}

impl<'a> Before<'a> {
    /// The same for a sub-document.
    fn inside(self, key: &str) -> Option<Before<'a>> {
        let inner = |document| match get(document, key)? {
            it if it.kind == ElementType::EmbeddedDocument => it.as_document(),
            _ => None,
        };
        Some(Before { stored: inner(self.stored)?, loaded: inner(self.loaded)?, ..self })
    }

    /// The paths of long arrays in the new document that were in segments and have not
    /// been loaded: only where they have can it be told what stays of them.
    pub fn unloaded(&self, after: &RawDocument, secret: &Secret) -> Vec<Path> {
        let mut paths = Vec::new();
        self.find_unloaded(after, secret, Wanted::Segments, "", &mut paths);
        paths
    }

    /// The paths of all arrays in the new document that were out of line and have not been
    /// loaded: only where they have can it be told what changed in them.
    pub fn unknown(&self, after: &RawDocument, secret: &Secret) -> Vec<Path> {
        let mut paths = Vec::new();
        self.find_unloaded(after, secret, Wanted::All, "", &mut paths);
        paths
    }

    fn find_unloaded(
        self,
        after: &RawDocument,
        secret: &Secret,
        wanted: Wanted,
        parent: &str,
        paths: &mut Vec<Path>,
    ) {
        for field in elements(after).filter(|field| wanted.may_be(field)) {
            let path = || match parent {
                "" => field.key.to_owned(),
                parent => format!("{parent}.{}", field.key),
            };
            match field.kind {
                ElementType::Array => {
                    let loaded = get(self.loaded, field.key);
                    let stub = loaded.and_then(|loaded| Stub::read(&loaded, secret));
                    if stub.is_some_and(|stub| wanted.is(&stub)) {
                        paths.push(Path::new(&path()));
                    }
                }
                ElementType::EmbeddedDocument => {
                    if let (Some(before), Some(inner)) =
                        (self.inside(field.key), field.as_document())
                    {
                        before.find_unloaded(inner, secret, wanted, &path(), paths);
                    }
                }
                _ => {}
            }
        }
    }

    /// What was out of line under this key, and has been loaded.
    fn large(self, key: &str, secret: &Secret) -> Option<Was<'a>> {
        let stored = get(self.stored, key)?;
        let stub = Stub::read(&stored, secret)?;
        Some(Was { stub, stored, value: get(self.loaded, key)? })
    }
}

/// Which arrays that have not been loaded are looked for.
#[derive(Clone, Copy)]
enum Wanted {
    /// Long ones in segments.
    Segments,
    All,
}

impl Wanted {
    fn may_be(self, field: &Element<'_>) -> bool {
        matches!(self, Wanted::All) || field.bytes.len() > WHOLE_BYTES_MAX
    }

    fn is(self, stub: &Stub<'_>) -> bool {
        matches!(self, Wanted::All) || matches!(stub.place, ValuePlace::Segments(_))
    }
}

/// A large value that was there before.
struct Was<'a> {
    stub: Stub<'a>,
    stored: Element<'a>,
    value: Element<'a>,
}

impl<'a> Was<'a> {
    fn is(&self, value: &Element<'_>) -> bool {
        self.value.kind == value.kind && self.value.bytes == value.bytes
    }

    fn segments(&self) -> Option<Former<'a>> {
        match self.stub.place {
            ValuePlace::Segments(segments) if self.value.kind == ElementType::Array => {
                Some(Former { array: self.value, segments: segments.iter().collect() })
            }
            _ => None,
        }
    }
}

/// Takes a document apart, if it is large. Without one `before` it, it holds no stubs
/// yet, as it came from a client. `cold` are the paths of values that seldom change.
pub fn split<'v>(
    version: impl Into<Version<'v>>,
    before: Option<Before<'_>>,
    secret: &Secret,
    cold: &[&Path],
) -> Split {
    let Version { document, sidecar } = version.into();
    let size = document.as_bytes().len();
    let sidecar = sidecar.map_or(&[][..], RawDocument::as_bytes);
    let whole = || Split {
        record: [document.as_bytes(), sidecar].concat(),
        values: Vec::new(),
        kept: Vec::new(),
        size,
    };
    if before.is_none() && size <= LARGE_VALUE_BYTES && cold.is_empty() {
        return whole();
    }
    let mut splitter = Splitter {
        secret,
        stubs: before.is_some(),
        taken: before.map_or(&[], |before| before.numbers),
        next: before.map_or(0, |before| before.next),
        values: Vec::new(),
        kept: Vec::new(),
        grown: 0,
        writer: DocumentWriter::new(),
    };
    splitter.document(document, Depth { level: 0, cold, before });
    if splitter.values.is_empty() && splitter.kept.is_empty() {
        return whole();
    }
    splitter.kept.sort_unstable();
    let inline = splitter.writer.finish();
    let size = inline.as_bytes().len() + splitter.grown;
    let mut record = inline.into_bytes();
    record.extend_from_slice(sidecar);
    record.extend_from_slice(&splitter.next.to_be_bytes());
    record.extend_from_slice(&(size as u32).to_be_bytes());
    Split { record, values: splitter.values, kept: splitter.kept, size }
}

struct Splitter<'a> {
    secret: &'a Secret,
    /// Whether stubs may stand in the document.
    stubs: bool,
    /// Numbers that are in use.
    taken: &'a [u32],
    next: u32,
    values: Vec<(u32, Slice)>,
    kept: Vec<u32>,
    /// What the stubs stand for, beyond their own size.
    grown: usize,
    writer: DocumentWriter,
}

/// Where in a document the splitter is.
#[derive(Clone, Copy)]
struct Depth<'a> {
    level: usize,
    /// The cold paths that lead here.
    cold: &'a [&'a Path],
    /// What was here before.
    before: Option<Before<'a>>,
}

impl Splitter<'_> {
    fn document(&mut self, document: &RawDocument, at: Depth<'_>) {
        for element in elements(document) {
            let names = |path: &&&Path| path.component(at.level) == element.key;
            if at.level == 0 && element.key == "_id" {
                self.writer.copy(element);
            } else if let Some(stub) = self.stub(&element) {
                self.keep(&stub, element);
            } else if at.cold.iter().any(|path| names(&path) && path.len() == at.level + 1) {
                self.place(element, at.before, COLD_VALUE_BYTES);
            } else {
                let cold: Vec<&Path> = at.cold.iter().filter(names).copied().collect();
                match self.inner(&element, !cold.is_empty()) {
                    Some(inner) => {
                        let before = at.before.and_then(|before| before.inside(element.key));
                        self.writer.begin_document(element.key);
                        self.document(inner, Depth { level: at.level + 1, cold: &cold, before });
                        self.writer.end();
                    }
                    None => self.place(element, at.before, LARGE_VALUE_BYTES),
                }
            }
        }
    }

    fn place(&mut self, element: Element<'_>, before: Option<Before<'_>>, bytes_max: usize) {
        if element.bytes.len() <= bytes_max {
            return self.writer.copy(element);
        }
        match before.and_then(|before| before.large(element.key, self.secret)) {
            Some(was) if was.is(&element) => self.keep(&was.stub, was.stored),
            was => self.take(element, was.and_then(|was| was.segments())),
        }
    }

    fn keep(&mut self, stub: &Stub<'_>, stored: Element<'_>) {
        self.kept.extend(stub.numbers());
        self.grown += (stub.length as usize).saturating_sub(stored.bytes.len());
        self.writer.copy(stored);
    }

    fn stub<'e>(&self, element: &Element<'e>) -> Option<Stub<'e>> {
        if self.stubs { Stub::read(element, self.secret) } else { None }
    }

    /// A sub-document that is large, or may hold stubs or something cold.
    fn inner<'a>(&self, element: &Element<'a>, cold: bool) -> Option<&'a RawDocument> {
        let look = element.kind == ElementType::EmbeddedDocument
            && (self.stubs || cold || element.bytes.len() > LARGE_VALUE_BYTES);
        if look { element.value().as_document() } else { None }
    }

    fn take(&mut self, element: Element<'_>, former: Option<Former<'_>>) {
        let stub_bytes = match cut(&element, former.as_ref()) {
            Some(runs) => {
                let segments: Vec<Segment> =
                    runs.iter().map(|run| self.segment(run, &element)).collect();
                write_segments(&element, &segments, self.secret, &mut self.writer)
            }
            None => {
                let number = self.number();
                self.values.push((number, element.bytes.into()));
                let items = if element.kind == ElementType::Array { items(&element) } else { 0 };
                write_whole(&element, number, items, self.secret, &mut self.writer)
            }
        };
        self.grown += element.bytes.len().saturating_sub(stub_bytes);
    }

    fn segment(&mut self, run: &ElementRun, array: &Element<'_>) -> Segment {
        let number = match run.stored {
            Some(number) => {
                self.kept.push(number);
                number
            }
            None => {
                let number = self.number();
                self.values.push((number, run.write(array)));
                number
            }
        };
        run.segment(number)
    }

    /// A number that nothing has. It is not the one that has become free last, so that
    /// a number says the same for long.
    fn number(&mut self) -> u32 {
        loop {
            let number = self.next;
            self.next = self.next.wrapping_add(1);
            if self.taken.binary_search(&number).is_err() {
                return number;
            }
        }
    }
}
