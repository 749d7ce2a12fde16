//! The calendar: milliseconds since 1970 to year, month, day and back, for every
//! date that 64 bits hold.

pub const MILLIS_PER_DAY: i64 = 86_400_000;

/// A local date and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub millisecond: i64,
}

/// A week of the ISO calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsoWeek {
    pub year: i64,
    pub week: i64,
}

impl Civil {
    pub fn from_millis(millis: i64) -> Civil {
        let (year, month, day) = from_days(millis.div_euclid(MILLIS_PER_DAY));
        let rest = millis.rem_euclid(MILLIS_PER_DAY);
        Civil {
            year,
            month,
            day,
            hour: rest / 3_600_000,
            minute: rest / 60_000 % 60,
            second: rest / 1000 % 60,
            millisecond: rest % 1000,
        }
    }

    /// Monday 1 to Sunday 7.
    pub fn iso_day_of_week(&self) -> i64 {
        // 1970-01-01 was a Thursday.
        (self.days() + 3).rem_euclid(7) + 1
    }

    /// Sunday 1 to Saturday 7.
    pub fn day_of_week(&self) -> i64 {
        self.iso_day_of_week() % 7 + 1
    }

    pub fn day_of_year(&self) -> i64 {
        self.days() - to_days(self.year, 1, 1) + 1
    }

    /// Weeks begin on Sunday; days before the first Sunday are in week 0.
    pub fn week(&self) -> i64 {
        (self.day_of_year() + 7 - self.day_of_week()) / 7
    }

    pub fn iso_week(&self) -> IsoWeek {
        // The week belongs to the year that its Thursday is in.
        let thursday = self.days() - self.iso_day_of_week() + 4;
        let (year, ..) = from_days(thursday);
        IsoWeek { year, week: (thursday - to_days(year, 1, 1)) / 7 + 1 }
    }

    fn days(&self) -> i64 {
        to_days(self.year, self.month, self.day)
    }
}

/// Days since 1970 of a date; months outside of 1 to 12 carry into years.
pub fn to_days(year: i64, month: i64, day: i64) -> i64 {
    let year = year + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    // The year is taken to begin in March, so that leap days are at its end.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468 + day - 1
}

pub fn from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

pub fn days_in_month(year: i64, month: i64) -> i64 {
    to_days(year, month + 1, 1) - to_days(year, month, 1)
}

/// Days since 1970 of a day of an ISO week.
pub fn iso_to_days(year: i64, week: i64, day: i64) -> i64 {
    // The fourth of January is in week 1.
    let fourth = to_days(year, 1, 4);
    let monday = fourth - (fourth + 3).rem_euclid(7);
    monday + (week - 1) * 7 + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_goes_both_ways() {
        for days in (-800_000..800_000).step_by(97) {
            let (year, month, day) = from_days(days);
            assert_eq!(to_days(year, month, day), days);
        }
        assert_eq!(from_days(0), (1970, 1, 1));
        assert_eq!(from_days(11_016), (2000, 2, 29));
        assert_eq!(to_days(2023, 13, 1), to_days(2024, 1, 1));
        assert_eq!(days_in_month(2024, 2), 29);
    }

    #[test]
    fn weeks() {
        let at = |year, month, day| Civil::from_millis(to_days(year, month, day) * MILLIS_PER_DAY);
        assert_eq!(at(2021, 1, 3).iso_week(), IsoWeek { year: 2020, week: 53 });
        assert_eq!(at(2021, 1, 4).iso_week(), IsoWeek { year: 2021, week: 1 });
        assert_eq!(at(2024, 1, 7).day_of_week(), 1);
        assert_eq!(at(2024, 1, 6).week(), 0);
        assert_eq!(at(2024, 1, 7).week(), 1);
        assert_eq!(iso_to_days(2021, 1, 1), to_days(2021, 1, 4));
    }
}
