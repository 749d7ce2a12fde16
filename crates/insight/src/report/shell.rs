//! Values as one writes them in mongosh.

use serde_json::Value;

/// A value in relaxed extended JSON on one line: names without quotes where they need none,
/// ids and dates as the shell makes them.
pub fn shell(value: &Value) -> String {
    match value {
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let only = map.iter().next().filter(|_| map.len() == 1);
            if let Some((key, Value::String(text))) = only
                && let Some(made) = made(key, text)
            {
                return made;
            }
            let field =
                |(key, value): (&String, &Value)| format!("{}: {}", name(key), shell(value));
            let fields: Vec<String> = map.iter().map(field).collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(shell).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// What the shell has a word for.
fn made(key: &str, text: &str) -> Option<String> {
    let word = match key {
        "$oid" => "ObjectId",
        "$date" => "ISODate",
        "$uuid" => "UUID",
        "$numberDecimal" => "NumberDecimal",
        _ => return None,
    };
    Some(format!("{word}('{text}')"))
}

/// The name of a field, in quotes where it is no plain word.
pub fn name(key: &str) -> String {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    let starts = key.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    match starts && key.bytes().all(word) {
        true => key.to_owned(),
        false => Value::from(key).to_string(),
    }
}

/// The field of a variable: `added.a.b`, `added["a-b"]`.
pub fn member(variable: &str, path: &str) -> String {
    let part = |key: &str| match name(key) {
        word if word == key => format!(".{word}"),
        quoted => format!("[{quoted}]"),
    };
    format!("{variable}{}", path.split('.').map(part).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_written_as_in_the_shell() {
        let value = json!({
            "find": "reviews", "filter": { "a.b": { "$oid": "00" }, "at": { "$gte": { "$date": "2026" } } },
            "sort": { "helpful": -1 }, "list": [1, 2.5, null, "x\"y"], "1": {},
        });
        let text = "{find: \"reviews\", filter: {\"a.b\": ObjectId('00'), at: {$gte: ISODate('2026')}}, \
                    sort: {helpful: -1}, list: [1, 2.5, null, \"x\\\"y\"], \"1\": {}}";
        assert_eq!(shell(&value), text);
        assert_eq!(member("added", "a.b"), "added.a.b");
        assert_eq!(member("added", "a.b-c\"x"), "added.a[\"b-c\\\"x\"]");
    }
}
