//! Windows that move against the same windows accumulated anew by `$group`.

use crate::aggregate::stages::testing::run;
use bson::{Bson, Document, bson, doc};

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as i64 % limit
    }
}

fn rows(seed: u64, count: i64) -> Vec<Document> {
    let mut random = Random(seed);
    let mut t = 0;
    let row = |id: i64| {
        t += random.below(3);
        let mut row = doc! {"_id": id, "t": t, "l": [random.below(3), random.below(4)]};
        match random.below(9) {
            0 => {}
            1 => drop(row.insert("v", Bson::Null)),
            2 => drop(row.insert("v", "text")),
            3 => drop(row.insert("v", random.below(9) as f64 / 4.0)),
            4 => drop(row.insert("v", random.below(9) as i32)),
            _ => drop(row.insert("v", random.below(9))),
        }
        row
    };
    (0..count).map(row).collect()
}

fn accumulators() -> Vec<Document> {
    let by = doc! {"v": -1, "_id": 1};
    vec![
        doc! {"$addToSet": "$v"},
        doc! {"$avg": "$v"},
        doc! {"$bottom": {"sortBy": by.clone(), "output": "$_id"}},
        doc! {"$bottomN": {"n": 2, "sortBy": by.clone(), "output": "$_id"}},
        doc! {"$concatArrays": "$l"},
        doc! {"$count": {}},
        doc! {"$first": "$_id"},
        doc! {"$firstN": {"n": 2, "input": "$v"}},
        doc! {"$last": "$_id"},
        doc! {"$lastN": {"n": 2, "input": "$v"}},
        doc! {"$max": "$t"},
        doc! {"$maxN": {"n": 2, "input": "$t"}},
        doc! {"$median": {"input": "$v", "method": "continuous"}},
        doc! {"$min": "$v"},
        doc! {"$minN": {"n": 2, "input": "$t"}},
        doc! {"$percentile": {"input": "$v", "p": [0.1, 0.9], "method": "approximate"}},
        doc! {"$push": "$v"},
        doc! {"$setUnion": "$l"},
        doc! {"$sum": "$v"},
        doc! {"$top": {"sortBy": by.clone(), "output": "$_id"}},
        doc! {"$topN": {"n": 2, "sortBy": by, "output": "$_id"}},
    ]
}

/// The documents of a window, by its definition.
fn members<'r>(rows: &'r [Document], at: usize, window: &Document) -> Vec<&'r Document> {
    let (by_value, bounds) = match window.get_array("range") {
        Ok(bounds) => (true, bounds),
        Err(_) => (false, window.get_array("documents").unwrap()),
    };
    let place = |at: usize| match by_value {
        true => rows[at].get_i64("t").unwrap(),
        false => at as i64,
    };
    let inside = |other: usize, bound: &Bson, below: bool| match bound {
        Bson::String(name) if name == "unbounded" => true,
        Bson::String(_) if below => other >= at,
        Bson::String(_) => other <= at,
        Bson::Int32(by) if below => place(other) >= place(at) + i64::from(*by),
        Bson::Int32(by) => place(other) <= place(at) + i64::from(*by),
        other => panic!("{other}"),
    };
    let inside =
        |other: &usize| inside(*other, &bounds[0], true) && inside(*other, &bounds[1], false);
    (0..rows.len()).filter(inside).map(|at| &rows[at]).collect()
}

fn windows() -> Vec<Document> {
    let bounds = [
        bson!(["unbounded", "unbounded"]),
        bson!(["unbounded", "current"]),
        bson!(["unbounded", -2]),
        bson!(["unbounded", 3]),
        bson!(["current", "unbounded"]),
        bson!(["current", "current"]),
        bson!([-3, "unbounded"]),
        bson!([2, "unbounded"]),
        bson!([-2, 0]),
        bson!([-4, 1]),
        bson!([-5, -3]),
        bson!([2, 4]),
        bson!([-1000, 1000]),
    ];
    let kinds = ["documents", "range"].into_iter();
    kinds.flat_map(|kind| bounds.iter().map(move |pair| doc! {kind: pair.clone()})).collect()
}

#[test]
fn a_window_that_moves_is_what_it_is_anew() {
    for (seed, count) in [(1, 1), (2, 7), (3, 24)] {
        let rows = rows(seed, count);
        for window in windows() {
            for accumulator in accumulators() {
                let mut function = accumulator.clone();
                function.insert("window", window.clone());
                let stage = doc! {"$setWindowFields": {"sortBy": {"t": 1}, "output": {"w": function.clone()}}};
                let got = run(vec![stage], rows.clone()).unwrap();
                for (at, got) in got.iter().enumerate() {
                    let members: Vec<_> =
                        members(&rows, at, &window).into_iter().cloned().collect();
                    if members.is_empty() {
                        continue;
                    }
                    let group = doc! {"$group": {"_id": null, "w": accumulator.clone()}};
                    let anew = run(vec![group], members).unwrap();
                    assert_eq!(got.get("w"), anew[0].get("w"), "{function} at {at} of {count}");
                }
            }
        }
    }
}

#[test]
fn empty_windows_have_the_values_of_nothing() {
    for (function, expected) in [
        (doc! {"$sum": "$v"}, bson!(0)),
        (doc! {"$avg": "$v"}, Bson::Null),
        (doc! {"$count": {}}, bson!(0)),
        (doc! {"$push": "$v"}, bson!([])),
        (doc! {"$addToSet": "$v"}, bson!([])),
        (doc! {"$first": "$v"}, Bson::Null),
        (doc! {"$last": "$v"}, Bson::Null),
        (doc! {"$min": "$v"}, Bson::Null),
        (doc! {"$stdDevPop": "$v"}, Bson::Null),
        (doc! {"$top": {"sortBy": {"v": 1}, "output": "$v"}}, Bson::Null),
        (doc! {"$median": {"input": "$v", "method": "approximate"}}, Bson::Null),
        (doc! {"$derivative": {"input": "$v"}}, Bson::Null),
        (doc! {"$integral": {"input": "$v"}}, Bson::Null),
        (doc! {"$covariancePop": ["$v", "$v"]}, Bson::Null),
    ] {
        let mut function = function;
        function.insert("window", doc! {"documents": [5, 9]});
        let stage =
            doc! {"$setWindowFields": {"sortBy": {"v": 1}, "output": {"w": function.clone()}}};
        let got = run(vec![stage], vec![doc! {"v": 1}, doc! {"v": 2}]).unwrap();
        assert_eq!(got[0].get("w"), Some(&expected), "{function}");
    }
}

/// The values of a function over windows of two documents.
fn of_pairs(function: Document, values: Vec<Bson>) -> Vec<Bson> {
    let mut function = function;
    function.insert("window", doc! {"documents": [-1, 0]});
    let rows = values.into_iter().zip(0..).map(|(v, t)| doc! {"t": t, "v": v}).collect();
    let stage = doc! {"$setWindowFields": {"sortBy": {"t": 1}, "output": {"w": function}}};
    let out = run(vec![stage], rows).unwrap();
    out.into_iter().map(|row| row.get("w").cloned().unwrap_or(Bson::Undefined)).collect()
}

#[test]
fn what_leaves_a_sum_leaves_no_trace() {
    let inf = f64::INFINITY;
    let values = vec![bson!(inf), bson!(-inf), bson!(1e300), bson!(0.5), bson!(1), bson!(2)];
    let sums = of_pairs(doc! {"$sum": "$v"}, values.clone());
    let Bson::Double(nan) = sums[1] else { panic!("{sums:?}") };
    assert!(nan.is_nan());
    assert_eq!(sums[0], bson!(inf));
    assert_eq!(sums[2..], [bson!(-inf), bson!(1e300), bson!(1.5), bson!(3)]);
    let means = of_pairs(doc! {"$avg": "$v"}, values.clone());
    assert_eq!(means[4..], [bson!(0.75), bson!(1.5)]);
    let deviations = of_pairs(doc! {"$stdDevPop": "$v"}, values);
    assert_eq!(deviations[4..], [bson!(0.25), bson!(0.5)]);
}

#[test]
fn areas_slopes_and_covariances_move() {
    let values: Vec<Bson> = [1, 4, 2, 2].map(Bson::Int32).into();
    let area = doc! {"$integral": {"input": "$v"}};
    assert_eq!(of_pairs(area, values.clone()), [bson!(0), bson!(2.5), bson!(3.0), bson!(2.0)]);
    let slope = doc! {"$derivative": {"input": "$v"}};
    assert_eq!(of_pairs(slope, values.clone()), [Bson::Null, bson!(3.0), bson!(-2.0), bson!(0.0)]);
    let with_place = doc! {"$covariancePop": ["$t", "$v"]};
    assert_eq!(
        of_pairs(with_place, values.clone()),
        [bson!(0.0), bson!(0.75), bson!(-0.5), bson!(0.0)]
    );
    let scaled = doc! {"$minMaxScaler": {"input": "$v"}};
    assert_eq!(of_pairs(scaled, values), [bson!(0), bson!(1.0), bson!(0.0), bson!(0)]);
}
