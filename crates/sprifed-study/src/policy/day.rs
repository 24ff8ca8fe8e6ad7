//! Dates of the calendar, as a policy has them.

use core::fmt;

/// A date, written `YYYY-MM-DD`; compared by time.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

impl schemars::JsonSchema for Day {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Day".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" })
    }
}

/// Text that is no date.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not a date; a date such as \"2027-12-31\" is required")]
pub struct NotADay {
    /// What was found, cut short.
    pub found: String,
}

impl Day {
    /// The date in UTC so many seconds after the beginning of 1970.
    #[must_use]
    pub fn of_unix_time(seconds: u64) -> Self {
        let mut left = seconds / 86_400;
        let mut year = 1970;
        while left >= days_of_year(year) && year < u16::MAX {
            left -= days_of_year(year);
            year += 1;
        }
        let mut month = 1;
        while left >= u64::from(days_of_month(year, month)) && month < 12 {
            left -= u64::from(days_of_month(year, month));
            month += 1;
        }
        let day = u8::try_from(left + 1).unwrap_or(31);
        Self { year, month, day }
    }

    /// The same date one year later; the last of February stays in February.
    #[must_use]
    pub fn a_year_later(self) -> Self {
        let year = self.year.saturating_add(1);
        let day = self.day.min(days_of_month(year, self.month));
        Self { year, day, ..self }
    }
}

fn days_of_year(year: u16) -> u64 {
    365 + u64::from(is_leap(year))
}

const fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const fn days_of_month(year: u16, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

impl TryFrom<String> for Day {
    type Error = NotADay;

    fn try_from(text: String) -> Result<Self, NotADay> {
        let parsed = parse(&text);
        parsed.ok_or_else(|| NotADay {
            found: text.chars().take(40).collect(),
        })
    }
}

fn parse(text: &str) -> Option<Day> {
    let is_plain = text.len() == 10
        && text.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let mut parts = text.split('-');
    let year = parts.next()?.parse().ok()?;
    let month = parts.next()?.parse().ok()?;
    let day = parts.next()?.parse().ok()?;
    let is_legal = is_plain
        && year >= 1970
        && (1..=12).contains(&month)
        && (1..=days_of_month(year, month)).contains(&day);
    is_legal.then_some(Day { year, month, day })
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.to_string()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day } = self;
        write!(formatter, "{year:04}-{month:02}-{day:02}")
    }
}

impl fmt::Debug for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::Day;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_798_675_200, "2026-12-31"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(Day::of_unix_time(seconds).to_string(), date);
        }
        let leap = Day::of_unix_time(951_782_400).a_year_later();
        assert_eq!(leap.to_string(), "2001-02-28");
    }

    #[test]
    fn text_that_is_no_date_is_refused() {
        let read = |text: &str| Day::try_from(text.to_owned());
        assert_eq!(read("2028-02-29").map(String::from).unwrap(), "2028-02-29");
        assert!(read("2027-12-31").unwrap() < read("2028-01-01").unwrap());
        for wrong in [
            "",
            "2027-2-1",
            "2027-02-29",
            "2027-13-01",
            "2027-00-10",
            "2027-01-00",
            "20270101",
            "+027-01-01",
            "1969-12-31",
            "2027-01-01 ",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
