//! Structured logs on standard error: names, numbers and reasons, never a message's bytes.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
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

/// Starts JSON logs on standard error, once for the process; a second call changes nothing.
pub fn start_logs(level: LogLevel) {
    let filter = match level {
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_writer(std::io::stderr);
    // Ours only: what libraries log is not ours to vouch for.
    let ours = Targets::new().with_target("sprifed", filter);
    let subscriber = tracing_subscriber::registry().with(lines).with(ours);
    let _ = tracing::subscriber::set_global_default(subscriber);
}
