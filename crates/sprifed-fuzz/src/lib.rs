#![doc = include_str!("../README.md")]
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a target panics when it finds a defect, and what it is built from is known to be right"
)]

mod documents;
mod hunt;
mod mutation;
mod party;
mod secure_sum;
mod tables;
mod trustee_documents;
mod trustees;
mod wire;
mod world;

pub use hunt::{Finding, Hunted, hunt};
pub use mutation::Kind;

/// The path of an input: inputs with another path are worth changing further.
pub type Way = u64;

/// Something that reads what others wrote.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line, in `corpus/` and in `fuzz/`.
    pub name: &'static str,
    /// How its inputs are changed.
    pub kind: Kind,
    /// Reads hostile bytes, and panics at a defect.
    pub run: fn(&[u8]) -> Way,
    /// Inputs to begin with, each with a name.
    pub seeds: fn() -> Vec<(&'static str, Vec<u8>)>,
}

/// All of them.
pub const TARGETS: [Target; 23] = [
    Target {
        name: "order",
        kind: Kind::Bytes,
        run: wire::order,
        seeds: wire::orders,
    },
    Target {
        name: "report",
        kind: Kind::Bytes,
        run: wire::report,
        seeds: wire::reports,
    },
    Target {
        name: "agreement",
        kind: Kind::Json,
        run: documents::agreement,
        seeds: documents::agreements,
    },
    Target {
        name: "invitation",
        kind: Kind::Json,
        run: documents::invitation,
        seeds: documents::invitations,
    },
    Target {
        name: "receipt",
        kind: Kind::Json,
        run: documents::receipt,
        seeds: documents::receipts,
    },
    Target {
        name: "transcript",
        kind: Kind::Json,
        run: documents::transcript,
        seeds: documents::transcripts,
    },
    Target {
        name: "policy",
        kind: Kind::Text,
        run: documents::policy,
        seeds: documents::policies,
    },
    Target {
        name: "party",
        kind: Kind::Bytes,
        run: party::party,
        seeds: party::seeds,
    },
    Target {
        name: "message",
        kind: Kind::Bytes,
        run: secure_sum::message,
        seeds: secure_sum::messages,
    },
    Target {
        name: "notice",
        kind: Kind::Bytes,
        run: secure_sum::notice,
        seeds: secure_sum::notices,
    },
    Target {
        name: "journal",
        kind: Kind::Bytes,
        run: secure_sum::journal,
        seeds: secure_sum::scripts,
    },
    Target {
        name: "packing",
        kind: Kind::Bytes,
        run: secure_sum::packing,
        seeds: secure_sum::scripts,
    },
    Target {
        name: "client",
        kind: Kind::Bytes,
        run: secure_sum::client,
        seeds: secure_sum::scripts,
    },
    Target {
        name: "coordinator",
        kind: Kind::Bytes,
        run: secure_sum::coordinator,
        seeds: secure_sum::scripts,
    },
    Target {
        name: "trustee_policy",
        kind: Kind::Text,
        run: trustee_documents::policy,
        seeds: trustee_documents::policies,
    },
    Target {
        name: "trustee_public",
        kind: Kind::Json,
        run: trustee_documents::public,
        seeds: trustee_documents::publics,
    },
    Target {
        name: "trustee_upload",
        kind: Kind::Bytes,
        run: trustees::upload,
        seeds: trustees::uploads,
    },
    Target {
        name: "trustee_message",
        kind: Kind::Bytes,
        run: trustees::message,
        seeds: trustees::messages,
    },
    Target {
        name: "trustee_report",
        kind: Kind::Bytes,
        run: trustees::report,
        seeds: trustees::reports,
    },
    Target {
        name: "trustee_line",
        kind: Kind::Bytes,
        run: trustees::line,
        seeds: trustees::lines,
    },
    Target {
        name: "plink",
        kind: Kind::Bytes,
        run: tables::plink,
        seeds: tables::plinks,
    },
    Target {
        name: "svmlight",
        kind: Kind::Text,
        run: tables::svmlight,
        seeds: tables::svmlights,
    },
    Target {
        name: "arrow",
        kind: Kind::Bytes,
        run: tables::arrow,
        seeds: tables::arrows,
    },
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Runs one input of the target `name`, for a fuzzer that brings its own.
pub fn run(name: &str, bytes: &[u8]) {
    let target = target(name).expect("a target");
    (target.run)(bytes);
}

/// The path of a result: the start of its debug output, without numbers and digests.
pub(crate) fn way(result: &impl core::fmt::Debug) -> Way {
    let text = format!("{result:?}");
    let words = text.split(|letter: char| !letter.is_alphabetic());
    let is_word =
        |word: &&str| word.len() > 2 && word.bytes().any(|byte| !byte.is_ascii_hexdigit());
    let words: Vec<&str> = words.filter(is_word).take(12).collect();
    words
        .join(" ")
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325, |way, byte| {
            (way ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
        })
}
