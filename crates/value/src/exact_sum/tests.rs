use super::*;
use crate::{DocumentWriter, check, sample};
use bson::{RawDocumentBuf, rawdoc};
use dec::{Context, Rounding};
use proptest::prelude::*;

/// Wide enough for the exact sum of any decimals and doubles.
type Exact = dec::Decimal<4700>;

fn of(numbers: &[Number]) -> ExactSum {
    let mut sum = ExactSum::default();
    numbers.iter().for_each(|number| sum.add(*number));
    sum
}

fn stored(sum: &ExactSum) -> RawDocumentBuf {
    let mut out = DocumentWriter::new();
    sum.write(&mut out);
    out.finish()
}

/// The sum and the average, for a comparison bit by bit.
fn results(sum: &ExactSum) -> RawDocumentBuf {
    rawdoc! { "sum": sum.sum(), "avg": sum.avg() }
}

fn decimal(text: &str) -> Number {
    Number::Decimal(text.parse().unwrap())
}

/// What the numbers should give, by the arithmetic of another library.
fn expected(numbers: &[Number]) -> RawDocumentBuf {
    let count = numbers.len();
    let any = |wanted: fn(&Number) -> bool| numbers.iter().any(wanted);
    let decimals = any(|number| number.is_decimal());
    let doubles = any(|number| matches!(number, Number::Double(_)));
    let infinite = any(|number| number.is_infinite() && !number.is_negative());
    let negative_infinite = any(|number| number.is_infinite() && number.is_negative());
    let limit = if any(|number| number.is_nan()) || infinite && negative_infinite {
        Some(f64::NAN)
    } else if infinite || negative_infinite {
        Some(if infinite { f64::INFINITY } else { f64::NEG_INFINITY })
    } else {
        None
    };
    if let Some(limit) = limit {
        let limit = Number::Double(limit);
        let limit = if decimals { Number::Decimal(limit.to_decimal()) } else { limit };
        return rawdoc! { "sum": limit.to_value(), "avg": limit.to_value() };
    }
    let exact = exact_sum(numbers);
    let as_double = |exact: &Exact| RawBson::Double(exact.to_string().parse().unwrap());
    let as_decimal =
        |exact: &Exact| RawBson::Decimal128(crate::decimal::from_dec(exact.to_decimal128()));
    let int64 = any(|number| matches!(number, Number::Int64(_)));
    let integer: i128 =
        numbers.iter().filter_map(|number| number.to_i64_exact()).map(i128::from).sum();
    let sum = match i64::try_from(integer) {
        _ if decimals => as_decimal(&exact),
        _ if doubles => as_double(&exact),
        Ok(sum) if int64 => RawBson::Int64(sum),
        Ok(sum) => Number::from_i64(sum).to_value(),
        Err(_) => as_double(&exact),
    };
    let avg = match count {
        0 => RawBson::Null,
        _ if decimals => as_decimal(&quotient(exact, count)),
        _ => as_double(&quotient(exact, count)),
    };
    rawdoc! { "sum": sum, "avg": avg }
}

fn exact_sum(numbers: &[Number]) -> Exact {
    let mut context = Context::<Exact>::default();
    // Zeros that a double need not have would show in the exponent of the sum.
    let (mut doubles, mut others) = (Exact::zero(), Exact::zero());
    for number in numbers {
        match *number {
            Number::Double(value) => {
                context
                    .add(&mut doubles, &context.clone().parse(format!("{value:.1080e}")).unwrap());
            }
            Number::Decimal(value) => {
                context.add(&mut others, &Exact::from(crate::decimal::to_dec(value)))
            }
            integer => context.add(&mut others, &Exact::from(integer.to_i64_exact().unwrap())),
        }
    }
    doubles.trim();
    context.add(&mut others, &doubles);
    assert!(!context.status().inexact());
    others
}

/// Rounded such that one more rounding to fewer digits is as if there had been none.
fn quotient(mut exact: Exact, count: usize) -> Exact {
    let mut context = Context::<Exact>::default();
    context.set_precision(1200).unwrap();
    context.set_rounding(Rounding::ZeroFiveUp);
    context.div(&mut exact, &Exact::from(count));
    exact
}

/// Doubles near each other, far apart, next to zero and to infinity.
fn finite_double() -> impl Strategy<Value = Number> {
    prop_oneof![
        (-1000i32..1000).prop_map(|hundredths| f64::from(hundredths) / 100.0),
        any::<u64>().prop_map(f64::from_bits),
        (any::<bool>(), 0u64..1 << 54)
            .prop_map(|(negative, bits)| { f64::from_bits(bits | u64::from(negative) << 63) }),
        // These often add up to what is halfway between two doubles.
        (-4i32..4, prop::sample::select(vec![-1074, -1021, -54, -53, -1, 0, 1, 52, 53, 54, 970]))
            .prop_map(|(mantissa, exponent)| f64::from(mantissa) * 2f64.powi(exponent)),
        prop::sample::select(vec![f64::MAX, f64::MIN, 5e-324, 1e308, -0.0, 1.0, 2f64.powi(53)]),
    ]
    .prop_filter_map("finite", |double| double.is_finite().then_some(Number::Double(double)))
}

fn finite_decimal() -> impl Strategy<Value = Number> {
    prop_oneof![
        (-2000i64..2000, -3i32..3),
        (any::<i64>(), -40i32..40),
        (any::<i64>(), -6176i32..-6100),
        (any::<i64>(), 6050i32..6111),
        (-9i64..9, -6176i32..6111),
        // And these between two decimals.
        (prop::sample::select(vec![1, 5, -5, 10, 25]), prop::sample::select(vec![-35, -34, -1, 0])),
        (prop::sample::select(vec![1, 5, -5, 10, 25]), prop::sample::select(vec![-6176, 33, 6110])),
    ]
    .prop_map(|(coefficient, exponent)| decimal(&format!("{coefficient}E{exponent}")))
}

fn integer() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i32>().prop_map(Number::Int32),
        any::<i64>().prop_map(Number::Int64),
        prop::sample::select(vec![Number::Int64(i64::MAX), Number::Int64(i64::MIN)]),
    ]
}

fn any_number() -> impl Strategy<Value = Number> {
    sample::number().prop_map(|value| Number::from_value(value.as_raw_bson_ref()).unwrap())
}

fn numbers() -> impl Strategy<Value = Vec<Number>> {
    let list = |number: BoxedStrategy<Number>| prop::collection::vec(number, 0..12);
    let finite = prop_oneof![finite_double(), finite_decimal(), integer()];
    prop_oneof![
        list(integer().boxed()),
        list(finite_double().boxed()),
        list(finite_decimal().boxed()),
        list(prop_oneof![finite_double(), integer()].boxed()),
        list(finite.boxed()),
        list(any_number().boxed()),
    ]
}

/// What happens to a number: is it taken out again, when, and by which of several sums.
fn fate() -> impl Strategy<Value = (bool, [u16; 2], [usize; 2])> {
    (any::<bool>(), any::<[u16; 2]>(), [0usize..3, 0..3])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn sums_and_averages_are_exact(numbers in numbers()) {
        prop_assert_eq!(results(&of(&numbers)), expected(&numbers));
    }

    /// Whatever comes and goes, in whatever order and through however many sums of changes.
    #[test]
    fn what_was_removed_leaves_no_trace(
        numbers in numbers(),
        fates in prop::collection::vec(fate(), 12),
    ) {
        let (mut events, mut kept) = (Vec::new(), Vec::new());
        for (number, (removed, times, sums)) in numbers.iter().zip(&fates) {
            events.push((times[0], sums[0], true, *number));
            if *removed {
                events.push((times[1], sums[1], false, *number));
            } else {
                kept.push(*number);
            }
        }
        events.sort_by_key(|(time, ..)| *time);
        let mut sums = [ExactSum::default(), ExactSum::default(), ExactSum::default()];
        for (_, sum, added, number) in events {
            if added { sums[sum].add(number) } else { sums[sum].remove(number) }
        }
        let [mut sum, second, third] = sums;
        sum.merge(&second);
        sum.merge(&third);
        prop_assert_eq!(stored(&sum), stored(&of(&kept)));
        prop_assert_eq!(results(&sum), results(&of(&kept)));
        prop_assert_eq!(results(&sum), expected(&kept));
    }

    #[test]
    fn the_stored_form_is_read_as_it_was(numbers in numbers(), more in any_number()) {
        let mut sum = of(&numbers);
        let form = stored(&sum);
        check::document(form.as_bytes(), 8).unwrap();
        let mut read = ExactSum::read(&form).unwrap();
        prop_assert_eq!(&stored(&read), &form);
        prop_assert_eq!(results(&read), results(&sum));
        sum.add(more);
        read.add(more);
        prop_assert_eq!(stored(&read), stored(&sum));
        prop_assert_eq!(results(&read), results(&sum));
    }

    /// A changed byte is found, or makes the form of some other sum.
    #[test]
    fn other_forms_are_refused(numbers in numbers(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut bytes = stored(&of(&numbers)).into_bytes();
        *at.get_mut(&mut bytes) = byte;
        if check::document(&bytes, 8).is_ok()
            && let Ok(document) = RawDocumentBuf::from_bytes(bytes)
            && let Ok(sum) = ExactSum::read(&document)
        {
            prop_assert_eq!(stored(&sum), document);
            results(&sum);
        }
    }
}

#[test]
fn the_widest_type_that_is_left_decides() {
    let mut sum = of(&[Number::Int32(1)]);
    let wide = [Number::Int64(2), Number::Double(0.5), decimal("0.10")];
    let expected =
        [RawBson::Int64(3), RawBson::Double(3.5), RawBson::Decimal128("3.60".parse().unwrap())];
    for (number, expected) in wide.iter().zip(&expected) {
        sum.add(*number);
        assert_eq!(&sum.sum(), expected);
    }
    sum.remove(wide[0]);
    assert_eq!(sum.sum(), RawBson::Decimal128("1.60".parse().unwrap()));
    sum.remove(wide[2]);
    assert_eq!(sum.sum(), RawBson::Double(1.5));
    sum.remove(wide[1]);
    assert_eq!(sum.sum(), RawBson::Int32(1));
    sum.remove(Number::Int32(1));
    assert_eq!((sum.sum(), sum.avg(), sum.count()), (RawBson::Int32(0), RawBson::Null, 0));
    assert_eq!(stored(&sum), rawdoc! {});
}

#[test]
fn integers_outgrow_their_types_and_come_back() {
    assert_eq!(of(&[Number::Int32(i32::MAX), Number::Int32(1)]).sum(), RawBson::Int64(1 << 31));
    let mut sum = of(&[Number::Int64(i64::MAX), Number::Int64(i64::MAX)]);
    assert_eq!(sum.sum(), RawBson::Double(2f64.powi(64)));
    assert_eq!(sum.avg(), RawBson::Double(2f64.powi(63)));
    sum.remove(Number::Int64(i64::MAX));
    assert_eq!(sum.sum(), RawBson::Int64(i64::MAX));
}

#[test]
fn rounding_happens_once() {
    let tenths = vec![Number::Double(0.1); 10];
    assert_eq!(of(&tenths).sum(), RawBson::Double(1.0));
    let large = [1e100, 1.0, -1e100].map(Number::Double);
    assert_eq!(of(&large).sum(), RawBson::Double(1.0));
    // Past infinity and back.
    let mut sum = of(&[f64::MAX, f64::MAX].map(Number::Double));
    assert_eq!(sum.sum(), RawBson::Double(f64::INFINITY));
    assert_eq!(sum.avg(), RawBson::Double(f64::MAX));
    sum.remove(Number::Double(f64::MAX));
    assert_eq!(sum.sum(), RawBson::Double(f64::MAX));
    let mut sum = of(&[decimal("9E6144"), decimal("9E6144"), decimal("1E-6176")]);
    assert_eq!(sum.sum(), RawBson::Decimal128("Infinity".parse().unwrap()));
    sum.remove(decimal("9E6144"));
    sum.remove(decimal("9E6144"));
    assert_eq!(sum.sum(), RawBson::Decimal128("1E-6176".parse().unwrap()));
}

#[test]
fn what_is_not_finite_leaves_no_trace() {
    let mut sum = of(&[Number::Double(0.25), Number::Double(-0.0)]);
    let payload = f64::from_bits(0xFFF8_0000_0000_1234);
    sum.add(Number::Double(f64::INFINITY));
    assert_eq!(sum.sum(), RawBson::Double(f64::INFINITY));
    sum.add(Number::Double(payload));
    let RawBson::Double(nan) = sum.avg() else { panic!("a double") };
    assert_eq!(nan.to_bits(), f64::NAN.to_bits());
    sum.remove(Number::Double(f64::NAN));
    sum.add(decimal("-Infinity"));
    assert_eq!(sum.sum(), RawBson::Decimal128("NaN".parse().unwrap()));
    sum.remove(Number::Double(f64::INFINITY));
    assert_eq!(sum.sum(), RawBson::Decimal128("-Infinity".parse().unwrap()));
    sum.remove(decimal("-Infinity"));
    assert_eq!(stored(&sum), rawdoc! { "d": 2, "f": [-2, 1] });
    let zeros = of(&[Number::Double(-0.0)]);
    let RawBson::Double(zero) = zeros.sum() else { panic!("a double") };
    assert!(zero.is_sign_positive());
}

/// As if very many had been added: each is doubled so often.
#[test]
fn many_of_the_greatest_are_held() {
    let mut sum = ExactSum::default();
    for number in [f64::MAX, -1.0] {
        sum.add(Number::Double(number));
        for _ in 0..20 {
            sum.merge(&sum.clone());
        }
    }
    assert_eq!(sum.sum(), RawBson::Double(f64::INFINITY));
    let form = stored(&sum);
    assert_eq!(stored(&ExactSum::read(&form).unwrap()), form);
    let mut many = of(&[Number::Double(f64::MAX)]);
    (0..20).for_each(|_| many.merge(&many.clone()));
    assert_eq!(many.avg(), RawBson::Double(f64::MAX));
}

#[test]
fn forms_are_those_that_are_described() {
    let sum = of(&[
        Number::Int32(5),
        Number::Int64(12),
        Number::Double(0.75),
        Number::Double(f64::NAN),
        decimal("1.10"),
        decimal("2.20"),
        decimal("Infinity"),
    ]);
    let form = rawdoc! {
        "i": 1, "l": 1, "d": 2, "s": 17, "f": [-2, 3],
        "dx": [1, 0, 0], "mx": [0, 1, 0], "m": [[-2, 2, 330]],
    };
    assert_eq!(stored(&sum), form);
    for other in [
        rawdoc! { "x": 1 },
        rawdoc! { "i": 0 },
        rawdoc! { "i": 1i64 },
        rawdoc! { "i": -1 },
        rawdoc! { "i": 1.0 },
        rawdoc! { "s": 1 },
        rawdoc! { "s": 1, "i": 1 },
        rawdoc! { "i": 1, "i": 1 },
        rawdoc! { "f": [0, 1] },
        rawdoc! { "d": 1, "f": [0, 2] },
        rawdoc! { "d": 1, "f": [-1075, 1] },
        rawdoc! { "d": 1, "f": [2200, 1] },
        rawdoc! { "d": 1, "f": [0] },
        rawdoc! { "d": 1, "f": [0, 1, 0] },
        rawdoc! { "d": 1, "f": { "0": 0, "1": 1 } },
        rawdoc! { "d": 1, "dx": [1, 1, 0] },
        rawdoc! { "dx": [0, 0, 0] },
        rawdoc! { "m": [] },
        rawdoc! { "m": [[0, 0, 0]] },
        rawdoc! { "m": [[0, 1, 5], [-1, 1, 5]] },
        rawdoc! { "m": [[0, 1, 5], [0, 1, 5]] },
        rawdoc! { "m": [[6112, 1, 5]] },
    ] {
        let error = ExactSum::read(&other).unwrap_err();
        assert_eq!(error.code(), error::Code::DataCorruptionDetected, "{other:?}");
    }
}
