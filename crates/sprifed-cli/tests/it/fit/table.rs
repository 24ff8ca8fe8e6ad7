//! A table with a known sparse model, in a folder of its own.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::command::Ended;
use crate::process::sprifed;

/// The coefficients behind the response; its intercept is 5.
pub(crate) const TRUTH: [(&str, f64); 3] = [("x_3", 2.0), ("x_7", -1.5), ("x_11", 1.0)];

const SCHEMA: &str =
    "[response]\nname = \"y\"\nlower = -12\nupper = 37\n\n[features]\nlower = 0\nupper = 10\n";

/// A folder of this test run with `data.csv` and `schema.toml`.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fit_{test}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        let folder = Self(path);
        folder.write("data.csv", &csv(3000, 1));
        folder.write("schema.toml", SCHEMA);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, contents: &str) {
        std::fs::write(self.path(name), contents).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    pub(crate) fn compress(&self, name: &str) {
        let file = std::fs::File::create(self.path(&format!("{name}.gz"))).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, self.read(name).as_bytes()).unwrap();
        packed.finish().unwrap();
    }

    /// The names of all files, in order.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Fits `data.csv` under `schema.toml` with more options.
    pub(crate) fn fit(&self, options: &str) -> Ended {
        self.fit_file("data.csv", options)
    }

    pub(crate) fn fit_file(&self, data: &str, options: &str) -> Ended {
        self.fit_to(data, "model.json", options)
    }

    pub(crate) fn fit_to(&self, data: &str, out: &str, options: &str) -> Ended {
        Ended::of(&mut self.fit_command(data, out, options))
    }

    pub(crate) fn fit_command(&self, data: &str, out: &str, options: &str) -> Command {
        let [data, schema, out] = [data, "schema.toml", out].map(|name| self.path(name));
        let mut command = sprifed();
        command.args(["fit", &data, "--schema", &schema, "--out", &out]);
        command.args(options.split_whitespace());
        command
    }
}

/// A table of 20 features from 0 to 10, a response and a column `house` of interleaved clients.
pub(crate) fn csv(n_records: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(state >> 40).unwrap()) / f64::from(1 << 24)
    };
    let mut text = (0..20)
        .map(|feature| format!("x_{feature},"))
        .collect::<String>()
        + "y\n";
    for _ in 0..n_records {
        let row: Vec<f64> = (0..20).map(|_| (uniform() * 1e4).round() / 1e3).collect();
        let error: f64 = (0..3).map(|_| uniform() - 0.5).sum();
        let y = 5.0 + 2.0 * row[3] - 1.5 * row[7] + row[11] + error;
        for value in &row {
            let _ = write!(text, "{value},");
        }
        let _ = writeln!(text, "{y}");
    }
    text
}
