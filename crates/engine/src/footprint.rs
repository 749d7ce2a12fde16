//! What commands and definitions take in memory once they are parsed, estimated from their
//! BSON by one walk: filters, projections, updates and pipelines as trees, patterns compiled,
//! plans. It is reserved from the budget before anything is parsed. An estimate may be too high
//! and not too low: `tests/footprint` compares it with what the requests of the cost table
//! allocate.

use bson::spec::ElementType;
use bson::{RawArray, RawBsonRef, RawDocument};
use command::{Command, Request};
use value::element::as_document;
use value::{Element, elements};

/// What is shorter than this is parsed without a look at it.
const LOOK_BYTES_MIN: usize = 1024;

/// What is parsed keeps its BSON, and what is planned keeps it again.
const BYTE_TIMES: usize = 4;

/// A condition, an operand, a field of a projection or an update, with its part in the plan.
const ELEMENT_BYTES: usize = 768;

/// A value in a list, such as those of `$in`.
const VALUE_BYTES: usize = 384;

/// One more name in a dotted path.
const NAME_BYTES: usize = 128;

/// A statement of a write as its command's view has it, before it is parsed.
const STATEMENT_BYTES: usize = 256;

/// A document to be inserted.
const DOCUMENT_BYTES: usize = 64;

/// The operators of an update whose operands are data, which is not parsed.
const ASSIGNMENTS: &[&str] = &["$set", "$setOnInsert"];

/// What a command is parsed to. The statements of a write are parsed one after the other, so
/// the largest counts.
pub fn of_request(request: &Request, row: &Command) -> usize {
    if request.bytes() < LOOK_BYTES_MIN {
        return 0;
    }
    let Some((statements, each_bytes)) = statements(row.name) else {
        return of_command(request.body(), row);
    };
    let mut batch = Batch { each_bytes, ..Batch::default() };
    let mut rest = Tally::default();
    for element in elements(request.body()) {
        match element.as_document() {
            Some(inner) if element.key == statements => {
                elements(inner).filter_map(|it| it.as_document()).for_each(|it| batch.add(it));
            }
            _ => rest.argument(element),
        }
    }
    for sequence in request.sequences() {
        sequence.iter().for_each(|statement| batch.add(statement));
    }
    rest.bytes() + batch.bytes()
}

/// What a definition, or a part of one, is parsed to.
pub fn of_document(document: &RawDocument) -> usize {
    let mut tally = Tally::default();
    if document.as_bytes().len() >= LOOK_BYTES_MIN {
        tally.text(document);
    }
    tally.bytes()
}

pub fn of_pipeline(pipeline: &RawArray) -> usize {
    of_document(as_document(pipeline))
}

/// The field with the statements of a write, and what each takes before it is parsed.
fn statements(command: &str) -> Option<(&'static str, usize)> {
    match command {
        "bulkWrite" => Some(("ops", STATEMENT_BYTES)),
        "delete" => Some(("deletes", STATEMENT_BYTES)),
        "insert" => Some(("documents", DOCUMENT_BYTES)),
        "update" => Some(("updates", STATEMENT_BYTES)),
        _ => None,
    }
}

fn of_command(command: &RawDocument, row: &Command) -> usize {
    use command::table::Kind;
    match row.kind {
        Kind::Read | Kind::Write | Kind::Schema => {
            let mut tally = Tally::default();
            elements(command).for_each(|argument| tally.argument(argument));
            tally.bytes()
        }
        // Lists of sessions, parameters: they are read to about what they are.
        Kind::Server | Kind::Session => BYTE_TIMES * command.as_bytes().len(),
    }
}

/// The statements of a write.
#[derive(Default)]
struct Batch {
    each_bytes: usize,
    count: usize,
    largest: usize,
}

impl Batch {
    fn add(&mut self, statement: &RawDocument) {
        self.count += 1;
        let is_data = self.each_bytes == DOCUMENT_BYTES;
        if is_data || statement.as_bytes().len() < LOOK_BYTES_MIN {
            return;
        }
        let mut tally = Tally::default();
        elements(statement).for_each(|argument| tally.argument(argument));
        self.largest = self.largest.max(tally.bytes());
    }

    fn bytes(&self) -> usize {
        self.each_bytes * self.count + self.largest
    }
}

/// What a walk has met.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    copied: usize,
    elements: usize,
    values: usize,
    names: usize,
    /// What patterns are compiled to.
    patterns_bytes: usize,
}

impl Tally {
    fn bytes(&self) -> usize {
        BYTE_TIMES * self.copied
            + ELEMENT_BYTES * self.elements
            + VALUE_BYTES * self.values
            + NAME_BYTES * self.names
            + self.patterns_bytes
    }

    /// An argument of a command, or of a statement.
    fn argument(&mut self, argument: Element<'_>) {
        match (argument.key, argument.kind) {
            ("u" | "update" | "updateMods", ElementType::EmbeddedDocument) => {
                self.modification(argument);
            }
            // Of an insert in a `bulkWrite`.
            ("document", _) => {}
            _ => self.element(argument, false),
        }
    }

    /// An update by operators, or a replacement, which is data.
    fn modification(&mut self, update: Element<'_>) {
        self.copied += update.bytes.len();
        for operator in update.children().filter(|operator| operator.key.starts_with('$')) {
            if !ASSIGNMENTS.contains(&operator.key) {
                self.element(operator, false);
                continue;
            }
            for assigned in operator.children() {
                self.elements += 1;
                self.names += dots(assigned.key);
            }
        }
    }

    /// What is parsed whole.
    fn text(&mut self, document: &RawDocument) {
        self.copied += document.as_bytes().len();
        elements(document).for_each(|element| self.inner(element, false));
    }

    fn pattern(&mut self, pattern: &str) {
        self.patterns_bytes += language::regex::compiled_bytes(pattern);
    }

    fn element(&mut self, element: Element<'_>, in_list: bool) {
        self.copied += element.bytes.len();
        self.inner(element, in_list);
    }

    fn inner(&mut self, element: Element<'_>, in_list: bool) {
        let is_scalar = !matches!(element.kind, ElementType::EmbeddedDocument | ElementType::Array);
        // A text in a list may be a path, such as those of `$unset`.
        match in_list && is_scalar && element.kind != ElementType::String {
            true => self.values += 1,
            false => self.elements += 1,
        }
        if !in_list {
            self.names += dots(element.key);
        }
        match element.value() {
            RawBsonRef::RegularExpression(regex) => self.pattern(regex.pattern.as_str()),
            RawBsonRef::String(text) => {
                self.names += dots(text);
                if matches!(element.key, "$regex" | "regex" | "pattern") {
                    self.pattern(text);
                }
            }
            _ => {}
        }
        let is_list = element.kind == ElementType::Array;
        for inner in element.children() {
            match element.key {
                "patternProperties" => self.pattern(inner.key),
                // From one path to another.
                "$rename" => self.elements += 1,
                _ => {}
            }
            self.inner(inner, is_list);
        }
    }
}

/// How many names a path has behind its first.
fn dots(path: &str) -> usize {
    path.bytes().filter(|byte| *byte == b'.').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{RawBson, rawdoc};

    fn tally(document: &RawDocument) -> Tally {
        let mut tally = Tally::default();
        tally.text(document);
        tally
    }

    fn regex() -> RawBson {
        RawBson::RegularExpression(bson::Regex {
            pattern: bson::cstr!("a").into(),
            options: bson::cstr!("").into(),
        })
    }

    fn of(command: &RawDocument) -> usize {
        let request = Request::from(command.to_owned());
        let row = command::command(request.name()).expect("a command");
        of_request(&request, row)
    }

    #[test]
    fn patterns_are_found_wherever_they_stand() {
        let filter = rawdoc! {
            "a": { "$nin": [regex(), regex()] },
            "b": { "$regex": "x" },
            "$jsonSchema": { "patternProperties": { "^a": {}, "^b": { "pattern": "c" } } },
        };
        let Tally { patterns_bytes, .. } = tally(&filter);
        let one = language::regex::compiled_bytes("a");
        assert_eq!(patterns_bytes / one, 6);
    }

    #[test]
    fn names_of_paths_count_in_keys_and_in_expressions() {
        let pipeline = rawdoc! { "a.b.c": 1, "x": "$d.e", "y": "text", "z": ["f.g", 1] };
        let Tally { elements, values, names, .. } = tally(&pipeline);
        assert_eq!((elements, values, names), (5, 1, 4));
    }

    #[test]
    fn what_is_short_is_not_looked_at() {
        assert_eq!(of(&rawdoc! { "find": "c", "filter": { "a": regex() } }), 0);
    }

    #[test]
    fn data_is_not_parsed() {
        let text = "x".repeat(LOOK_BYTES_MIN);
        let many = rawdoc! { "text": text.clone(), "list": [[1, 2], [3, 4], [{ "a": 1 }]] };
        let inserted = of(&rawdoc! { "insert": "c", "documents": [many.clone()] });
        assert!(inserted < 2 * ELEMENT_BYTES, "{inserted}");
        let update = |u: &RawDocument| {
            of(&rawdoc! {
                "update": "c", "updates": [{ "q": {}, "u": u.to_owned() }],
            })
        };
        let replaced = update(&many);
        let set = update(&rawdoc! { "$set": { "a": many.clone() } });
        let pulled = update(&rawdoc! { "$pull": { "a": many.clone() } });
        assert!(replaced < set && set < replaced + 2 * ELEMENT_BYTES, "{replaced} {set}");
        assert!(pulled > set + 5 * ELEMENT_BYTES, "{set} {pulled}");
    }

    #[test]
    fn statements_are_parsed_one_after_the_other() {
        let filter = rawdoc! { "a": "x".repeat(LOOK_BYTES_MIN) };
        let deletes = |count| {
            let one = rawdoc! { "q": filter.clone(), "limit": 1 };
            let all: bson::RawArrayBuf = std::iter::repeat_n(RawBson::from(one), count).collect();
            of(&rawdoc! { "delete": "c", "deletes": all })
        };
        assert_eq!(deletes(10) - deletes(2), 8 * STATEMENT_BYTES);
    }
}
