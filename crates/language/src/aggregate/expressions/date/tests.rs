use crate::aggregate::expressions::testing::{errors, values};
use bson::{Bson, DateTime, Timestamp, bson};

fn at(text: &str) -> Bson {
    Bson::DateTime(DateTime::parse_rfc3339_str(text).unwrap())
}

#[test]
fn parts_of_a_date() {
    // The sample's date is 2024-01-02T03:04:05.678Z, a Tuesday.
    values(vec![
        (bson!({"$year": "$date"}), bson!(2024)),
        (bson!({"$month": ["$date"]}), bson!(1)),
        (bson!({"$dayOfMonth": {"date": "$date"}}), bson!(2)),
        (bson!({"$hour": {"date": "$date", "timezone": "America/New_York"}}), bson!(22)),
        (bson!({"$dayOfMonth": {"date": "$date", "timezone": "-05:00"}}), bson!(1)),
        (bson!({"$minute": "$date"}), bson!(4)),
        (bson!({"$second": "$date"}), bson!(5)),
        (bson!({"$millisecond": "$date"}), bson!(678)),
        (bson!({"$dayOfWeek": "$date"}), bson!(3)),
        (bson!({"$dayOfYear": "$date"}), bson!(2)),
        (bson!({"$isoDayOfWeek": "$date"}), bson!(2)),
        (bson!({"$isoWeek": "$date"}), bson!(1)),
        (bson!({"$isoWeekYear": "$date"}), bson!(2024i64)),
        (bson!({"$week": "$date"}), bson!(0)),
        (bson!({"$year": "$missing"}), bson!(null)),
        (bson!({"$year": {"date": "$date", "timezone": "$null"}}), bson!(null)),
        (bson!({"$year": {"$literal": Timestamp { time: 0, increment: 1 }}}), bson!(1970)),
        (
            bson!({"$dateToParts": {"date": "$date"}}),
            bson!({"year": 2024, "month": 1, "day": 2, "hour": 3, "minute": 4, "second": 5, "millisecond": 678}),
        ),
        (
            bson!({"$dateToParts": {"date": "$date", "iso8601": true}}),
            bson!({"isoWeekYear": 2024, "isoWeek": 1, "isoDayOfWeek": 2, "hour": 3, "minute": 4, "second": 5, "millisecond": 678}),
        ),
        (bson!({"$tsSecond": {"$literal": Timestamp { time: 5, increment: 6 }}}), bson!(5i64)),
        (bson!({"$tsIncrement": {"$literal": Timestamp { time: 5, increment: 6 }}}), bson!(6i64)),
    ]);
    errors(vec![
        (bson!({"$year": "$string"}), 16006),
        (bson!({"$year": ["$date", 1]}), 40536),
        (bson!({"$year": {"date": "$date", "x": 1}}), 40535),
        (bson!({"$year": {"timezone": "UTC"}}), 40539),
        (bson!({"$year": {"date": "$date", "timezone": "Nowhere/Else"}}), 40485),
        (bson!({"$year": {"date": "$date", "timezone": 1}}), 40517),
        (bson!({"$dateToParts": 1}), 40524),
        (bson!({"$dateToParts": {"date": "$date", "x": 1}}), 40520),
        (bson!({"$dateToParts": {}}), 40522),
        (bson!({"$dateToParts": {"date": "$date", "iso8601": 1}}), 40521),
        (bson!({"$tsSecond": "$int"}), 5687301),
        (bson!({"$tsIncrement": "$int"}), 5687302),
    ]);
}

#[test]
fn dates_of_parts() {
    values(vec![
        (
            bson!({"$dateFromParts": {"year": 2024, "month": 2, "day": 30}}),
            at("2024-03-01T00:00:00Z"),
        ),
        (bson!({"$dateFromParts": {"year": 2023, "month": 14}}), at("2024-02-01T00:00:00Z")),
        (
            bson!({"$dateFromParts": {"year": 2024, "hour": 12, "timezone": "Europe/Berlin"}}),
            at("2024-01-01T11:00:00Z"),
        ),
        (
            bson!({"$dateFromParts": {"isoWeekYear": 2021, "isoWeek": 1, "isoDayOfWeek": 2}}),
            at("2021-01-05T00:00:00Z"),
        ),
        (bson!({"$dateFromParts": {"year": "$missing"}}), bson!(null)),
    ]);
    errors(vec![
        (bson!({"$dateFromParts": 1}), 40519),
        (bson!({"$dateFromParts": {"x": 1}}), 40518),
        (bson!({"$dateFromParts": {"month": 1}}), 40516),
        (bson!({"$dateFromParts": {"year": 2024, "isoWeek": 1}}), 40489),
        (bson!({"$dateFromParts": {"isoWeekYear": 2024, "month": 1}}), 40525),
        (bson!({"$dateFromParts": {"year": 1.5}}), 40515),
        (bson!({"$dateFromParts": {"year": 2024, "month": 40000}}), 31034),
        (bson!({"$dateFromParts": {"year": 10000}}), 40523),
        (bson!({"$dateFromParts": {"isoWeekYear": 0}}), 31095),
    ]);
}

#[test]
fn text() {
    values(vec![
        (bson!({"$dateToString": {"date": "$date"}}), bson!("2024-01-02T03:04:05.678Z")),
        (
            bson!({"$dateToString": {"date": "$date", "format": "%d.%m.%Y %H:%M:%S %j %U %V %u %w %b %B %z %Z %%", "timezone": "+01:30"}}),
            bson!("02.01.2024 04:34:05 002 00 01 2 3 Jan January +0130 +90 %"),
        ),
        (bson!({"$dateToString": {"date": "$missing", "onNull": "none"}}), bson!("none")),
        (bson!({"$dateToString": {"date": "$missing"}}), bson!(null)),
        (
            bson!({"$dateFromString": {"dateString": "2024-01-02T03:04:05.678Z"}}),
            at("2024-01-02T03:04:05.678Z"),
        ),
        (bson!({"$dateFromString": {"dateString": "2024-01-02"}}), at("2024-01-02T00:00:00Z")),
        (
            bson!({"$dateFromString": {"dateString": "2024-01-02 03:04:05+0100"}}),
            at("2024-01-02T02:04:05Z"),
        ),
        (bson!({"$dateFromString": {"dateString": "July 4, 2024"}}), at("2024-07-04T00:00:00Z")),
        (
            bson!({"$dateFromString": {"dateString": "2024-07-04T12:00:00", "timezone": "America/New_York"}}),
            at("2024-07-04T16:00:00Z"),
        ),
        (
            bson!({"$dateFromString": {"dateString": "04-Jul-2024", "format": "%d-%b-%Y"}}),
            at("2024-07-04T00:00:00Z"),
        ),
        (bson!({"$dateFromString": {"dateString": "x", "onError": "bad"}}), bson!("bad")),
        (bson!({"$dateFromString": {"dateString": null, "onNull": "none"}}), bson!("none")),
    ]);
    errors(vec![
        (bson!({"$dateToString": 1}), 18629),
        (bson!({"$dateToString": {"date": "$date", "x": 1}}), 18534),
        (bson!({"$dateToString": {"format": "%Y"}}), 18628),
        (bson!({"$dateToString": {"date": "$date", "format": 1}}), 18533),
        (bson!({"$dateToString": {"date": "$date", "format": "%"}}), 18535),
        (bson!({"$dateToString": {"date": "$date", "format": "%x"}}), 18536),
        (bson!({"$dateToString": {"date": "$string"}}), 16006),
        (bson!({"$dateFromString": 1}), 40540),
        (bson!({"$dateFromString": {"x": 1}}), 40541),
        (bson!({"$dateFromString": {"format": "%Y"}}), 40542),
        (bson!({"$dateFromString": {"dateString": "a", "format": 1}}), 40684),
        (bson!({"$dateFromString": {"dateString": "2024-13-01"}}), 241),
        (bson!({"$dateFromString": {"dateString": "$int"}}), 241),
        (bson!({"$dateFromString": {"dateString": "2024", "format": "%Y"}}), 241),
    ]);
}

#[test]
fn arithmetic() {
    values(vec![
        (
            bson!({"$dateAdd": {"startDate": "$date", "unit": "month", "amount": 1}}),
            at("2024-02-02T03:04:05.678Z"),
        ),
        (
            bson!({"$dateAdd": {"startDate": at("2024-01-31T00:00:00Z"), "unit": "month", "amount": 1}}),
            at("2024-02-29T00:00:00Z"),
        ),
        (
            bson!({"$dateAdd": {"startDate": at("2024-03-09T12:00:00Z"), "unit": "day", "amount": 1, "timezone": "America/New_York"}}),
            at("2024-03-10T11:00:00Z"),
        ),
        (
            bson!({"$dateSubtract": {"startDate": "$date", "unit": "hour", "amount": 4}}),
            at("2024-01-01T23:04:05.678Z"),
        ),
        (bson!({"$dateAdd": {"startDate": "$missing", "unit": "day", "amount": 1}}), bson!(null)),
        (
            bson!({"$dateDiff": {"startDate": at("2023-12-31T23:59:59Z"), "endDate": "$date", "unit": "year"}}),
            bson!(1i64),
        ),
        (
            bson!({"$dateDiff": {"startDate": at("2024-01-01T00:00:00Z"), "endDate": "$date", "unit": "hour"}}),
            bson!(27i64),
        ),
        (
            bson!({"$dateDiff": {"startDate": at("2024-01-06T00:00:00Z"), "endDate": at("2024-01-07T00:00:00Z"), "unit": "week"}}),
            bson!(1i64),
        ),
        (
            bson!({"$dateDiff": {"startDate": at("2024-01-06T00:00:00Z"), "endDate": at("2024-01-07T00:00:00Z"), "unit": "week", "startOfWeek": "monday"}}),
            bson!(0i64),
        ),
        (bson!({"$dateTrunc": {"date": "$date", "unit": "hour"}}), at("2024-01-02T03:00:00Z")),
        (bson!({"$dateTrunc": {"date": "$date", "unit": "week"}}), at("2023-12-31T00:00:00Z")),
        (
            bson!({"$dateTrunc": {"date": "$date", "unit": "week", "startOfWeek": "Mon"}}),
            at("2024-01-01T00:00:00Z"),
        ),
        (
            bson!({"$dateTrunc": {"date": "$date", "unit": "month", "binSize": 6}}),
            at("2024-01-01T00:00:00Z"),
        ),
        (
            bson!({"$dateTrunc": {"date": "$date", "unit": "day", "timezone": "America/New_York"}}),
            at("2024-01-01T05:00:00Z"),
        ),
    ]);
    errors(vec![
        (bson!({"$dateAdd": 1}), 5166400),
        (bson!({"$dateAdd": {"x": 1}}), 5166401),
        (bson!({"$dateAdd": {"startDate": "$date"}}), 5166402),
        (bson!({"$dateAdd": {"startDate": "$string", "unit": "day", "amount": 1}}), 5166403),
        (bson!({"$dateAdd": {"startDate": "$date", "unit": "day", "amount": 1.5}}), 5166405),
        (bson!({"$dateAdd": {"startDate": "$date", "unit": "era", "amount": 1}}), 9),
        (bson!({"$dateAdd": {"startDate": "$date", "unit": 1, "amount": 1}}), 5439013),
        (bson!({"$dateDiff": 1}), 5166301),
        (bson!({"$dateDiff": {"x": 1}}), 5166302),
        (bson!({"$dateDiff": {}}), 5166303),
        (
            bson!({"$dateDiff": {"startDate": "$date", "endDate": "$string", "unit": "day"}}),
            5166307,
        ),
        (bson!({"$dateTrunc": 1}), 5439007),
        (bson!({"$dateTrunc": {"x": 1}}), 5439008),
        (bson!({"$dateTrunc": {"unit": "day"}}), 5439009),
        (bson!({"$dateTrunc": {"date": "$date"}}), 5439010),
        (bson!({"$dateTrunc": {"date": "$date", "unit": "day", "binSize": 0}}), 5439018),
        (
            bson!({"$dateTrunc": {"date": "$date", "unit": "week", "startOfWeek": "someday"}}),
            5439016,
        ),
    ]);
}
