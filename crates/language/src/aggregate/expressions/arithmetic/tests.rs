use crate::aggregate::expressions::testing::{errors, values};
use bson::{Bson, DateTime, bson};

fn decimal(text: &str) -> Bson {
    Bson::Decimal128(text.parse().unwrap())
}

fn date(millis: i64) -> Bson {
    Bson::DateTime(DateTime::from_millis(millis))
}

#[test]
fn sums_and_products() {
    values(vec![
        (bson!({"$add": []}), bson!(0)),
        (bson!({"$add": ["$int", 1]}), bson!(8)),
        (bson!({"$add": [i32::MAX, 1]}), bson!(2147483648i64)),
        (bson!({"$add": [i64::MAX, 1]}), bson!(9223372036854775808.0)),
        (bson!({"$add": ["$int", "$double"]}), bson!(14.5)),
        (bson!({"$add": ["$int", "$decimal"]}), decimal("14.25")),
        (bson!({"$add": ["$int", "$missing"]}), bson!(null)),
        (bson!({"$add": [null, "text"]}), bson!(null)),
        (bson!({"$add": ["$date", 1000]}), date(1_704_164_646_678)),
        (bson!({"$add": [1.6, "$date"]}), date(1_704_164_645_680)),
        (bson!({"$subtract": ["$int", 8]}), bson!(-1)),
        (bson!({"$subtract": ["$date", "$date"]}), bson!(0i64)),
        (bson!({"$subtract": ["$date", 678]}), date(1_704_164_645_000)),
        (bson!({"$subtract": ["$missing", 1]}), bson!(null)),
        (bson!({"$multiply": ["$int", 2]}), bson!(14)),
        (bson!({"$multiply": [i32::MAX, 2]}), bson!(4294967294i64)),
        (bson!({"$multiply": ["$decimal", 2]}), decimal("14.50")),
        (bson!({"$multiply": ["$null", 2]}), bson!(null)),
        (bson!({"$divide": ["$int", 2]}), bson!(3.5)),
        (bson!({"$divide": ["$decimal", 2]}), decimal("3.625")),
        (bson!({"$divide": ["$missing", 0]}), bson!(null)),
        (bson!({"$mod": ["$negative", 2]}), bson!(-1)),
        (bson!({"$mod": [7.5, 2]}), bson!(1.5)),
        (bson!({"$mod": ["$long", 4]}), bson!(3i64)),
    ]);
    errors(vec![
        (bson!({"$add": ["$string", 1]}), 14),
        (bson!({"$add": ["$date", "$date"]}), 16612),
        (bson!({"$subtract": ["$string", 1]}), 14),
        (bson!({"$subtract": [1, "$date"]}), 14),
        (bson!({"$subtract": [1]}), 16020),
        (bson!({"$multiply": ["$string", 1]}), 14),
        (bson!({"$divide": ["$int", "$zero"]}), 2),
        (bson!({"$divide": ["$string", 1]}), 14),
        (bson!({"$mod": ["$int", 0]}), 16610),
        (bson!({"$mod": ["$string", 1]}), 16611),
        (bson!({"$divide": [1, 0]}), 2),
    ]);
}

#[test]
fn functions_of_one_number() {
    values(vec![
        (bson!({"$abs": "$negative"}), bson!(3)),
        (bson!({"$abs": [i32::MIN]}), bson!(2147483648i64)),
        (bson!({"$abs": "$missing"}), bson!(null)),
        (bson!({"$abs": {"$literal": decimal("-1.5")}}), decimal("1.5")),
        (bson!({"$ceil": 1.2}), bson!(2.0)),
        (bson!({"$ceil": "$decimal"}), decimal("8")),
        (bson!({"$floor": -1.2}), bson!(-2.0)),
        (bson!({"$floor": "$int"}), bson!(7)),
        (bson!({"$exp": 0}), bson!(1.0)),
        (bson!({"$ln": 1}), bson!(0.0)),
        (bson!({"$log": [8, 2]}), bson!(3.0)),
        (bson!({"$log10": 100}), bson!(2.0)),
        (bson!({"$sqrt": 16}), bson!(4.0)),
        (bson!({"$sqrt": decimal("2")}), decimal("1.414213562373095048801688724209698")),
        (bson!({"$sigmoid": 0}), bson!(0.5)),
        (bson!({"$pow": [2, 10]}), bson!(1024)),
        (bson!({"$pow": [2, 40]}), bson!(1099511627776i64)),
        (bson!({"$pow": [2, -1]}), bson!(0.5)),
        (bson!({"$pow": [10, 30]}), bson!(1e30)),
        (bson!({"$pow": ["$null", 1]}), bson!(null)),
    ]);
    errors(vec![
        (bson!({"$abs": "$string"}), 28765),
        (bson!({"$abs": [{"$literal": i64::MIN}]}), 28680),
        (bson!({"$ceil": "$string"}), 28765),
        (bson!({"$exp": "$array"}), 28765),
        (bson!({"$ln": 0}), 28766),
        (bson!({"$log10": -1}), 28761),
        (bson!({"$log": ["$string", 2]}), 28756),
        (bson!({"$log": [2, "$string"]}), 28757),
        (bson!({"$log": [0, 2]}), 28758),
        (bson!({"$log": [2, 1]}), 28759),
        (bson!({"$sqrt": -1}), 28714),
        (bson!({"$pow": [0, -1]}), 28764),
        (bson!({"$pow": ["$string", 1]}), 28762),
        (bson!({"$pow": [1, "$string"]}), 28763),
        (bson!({"$sqrt": [1, 2]}), 16020),
    ]);
}

#[test]
fn rounding() {
    values(vec![
        (bson!({"$round": 2.5}), bson!(2.0)),
        (bson!({"$round": [2.567, 2]}), bson!(2.57)),
        (bson!({"$round": [1234, -2]}), bson!(1200)),
        (bson!({"$round": ["$decimal", 1]}), decimal("7.2")),
        (bson!({"$round": ["$missing", 1]}), bson!(null)),
        (bson!({"$round": [1.5, null]}), bson!(null)),
        (bson!({"$trunc": -2.7}), bson!(-2.0)),
        (bson!({"$trunc": [2.567, 1]}), bson!(2.5)),
    ]);
    errors(vec![
        (bson!({"$round": "$string"}), 51081),
        (bson!({"$round": [1, 1.5]}), 51082),
        (bson!({"$round": [1, 101]}), 51083),
        (bson!({"$trunc": [1, -21]}), 51083),
        (bson!({"$round": [1, 2, 3]}), 28667),
    ]);
}
