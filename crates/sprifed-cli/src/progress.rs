//! Progress on standard error, for people; nothing if no person is looking.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar that counts steps of long work.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar of `total` steps. It hides itself when standard error is not a terminal.
    pub(crate) fn start(what: &str, total: u64) -> Self {
        let bar = ProgressBar::new(total);
        let template = "{prefix} {wide_bar} {pos}/{len} {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(what.to_owned());
        Self { bar }
    }

    /// One step is done.
    pub(crate) fn advance(&self) {
        self.bar.inc(1);
    }

    /// So many steps are done.
    pub(crate) fn reach(&self, done: usize) {
        self.bar.set_position(done as u64);
    }

    /// The work is done.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
