use crate::aggregate::expressions::testing::{errors, values};
use bson::bson;

#[test]
fn parts_and_positions() {
    values(vec![
        (bson!({"$concat": ["a", "$string"]}), bson!("aseven")),
        (bson!({"$concat": ["a", "$missing"]}), bson!(null)),
        (bson!({"$concat": []}), bson!("")),
        (bson!({"$indexOfBytes": ["$string", "ev"]}), bson!(1)),
        (bson!({"$indexOfBytes": ["$string", "e", 2]}), bson!(3)),
        (bson!({"$indexOfBytes": ["$string", "e", 2, 3]}), bson!(-1)),
        (bson!({"$indexOfBytes": ["$null", "e"]}), bson!(null)),
        (bson!({"$indexOfCP": ["äöü", "ü"]}), bson!(2)),
        (bson!({"$indexOfCP": ["äöü", "x"]}), bson!(-1)),
        (bson!({"$indexOfBytes": ["äöü", "ü"]}), bson!(4)),
        (bson!({"$split": ["a-b--c", "-"]}), bson!(["a", "b", "", "c"])),
        (bson!({"$split": ["$missing", "-"]}), bson!(null)),
        (bson!({"$strLenBytes": "äb"}), bson!(3)),
        (bson!({"$strLenCP": "äb"}), bson!(2)),
        (bson!({"$strcasecmp": ["ABC", "abd"]}), bson!(-1)),
        (bson!({"$strcasecmp": ["$null", ""]}), bson!(0)),
        (bson!({"$substr": ["$string", 1, 2]}), bson!("ev")),
        (bson!({"$substrBytes": ["$string", 1, -1]}), bson!("even")),
        (bson!({"$substrBytes": ["$string", 9, 1]}), bson!("")),
        (bson!({"$substrBytes": [123, 0, 2]}), bson!("12")),
        (bson!({"$substrCP": ["äöü", 1, 5]}), bson!("öü")),
        (bson!({"$toLower": "AÄ"}), bson!("aÄ")),
        (bson!({"$toUpper": "$missing"}), bson!("")),
        (bson!({"$toUpper": "seven"}), bson!("SEVEN")),
    ]);
    errors(vec![
        (bson!({"$concat": ["$int"]}), 16702),
        (bson!({"$indexOfBytes": ["$int", "e"]}), 40091),
        (bson!({"$indexOfBytes": ["a", 1]}), 40092),
        (bson!({"$indexOfCP": ["$int", "e"]}), 40093),
        (bson!({"$indexOfCP": ["a", 1]}), 40094),
        (bson!({"$indexOfCP": ["a", "a", "x"]}), 40096),
        (bson!({"$indexOfCP": ["a", "a", -1]}), 40097),
        (bson!({"$split": ["$int", "-"]}), 40085),
        (bson!({"$split": ["a", 1]}), 10503900),
        (bson!({"$split": ["a", ""]}), 40087),
        (bson!({"$strLenBytes": "$missing"}), 34473),
        (bson!({"$strLenCP": "$int"}), 34471),
        (bson!({"$substrBytes": ["a", "x", 1]}), 16034),
        (bson!({"$substrBytes": ["a", 1, "x"]}), 16035),
        (bson!({"$substrBytes": ["a", -1, 1]}), 50752),
        (bson!({"$substrBytes": ["ä", 1, 1]}), 28656),
        (bson!({"$substrBytes": ["ä", 0, 1]}), 28657),
        (bson!({"$substrCP": ["a", "x", 1]}), 34450),
        (bson!({"$substrCP": ["a", 0.5, 1]}), 34451),
        (bson!({"$substrCP": ["a", 0, "x"]}), 34452),
        (bson!({"$substrCP": ["a", 0, 0.5]}), 34453),
        (bson!({"$substrCP": ["a", 0, -1]}), 34454),
        (bson!({"$substrCP": ["a", -1, 1]}), 34455),
        (bson!({"$toLower": "$array"}), 16007),
    ]);
}

#[test]
fn trimming_and_replacing() {
    values(vec![
        (bson!({"$trim": {"input": " \t a \u{a0}"}}), bson!("a")),
        (bson!({"$ltrim": {"input": "xxax", "chars": "x"}}), bson!("ax")),
        (bson!({"$rtrim": {"input": "xaxx", "chars": "x"}}), bson!("xa")),
        (bson!({"$trim": {"input": "$missing"}}), bson!(null)),
        (bson!({"$trim": {"input": "a", "chars": null}}), bson!(null)),
        (bson!({"$replaceOne": {"input": "aXbX", "find": "X", "replacement": "-"}}), bson!("a-bX")),
        (bson!({"$replaceAll": {"input": "aXbX", "find": "X", "replacement": "-"}}), bson!("a-b-")),
        (bson!({"$replaceAll": {"input": "$null", "find": "X", "replacement": "-"}}), bson!(null)),
    ]);
    errors(vec![
        (bson!({"$trim": "a"}), 50696),
        (bson!({"$trim": {"input": "a", "x": 1}}), 50694),
        (bson!({"$trim": {"chars": "a"}}), 50695),
        (bson!({"$trim": {"input": "$int"}}), 50699),
        (bson!({"$trim": {"input": "a", "chars": 1}}), 50700),
        (bson!({"$replaceOne": 1}), 51751),
        (bson!({"$replaceOne": {"x": 1}}), 51750),
        (bson!({"$replaceOne": {"find": "a", "replacement": "b"}}), 51749),
        (bson!({"$replaceOne": {"input": "a", "replacement": "b"}}), 51748),
        (bson!({"$replaceOne": {"input": "a", "find": "b"}}), 51747),
        (bson!({"$replaceOne": {"input": 1, "find": "b", "replacement": "c"}}), 10503904),
        (bson!({"$replaceOne": {"input": "a", "find": 1, "replacement": "c"}}), 10503901),
        (bson!({"$replaceOne": {"input": "a", "find": "b", "replacement": 1}}), 10503902),
    ]);
}

#[test]
fn patterns() {
    values(vec![
        (bson!({"$regexMatch": {"input": "$string", "regex": "^s"}}), bson!(true)),
        (bson!({"$regexMatch": {"input": "$string", "regex": "^S", "options": "i"}}), bson!(true)),
        (bson!({"$regexMatch": {"input": "$missing", "regex": "a"}}), bson!(false)),
        (
            bson!({"$regexFind": {"input": "äbc", "regex": "(b)(x)?"}}),
            bson!({"match": "b", "idx": 1, "captures": ["b", null]}),
        ),
        (bson!({"$regexFind": {"input": "abc", "regex": "x"}}), bson!(null)),
        (bson!({"$regexFind": {"input": null, "regex": "x"}}), bson!(null)),
        (
            bson!({"$regexFindAll": {"input": "äbäb", "regex": "b"}}),
            bson!([
                {"match": "b", "idx": 1, "captures": []},
                {"match": "b", "idx": 3, "captures": []},
            ]),
        ),
        (bson!({"$regexFindAll": {"input": "$missing", "regex": "b"}}), bson!([])),
    ]);
    errors(vec![
        (bson!({"$regexMatch": "a"}), 51103),
        (bson!({"$regexMatch": {"input": "a", "regex": "a", "x": 1}}), 31024),
        (bson!({"$regexMatch": {"regex": "a"}}), 31022),
        (bson!({"$regexMatch": {"input": "a"}}), 31023),
        (bson!({"$regexMatch": {"input": "$int", "regex": "a"}}), 51104),
        (bson!({"$regexMatch": {"input": "a", "regex": 1}}), 51105),
        (bson!({"$regexMatch": {"input": "a", "regex": "a", "options": 1}}), 51106),
        (bson!({"$regexMatch": {"input": "a", "regex": "("}}), 51111),
        (bson!({"$regexMatch": {"input": "a", "regex": "a", "options": "q"}}), 51108),
    ]);
}
