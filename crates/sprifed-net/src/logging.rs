//! Logs on standard error: names, numbers and reasons, never a message's bytes. Lines for people on a terminal, JSON
//! elsewhere.

use std::io::IsTerminal as _;

use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// Refusals and dropouts.
    Warn,
    /// Also phases and arrivals.
    Info,
    /// Also every message's length.
    Debug,
}

/// Starts logs on standard error, once for the process; a second call changes nothing. On a terminal they are lines for
/// people, elsewhere JSON for programs.
pub fn start_logs(level: LogLevel) {
    let reader = match std::io::stderr().is_terminal() {
        true => Reader::Person,
        false => Reader::Program,
    };
    let subscriber = subscriber(level, reader, std::io::stderr);
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// For whom logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// At a terminal.
    Person,
    /// Of a file or a pipe.
    Program,
}

fn subscriber(
    level: LogLevel,
    reader: Reader,
    writer: impl for<'w> MakeWriter<'w> + Send + Sync + 'static,
) -> impl Subscriber + Send + Sync {
    let filter = match level {
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let layer = tracing_subscriber::fmt::layer().with_writer(writer);
    let lines = match reader {
        Reader::Person => layer.with_ansi(false).with_target(false).boxed(),
        Reader::Program => layer
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .boxed(),
    };
    // Ours only: what libraries log is not ours to vouch for.
    let ours = Targets::new().with_target("sprifed", filter);
    tracing_subscriber::registry().with(lines).with(ours)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("one thread").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn logged(reader: Reader) -> String {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = subscriber(LogLevel::Info, reader, move || writer.clone());
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(target: "sprifed_net", name = "north", "dropped out");
        });
        let bytes = kept.0.lock().expect("one thread").clone();
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn people_read_lines_and_programs_read_json() {
        let line = logged(Reader::Person);
        assert!(line.contains("INFO dropped out name=\"north\""), "{line}");
        let document: serde_json::Value =
            serde_json::from_str(&logged(Reader::Program)).expect("JSON");
        assert_eq!(document["message"], "dropped out");
        assert_eq!(document["name"], "north");
    }
}
