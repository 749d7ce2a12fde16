//! Scripts that move what makes documents large into documents of its own, for servers that
//! do not do it by themselves.
//!
//! A script is one statement, since the shell goes on after a statement that fails. It goes from
//! document to document: it copies, reads the copy back, and removes by `_id` what was copied,
//! if it has not changed in between. A copy that already exists is never overwritten. What
//! cannot be moved stays, and the script says so.

use crate::audit::census::Node;
use crate::audit::detectors::Subject;
use crate::report::{Cure, member, name};
use bson::spec::ElementType;
use serde_json::Value;

/// Characters or bytes of a part of a long value.
const PART: u32 = 200_000;

/// Moves what is behind the first elements of an array, one document an element. The document
/// keeps the number of the next one, so that the script can be run again when arrays have grown.
pub fn move_elements(subject: &Subject<'_>, path: &str, head: u64) -> Cure {
    let place = Place::new(subject, path);
    let Place { into, value: array, .. } = &place;
    let next = next_field(subject, into);
    let (next, next_path) = (name(&next), Value::from(format!("${next}")));
    let over = name(&format!("{path}.{head}"));
    let field = &place.field;
    let work = format!(
        "  const one = from.aggregate([{{$match: {{_id}}}}, {{$project: {{kind: {{$type: {array}}}, \
         value: {array}, next: {{$ifNull: [{next_path}, {head}]}}}}}}]).next();\n  \
         if (!one || one.kind !== \"array\" || one.value.length <= {head}) {{ left.push(_id); continue; }}\n  \
         const value = one.value, next = Number(one.next), end = next + value.length - {head};\n  \
         from.aggregate([\n    \
         {{$match: {{_id}}}}, {{$project: {{item: {{$slice: [{array}, {head}, value.length]}}}}}},\n    \
         {{$unwind: {{path: \"$item\", includeArrayIndex: \"at\"}}}},\n    \
         {{$project: {{_id: {{of: \"$_id\", at: {{$add: [\"$at\", next]}}}}, item: 1}}}},\n    \
         {{$merge: {{into: {into}, whenMatched: \"keepExisting\"}}}}\n  \
         ]);\n  \
         const copies = into.find({{_id: {{$gte: {{of: _id, at: next}}, $lt: {{of: _id, at: end}}}}}}).sort({{_id: 1}});\n  \
         const copied = same(copies.toArray().map(it => it.item), value.slice({head}));\n  \
         {}",
        place.remove(
            array,
            &format!(
                "{{$push: {{{field}: {{$each: [], $slice: {head}}}}}, $set: {{{next}: end}}}}"
            )
        )
    );
    let about = format!(
        "// What is behind the first {head} elements goes to {into}, an element a document; the\n\
         // application must read it there. Run it again as often as arrays grow."
    );
    Cure::script("outlier", &place.script(&about, &format!("{{{over}: {{$exists: true}}}}"), &work))
}

/// Moves a large field into documents of its own: a document by its keys, a long text or
/// binary value in parts. `None` where the values are of a type that cannot be split.
pub fn split_field(
    subject: &Subject<'_>,
    path: &str,
    node: &Node,
    from_bytes: u64,
) -> Option<Cure> {
    let large = format!("{{$expr: {{$gte: [{{$bsonSize: \"$$ROOT\"}}, {from_bytes}]}}}}");
    if node.is_of(&[ElementType::EmbeddedDocument]) {
        return Some(Cure::script("subset", &by_keys(subject, path, &large)));
    }
    let parts = node.has_any(&[ElementType::String, ElementType::Binary]);
    parts.then(|| Cure::script("subset", &in_parts(subject, path, &large)))
}

/// Moves the keys of a document, each into a document of its own.
pub fn split_keys(subject: &Subject<'_>, path: &str) -> Cure {
    let filter = format!("{{{}: {{$type: \"object\"}}}}", name(path));
    Cure::script("attribute", &by_keys(subject, path, &filter))
}

/// Moves a field into documents with the same `_id`s; of an array, each element, so that it
/// does not go on growing there.
pub fn move_field(subject: &Subject<'_>, path: &str, is_array: bool) -> Cure {
    let place = Place::new(subject, path);
    let Place { into, value, field, .. } = &place;
    let work = if is_array {
        format!(
            "  const one = from.aggregate([{{$match: {{_id}}}}, {{$project: {{kind: {{$type: {value}}}, value: {value}}}}}]).next();\n  \
             if (!one || one.kind !== \"array\" || one.value.length === 0) {{ left.push(_id); continue; }}\n  \
             const value = one.value;\n  \
             from.aggregate([\n    \
             {{$match: {{_id}}}}, {{$unwind: {{path: {value}, includeArrayIndex: \"at\"}}}},\n    \
             {{$project: {{_id: {{of: \"$_id\", at: \"$at\"}}, {field}: 1}}}},\n    \
             {{$merge: {{into: {into}, whenMatched: \"keepExisting\"}}}}\n  \
             ]);\n  \
             const copies = into.find({{_id: {{$gte: {{of: _id, at: 0}}, $lt: {{of: _id, at: value.length}}}}}}).sort({{_id: 1}});\n  \
             const copied = same(copies.toArray().map(it => {}), value);\n  \
             {}",
            member("it", path),
            place.remove(value, &place.unset())
        )
    } else {
        format!(
            "  const read = [{{$match: {{_id}}}}, {{$project: {{kind: {{$type: {value}}}, value: {value}}}}}];\n  \
             const one = from.aggregate(read).next();\n  \
             if (!one || one.kind === \"missing\") continue;\n  \
             const value = one.value;\n  \
             from.aggregate([{{$match: {{_id}}}}, {{$project: {{{field}: 1}}}}, \
             {{$merge: {{into: {into}, whenMatched: \"keepExisting\"}}}}]);\n  \
             const copied = same(into.aggregate(read).next(), one);\n  \
             {}",
            place.remove(value, &place.unset())
        )
    };
    let about =
        format!("// The field goes to {into}; those who need it must read and write it there.");
    let filter = format!("{{{field}: {{$exists: true}}}}");
    Cure::script("subset", &place.script(&about, &filter, &work))
}

fn by_keys(subject: &Subject<'_>, path: &str, filter: &str) -> String {
    let place = Place::new(subject, path);
    let Place { into, value, .. } = &place;
    let keys = format!(
        "{{$cond: [{{$eq: [{{$type: {value}}}, \"object\"]}}, {{$objectToArray: {value}}}, null]}}"
    );
    let work = format!(
        "  const keys = {keys};\n  \
         const one = from.aggregate([{{$match: {{_id}}}}, {{$project: {{value: keys}}}}]).next();\n  \
         if (!one || !one.value || one.value.length === 0) {{ left.push(_id); continue; }}\n  \
         const value = one.value;\n  \
         from.aggregate([\n    \
         {{$match: {{_id}}}}, {{$project: {{item: keys}}}}, {{$unwind: \"$item\"}},\n    \
         {{$project: {{_id: {{of: \"$_id\", key: \"$item.k\"}}, value: \"$item.v\"}}}},\n    \
         {{$merge: {{into: {into}, whenMatched: \"keepExisting\"}}}}\n  \
         ]);\n  \
         let copied = true;\n  \
         for (const {{k, v}} of value) {{\n    \
         const copy = into.findOne({{_id: {{of: _id, key: k}}}});\n    \
         copied = copied && copy !== null && same(copy.value, v);\n  \
         }}\n  \
         {}",
        place.remove("keys", &place.unset())
    );
    let about = format!(
        "// Each key becomes a document of {into}; the application must read and write it there."
    );
    place.script(&about, filter, &work)
}

fn in_parts(subject: &Subject<'_>, path: &str, large: &str) -> String {
    let place = Place::new(subject, path);
    let Place { into, value, .. } = &place;
    let work = format!(
        "  const one = from.aggregate([{{$match: {{_id}}}}, {{$project: {{kind: {{$type: {value}}}, value: {value}}}}}]).next();\n  \
         const text = one && one.kind === \"string\", binary = one && one.kind === \"binData\";\n  \
         const value = one && one.value, size = text ? value.length : binary ? value.length() : 0;\n  \
         if (size === 0) {{ left.push(_id); continue; }}\n  \
         const parts = [];\n  \
         let copied = true;\n  \
         for (let at = 0, n = 0, end; at < size; at = end, n++) {{\n    \
         end = Math.min(at + {PART}, size);\n    \
         // No character is cut in two.\n    \
         if (text && end < size && value.codePointAt(end - 1) > 0xffff) end++;\n    \
         const part = text ? value.slice(at, end) : new Binary(value.buffer.subarray(at, end), value.sub_type);\n    \
         into.updateOne({{_id: {{of: _id, n}}}}, {{$setOnInsert: {{part}}}}, {{upsert: true}});\n    \
         const copy = into.findOne({{_id: {{of: _id, n}}}});\n    \
         copied = copied && copy !== null && same(copy.part, part);\n    \
         parts.push(copy && copy.part);\n  \
         }}\n  \
         copied = copied && !into.findOne({{_id: {{of: _id, n: parts.length}}}}) && (!text || parts.join(\"\") === value);\n  \
         {}",
        place.remove(value, &place.unset())
    );
    let about = format!(
        "// A value in parts, as GridFS keeps files, in {into}; the application must put them\n\
         // together by n."
    );
    place.script(&about, large, &work)
}

/// A field that no document has, for the number of the next element that is moved.
fn next_field(subject: &Subject<'_>, into: &Value) -> String {
    let wanted = format!("{}_next", into.as_str().unwrap_or_default().replace('.', "_"));
    let numbered = (2..).map(|number| format!("{wanted}{number}"));
    let mut names = std::iter::once(wanted.clone()).chain(numbered);
    names.find(|name| subject.census.tree.find(name).is_none()).unwrap_or(wanted)
}

/// A field of a collection and the collection beside, as the shell writes them.
struct Place {
    from: Value,
    into: Value,
    /// The field as a key, and in an expression.
    field: String,
    value: String,
}

impl Place {
    fn new(subject: &Subject<'_>, path: &str) -> Place {
        let collection = &*subject.collection.namespace.collection;
        // No name of a collection has a `$`.
        let last = path.rsplit('.').next().unwrap_or(path).replace('$', "");
        Place {
            from: Value::from(collection),
            into: Value::from(subject.free_name(&format!("{collection}_{last}"))),
            field: name(path),
            value: Value::from(format!("${path}")).to_string(),
        }
    }

    fn unset(&self) -> String {
        format!("{{$unset: {{{}: \"\"}}}}", self.field)
    }

    /// Removes what was copied, if it is still the same.
    fn remove(&self, read: &str, update: &str) -> String {
        format!(
            "const unchanged = {{_id, $expr: {{$eq: [{read}, {{$literal: value}}]}}}};\n  \
             if (!copied || from.updateOne(unchanged, {update}).modifiedCount === 0) left.push(_id);"
        )
    }

    /// The frame of all: `work` is done for each document that the filter finds.
    fn script(&self, about: &str, filter: &str, work: &str) -> String {
        let Place { from, into, .. } = self;
        format!(
            "{about} What was copied is removed here.\n\
             const from = db.getCollection({from}), into = db.getCollection({into}), left = [];\n\
             const same = (a, b) => EJSON.stringify(a, {{relaxed: false}}) === EJSON.stringify(b, {{relaxed: false}});\n\
             for (const {{_id}} of from.find({filter}, {{_id: 1}}).toArray()) {{\n\
             {work}\n\
             }}\n\
             if (left.length > 0) print(left.length + \" documents stay as they are, since the field changed, is of \
             another type, or has another copy in \" + into.getName() + \": \" + EJSON.stringify(left.slice(0, 10)));"
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::audit::Target;
    use crate::audit::detectors::fixture::Fixture;
    use crate::report::Remedy;
    use bson::{Bson, Document, RawDocumentBuf, doc};

    fn cures(document: &Document) -> Vec<String> {
        let fixture = Fixture::new([RawDocumentBuf::try_from(document).unwrap()]);
        assert_eq!(fixture.target, Target::MongoDb);
        let commands = fixture.all().into_iter().filter_map(|it| match it.cure.remedy {
            Remedy::Command(command) => Some(command),
            Remedy::Policy(_) => None,
        });
        commands.collect()
    }

    /// The shell goes on after a statement that fails.
    #[test]
    fn what_removes_is_one_statement_and_goes_by_id() {
        let text = "x".repeat(9 << 20);
        let many: Vec<Bson> = vec![Bson::from("y".repeat(1_000)); 6_000];
        let keys: Document =
            (0..90).map(|n| (format!("key{n}of"), Bson::from("z".repeat(100_000)))).collect();
        for document in [
            doc! { "_id": 1, "blob": text },
            doc! { "_id": 1, "a": many.clone(), "b": many },
            doc! { "_id": 1, "parts": keys },
        ] {
            let commands = cures(&document);
            assert!(!commands.is_empty());
            for command in commands {
                assert!(command.starts_with("{\n") && command.ends_with("\n}"), "{command}");
                let inner = command.lines().skip(1).take(command.lines().count() - 2);
                assert!(inner.into_iter().all(|line| line.starts_with("  ")), "{command}");
                assert!(!command.contains("updateMany"), "{command}");
                assert!(command.contains("{_id, $expr: {$eq: ["), "{command}");
                assert!(!command.contains("whenMatched: \"replace\""), "{command}");
            }
        }
    }
}
