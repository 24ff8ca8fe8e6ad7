//! Tables and their neighbours, as the text of a file.

use sprifed_privacy::PrivacyUnit;
use sprifed_schema::Schema;

const N_FEATURES: usize = 9;
const N_RECORDS: usize = 96;
const N_CLIENTS: usize = 12;

/// The most records of a client that are used.
const CAP: usize = 6;

/// The cells of a table.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    unit: PrivacyUnit,
    /// Whether a column says the site of each record.
    has_sites: bool,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    client: usize,
    features: Vec<String>,
    response: String,
}

/// A table in which one unit is another.
#[derive(Clone, Debug)]
pub(super) struct Neighbour {
    pub(super) name: String,
    pub(super) rows: Rows,
    /// Whether nothing of the unit is left.
    pub(super) is_emptied: bool,
}

pub(super) fn schema(unit: PrivacyUnit) -> Schema {
    let of_unit = match unit {
        PrivacyUnit::Record => String::new(),
        PrivacyUnit::Client => {
            format!("client = \"who\"\nmax_per_client = {CAP}\nunit = \"client\"\n")
        }
    };
    let text = format!(
        "[response]\nname = \"y\"\nlower = -3\nupper = 3\n[features]\nlower = -2\nupper = 2\n\
         [record]\nmissing = \"midpoint\"\nmissing_response = \"drop\"\n{of_unit}"
    );
    Schema::parse(&text).unwrap()
}

/// The schema of records with sites.
pub(super) fn schema_with_sites() -> Schema {
    let text = "[response]\nname = \"y\"\nlower = -3\nupper = 3\n[features]\nlower = -2\nupper = 2\n\
                [record]\nmissing = \"midpoint\"\nmissing_response = \"drop\"\n\
                [sites]\ncolumn = \"site\"\nrecords = { north = 48, south = 48 }\n";
    Schema::parse(text).unwrap()
}

/// Numbers from −2 to 2.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bits = u16::try_from(self.0 >> 48).unwrap_or(0);
        f64::from(bits) / 16_384.0 - 2.0
    }
}

impl Row {
    fn made_up(client: usize, draws: &mut Draws) -> Self {
        let features: Vec<f64> = (0..N_FEATURES).map(|_| draws.next()).collect();
        let response = 1.2 * features[1] - 0.9 * features[4] + 0.2 * draws.next();
        Self {
            client,
            features: features.iter().map(f64::to_string).collect(),
            response: response.to_string(),
        }
    }

    /// The same cell for every feature.
    fn of_cells(client: usize, feature: &str, response: &str) -> Self {
        Self {
            client,
            features: vec![feature.to_owned(); N_FEATURES],
            response: response.to_owned(),
        }
    }
}

/// What an attacker, or chance, may put into cells: a feature and a response.
const CELLS: [(&str, &str); 10] = [
    ("2", "3"),
    ("-2", "-3"),
    ("1e308", "-1e308"),
    ("-1e308", "1e308"),
    ("", "1.5"),
    ("NaN", "-2"),
    ("inf", "0.1"),
    ("-Infinity", "-0.1"),
    ("1e-320", "1e-320"),
    ("0", "0"),
];

/// Cells of a response that is missing.
const MISSING: [&str; 2] = ["", "inf"];

impl Rows {
    /// A table in which two features matter, and some responses are missing already. Records of a
    /// client are spread over the file, and labels are not in the order of first records.
    pub(super) fn made_up(unit: PrivacyUnit, seed: u64) -> Self {
        let mut draws = Draws(seed);
        let client_of = |place: usize| (7 * (place % N_CLIENTS) + 5) % N_CLIENTS;
        let rows = (0..N_RECORDS).map(|place| Row::made_up(client_of(place), &mut draws));
        let mut rows: Vec<Row> = rows.collect();
        for place in [3, N_RECORDS / 3, N_RECORDS - 2] {
            rows[place].response = String::new();
        }
        Self {
            unit,
            has_sites: false,
            rows,
        }
    }

    /// The same table with a column of sites.
    pub(super) fn with_sites(self) -> Self {
        Self {
            has_sites: true,
            ..self
        }
    }

    pub(super) fn to_csv(&self) -> String {
        let names = (0..N_FEATURES).map(|feature| format!("x{feature}"));
        let mut text = names.collect::<Vec<_>>().join(",");
        text += match self.unit {
            PrivacyUnit::Record if self.has_sites => ",y,site\n",
            PrivacyUnit::Record => ",y\n",
            PrivacyUnit::Client => ",y,who\n",
        };
        for row in &self.rows {
            text += &row.features.join(",");
            text += &format!(",{}", row.response);
            if self.unit == PrivacyUnit::Client {
                text += &format!(",client {:02}", row.client);
            }
            if self.has_sites {
                text += [",north", ",south"][row.client % 2];
            }
            text.push('\n');
        }
        text
    }

    /// Tables in which one unit is another: the first, and every kind of change; `all` of them is
    /// more units, and takes several times as long.
    pub(super) fn neighbours(&self, all: bool) -> Vec<Neighbour> {
        let most = if all { usize::MAX } else { 2 };
        match self.unit {
            PrivacyUnit::Record => {
                let places = [0, N_RECORDS / 2, 1, N_RECORDS - 1];
                let of_place = |place| self.record_neighbours(place);
                places.into_iter().take(most).flat_map(of_place).collect()
            }
            PrivacyUnit::Client => {
                let first = self.rows[0].client;
                let clients = [first, N_CLIENTS - 1, 0, N_CLIENTS / 2];
                let of_client = |client| self.client_neighbours(client);
                clients.into_iter().take(most).flat_map(of_client).collect()
            }
        }
    }

    fn record_neighbours(&self, place: usize) -> Vec<Neighbour> {
        let mut neighbours = Vec::new();
        let mut add = |name: String, row: Row, is_emptied: bool| {
            let mut rows = self.clone();
            rows.rows[place] = row;
            let name = format!("record {place} {name}");
            neighbours.push(Neighbour {
                name,
                rows,
                is_emptied,
            });
        };
        for missing in MISSING {
            let mut row = self.rows[place].clone();
            missing.clone_into(&mut row.response);
            add(format!("without response: {missing:?}"), row, true);
        }
        for (feature, response) in CELLS {
            let row = Row::of_cells(0, feature, response);
            add(format!("of {feature:?} and {response:?}"), row, false);
        }
        let mut row = self.rows[place].clone();
        for cell in row.features.iter_mut().step_by(2) {
            cell.clear();
        }
        add("without some features".to_owned(), row, false);
        let row = Row::made_up(0, &mut Draws(99));
        add("with other values".to_owned(), row, false);
        neighbours
    }

    fn client_neighbours(&self, client: usize) -> Vec<Neighbour> {
        let mut neighbours = Vec::new();
        let mut add = |name: &str, rows: Vec<Row>, is_emptied: bool| {
            let (unit, has_sites) = (self.unit, self.has_sites);
            neighbours.push(Neighbour {
                name: format!("client {client} {name}"),
                rows: Self {
                    unit,
                    has_sites,
                    rows,
                },
                is_emptied,
            });
        };
        let others = || self.rows.iter().filter(|row| row.client != client).cloned();
        let changed = |change: &dyn Fn(usize, &mut Row)| {
            let mut rows = self.rows.clone();
            let own = rows.iter_mut().filter(|row| row.client == client);
            own.enumerate().for_each(|(index, row)| change(index, row));
            rows
        };
        for missing in MISSING {
            let rows = changed(&|_, row| missing.clone_into(&mut row.response));
            add("without responses", rows, true);
        }
        let rows = changed(&|index, row| {
            if index > 0 {
                row.response.clear();
            }
        });
        add("with one response", rows, false);
        for (feature, response) in CELLS {
            let name = format!("of {feature:?} and {response:?}");
            let rows = changed(&|_, row| *row = Row::of_cells(client, feature, response));
            add(&name, rows, false);
        }
        // Other records, of another number and at other places of the file.
        for count in [1, 3, CAP, CAP + 3] {
            let mut draws = Draws(7);
            let mut own: Vec<Row> = (0..count)
                .map(|_| Row::made_up(client, &mut draws))
                .collect();
            let at_the_end = others().chain(own.iter().cloned()).collect();
            add(&format!("with {count} records, last"), at_the_end, false);
            own.extend(others());
            add(&format!("with {count} records, first"), own, false);
        }
        let one = others().chain([Row::of_cells(client, "", "")]).collect();
        add("with an empty record, last", one, true);
        neighbours
    }
}

/// A table of small whole numbers, wide and long; `emptied` has no response.
pub(super) fn wide_csv(records: usize, features: usize, emptied: Option<usize>) -> String {
    use std::fmt::Write as _;

    let names = (0..features).map(|feature| format!("x{feature}"));
    let mut text = names.collect::<Vec<_>>().join(",");
    text += ",y\n";
    let mut draws = Draws(11);
    for record in 0..records {
        let mut sum = 0.0;
        for feature in 0..features {
            let value = draws.next().round();
            if feature == 1 || feature == 4 {
                sum += value;
            }
            let _ = write!(text, "{value},");
        }
        if emptied != Some(record) {
            let _ = write!(text, "{}", sum / 2.0);
        }
        text.push('\n');
    }
    text
}
