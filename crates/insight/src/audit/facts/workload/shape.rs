//! Field names and operators without the values, in one form for both records: the profile
//! has `{a: 1, b: 2}` where `$queryStats` has `{$and: [{a: {$eq: "?number"}}, …]}`.

use bson::{Bson, Document};

/// A filter: its conditions in order of name.
pub fn filter(filter: &Document, out: &mut String) {
    let mut conditions = Vec::new();
    gather(filter, &mut conditions);
    conditions.sort();
    out.push('{');
    for condition in conditions {
        out.push_str(&condition);
        out.push(',');
    }
    out.push('}');
}

fn gather(filter: &Document, conditions: &mut Vec<String>) {
    for (key, value) in filter {
        match value {
            Bson::Array(parts) if key == "$and" => {
                parts
                    .iter()
                    .filter_map(Bson::as_document)
                    .for_each(|part| gather(part, conditions));
            }
            Bson::Array(parts) if key.starts_with('$') => {
                let parts = parts.iter().filter_map(Bson::as_document);
                let mut out = key.clone();
                parts.for_each(|part| self::filter(part, &mut out));
                conditions.push(out);
            }
            Bson::Document(operators) if is_operators(operators) => {
                for (operator, operand) in operators {
                    conditions.push(condition(key, operator, operand));
                }
            }
            Bson::RegularExpression(regex) => {
                let ends = ends(regex.pattern.as_str());
                conditions.push(format!("{key}:$regex{ends}{}", regex.options.as_str()));
            }
            other => conditions.push(condition(key, "$eq", other)),
        }
    }
}

fn condition(key: &str, operator: &str, operand: &Bson) -> String {
    let mut out = format!("{key}:{operator}:");
    match operand {
        Bson::Document(inner) if operator != "$eq" => self::filter(inner, &mut out),
        Bson::String(text) if operator == "$options" => out.push_str(text),
        Bson::String(text) if operator == "$regex" => {
            out.push_str(ends(text));
            out.push('?');
        }
        Bson::RegularExpression(regex) => {
            out.push_str(ends(regex.pattern.as_str()));
            out.push_str(regex.options.as_str());
        }
        _ => out.push('?'),
    }
    out
}

/// Where a pattern is bound: an index serves one with a beginning and not one without.
fn ends(pattern: &str) -> &'static str {
    match (pattern.starts_with('^'), pattern.ends_with('$')) {
        (true, true) => "^$",
        (true, false) => "^",
        (false, _) => "",
    }
}

/// Whether a document is a list of operators and no value.
pub fn is_operators(document: &Document) -> bool {
    document.keys().next().is_some_and(|key| key.starts_with('$'))
}

/// A projection: `_id` comes with the others unless it is left out.
pub fn projection(projection: &Document, out: &mut String) {
    let with_id = |(key, value): &(&String, &Bson)| *key == "_id" && is_set(value);
    let fields = projection.iter().filter(|field| !with_id(field));
    document(&fields.map(|(key, value)| (key.clone(), value.clone())).collect(), out);
}

/// Whether a value in a projection says that the field is wanted.
pub fn is_set(value: &Bson) -> bool {
    !matches!(value, Bson::Boolean(false) | Bson::Int32(0) | Bson::Int64(0))
        && !matches!(value, Bson::Double(number) if *number == 0.0)
}

pub fn stage(stage: &Document, out: &mut String) {
    match stage.iter().next() {
        Some((name, Bson::Document(inner))) if name == "$match" => {
            out.push_str(name);
            filter(inner, out);
        }
        Some((name, Bson::Document(inner))) if name == "$project" => {
            out.push_str(name);
            projection(inner, out);
        }
        _ => document(stage, out),
    }
}

pub fn document(document: &Document, out: &mut String) {
    out.push('{');
    for (key, value) in document {
        out.push_str(key);
        out.push(':');
        self::value(value, out);
        out.push(',');
    }
    out.push('}');
}

fn value(value: &Bson, out: &mut String) {
    match value {
        Bson::Document(inner) => document(inner, out),
        Bson::Array(items) if items.iter().any(is_part) => {
            items.iter().for_each(|item| self::value(item, out));
        }
        Bson::RegularExpression(regex) => out.push_str(regex.options.as_str()),
        // A path in an expression is part of the shape.
        Bson::String(text) if text.starts_with('$') => out.push_str(text),
        other if !is_set(other) => out.push('0'),
        _ => out.push('?'),
    }
}

fn is_part(item: &Bson) -> bool {
    matches!(item, Bson::Document(_) | Bson::Array(_))
        || item.as_str().is_some_and(|text| text.starts_with('$'))
}

/// The fields of a filter with what is asked of them: `a`, `b: $gte`, `$or`.
pub fn fields(filter: &Document) -> Vec<String> {
    let field = |(key, value): (&String, &Bson)| match value {
        Bson::Document(operators) if is_operators(operators) => {
            let operators: Vec<&str> = operators.keys().map(|it| &**it).collect();
            match &operators[..] {
                ["$eq"] => key.clone(),
                _ => format!("{key}: {}", operators.join(" ")),
            }
        }
        Bson::RegularExpression(_) => format!("{key}: $regex"),
        _ => key.clone(),
    };
    filter.iter().map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    fn of(filter: &Document) -> String {
        let mut out = String::new();
        self::filter(filter, &mut out);
        out
    }

    #[test]
    fn both_records_give_one_shape() {
        for (profiled, counted) in [
            (
                doc! { "a": 1, "b": "x" },
                doc! { "$and": [{ "b": { "$eq": "?string" } }, { "a": { "$eq": "?number" } }] },
            ),
            (
                doc! { "a": { "$gte": 1, "$lt": 2 } },
                doc! { "$and": [{ "a": { "$gte": "?number" } }, { "a": { "$lt": "?number" } }] },
            ),
            (doc! { "a": { "$in": [1, 2] } }, doc! { "a": { "$in": "?array<?number>" } }),
            (
                doc! { "$or": [{ "a": 1 }, { "b": 1 }] },
                doc! { "$or": [{ "a": { "$eq": "?number" } }, { "b": { "$eq": "?number" } }] },
            ),
            (doc! { "a": { "b": 1 } }, doc! { "a": { "$eq": "?object" } }),
        ] {
            assert_eq!(of(&profiled), of(&counted));
        }
        assert_ne!(of(&doc! { "a": 1 }), of(&doc! { "a": { "$gt": 1 } }));
        assert_ne!(of(&doc! { "a": 1 }), of(&doc! { "b": 1 }));
        let (mut profiled, mut counted) = (String::new(), String::new());
        projection(&doc! { "a": 1 }, &mut profiled);
        projection(&doc! { "a": true, "_id": true }, &mut counted);
        assert_eq!(profiled, counted);
        let (mut included, mut excluded) = (String::new(), String::new());
        projection(&doc! { "a": 1 }, &mut included);
        projection(&doc! { "a": 0 }, &mut excluded);
        assert_ne!(included, excluded);
    }

    #[test]
    fn patterns_with_a_beginning_are_another_shape() {
        let regex = |pattern: &str| doc! { "a": { "$regex": pattern, "$options": "i" } };
        assert_ne!(of(&regex("ulm 1")), of(&regex("^ulm 1")));
        assert_ne!(of(&regex("^ulm 1$")), of(&regex("^ulm 1")));
        assert_eq!(of(&regex("^ulm 1$")), of(&regex("^ulm 23$")));
        let literal = |pattern: &str| {
            let (pattern, options) = (pattern.try_into().unwrap(), "i".try_into().unwrap());
            doc! { "a": bson::Regex { pattern, options } }
        };
        assert_ne!(of(&literal("ulm 1")), of(&literal("^ulm 1")));
        assert_eq!(of(&literal("ulm 1")), of(&literal("bonn")));
    }

    #[test]
    fn paths_in_stages_are_part_of_the_shape() {
        let of = |document: Document| {
            let mut out = String::new();
            stage(&document, &mut out);
            out
        };
        let sum = |path: &str| of(doc! { "$group": { "_id": "$a", "n": { "$sum": path } } });
        assert_eq!(sum("$b"), sum("$b"));
        assert_ne!(sum("$b"), sum("$c"));
        let limit = |number: i32| of(doc! { "$limit": number });
        assert_eq!(limit(5), limit(50));
    }
}
