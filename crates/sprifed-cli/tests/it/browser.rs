//! Pages in a real browser, as wide as a desk and as a phone.
//!
//! Needs Chromium on the PATH, or where `SPRIFED_CHROMIUM` says. Without it a test says that it was
//! skipped; with `SPRIFED_REQUIRE_CHROMIUM=1` it fails.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The widths at which every page is looked at.
const WIDTHS: [u32; 2] = [1280, 390];

/// Shows the page of the address's fragment in a frame, because a window has no fewer than 500 pixels, and
/// writes down what does not fit.
const FRAME: &str = r##"<!doctype html><meta charset="utf-8">
<body style="margin:0;background:#888"><iframe style="border:0;display:block"></iframe><script>
const [page, width] = decodeURIComponent(location.hash.slice(1)).split("|");
const frame = document.querySelector("iframe");
const named = (e) => `${e.tagName} ${e.id || e.className.baseVal || e.className} ${e.textContent.slice(0, 60)}`;
frame.style.width = `${width}px`;
frame.style.height = "900px";
frame.onload = () => {
  const page = frame.contentDocument;
  for (const details of page.querySelectorAll("details")) details.open = true;
  const root = page.documentElement;
  const cut = [...page.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth + 1);
  const wide = [...page.querySelectorAll("section *, header *")].filter((e) =>
    !e.closest(".scroll, svg, .hidden") && e.getBoundingClientRect().right > Number(width) + 1);
  // The name of a feature that fits a narrow column stands on one line.
  const broken = [...page.querySelectorAll(".features tbody th")].filter((e) => {
    const name = page.createRange();
    name.selectNodeContents(e.firstChild);
    return e.firstChild.textContent.trim().length <= 12 && name.getClientRects().length > 1;
  });
  const overlapping = [];
  for (const svg of page.querySelectorAll("figure svg")) {
    const labels = [...svg.querySelectorAll("text")].map((e) => [e, e.getBoundingClientRect()]);
    labels.forEach(([one, a], place) => labels.slice(place + 1).forEach(([other, b]) => {
      const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
      if (!apart) overlapping.push(`${one.textContent} ${other.textContent}`);
    }));
  }
  const measured = document.createElement("pre");
  measured.textContent = JSON.stringify({
    inner: frame.contentWindow.innerWidth, scroll: root.scrollWidth, text: root.innerText,
    cut: cut.map(named), wide: wide.map(named), broken: broken.map(named), overlapping,
  });
  frame.style.height = `${root.scrollHeight}px`;
  document.body.append(measured);
};
frame.src = page;
</script>"##;

/// A browser with a profile of its own that talks to no other machine.
pub(crate) struct Browser {
    program: PathBuf,
    folder: PathBuf,
}

impl Browser {
    /// The browser, if there is one; what it writes goes to `folder`.
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        let given = std::env::var_os("SPRIFED_CHROMIUM").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path).map(|folder| folder.join("chromium"));
        let program = given.into_iter().chain(found).find(|path| path.is_file());
        let required =
            std::env::var_os("SPRIFED_REQUIRE_CHROMIUM").is_some_and(|value| value == "1");
        assert!(
            program.is_some() || !required,
            "Chromium is required, but it is not on the PATH; install it or set SPRIFED_CHROMIUM"
        );
        if program.is_none() {
            eprintln!("SKIPPED: no page was looked at, because there is no Chromium");
        }
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("frame.html"), FRAME).unwrap();
        Some(Self {
            program: program?,
            folder: folder.to_owned(),
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a test of pages as a person sees them"
    )]
    fn run(&self, arguments: &[String]) -> Vec<u8> {
        let profile = self.folder.join("browser-profile");
        let mut command = Command::new(&self.program);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--allow-file-access-from-files",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display()));
        let ended = command.args(arguments).output().unwrap();
        assert!(ended.status.success(), "{arguments:?}");
        ended.stdout
    }

    /// The document at `address`, as the browser has it in the end.
    pub(crate) fn document(&self, address: &str) -> String {
        let document = self.run(&["--dump-dom".to_owned(), address.to_owned()]);
        String::from_utf8(document).unwrap()
    }

    /// Checks a page in a file at both widths: nothing is cut or overlaps, and these words are seen, in this
    /// order. Leaves a picture of each width beside the other files of the test.
    pub(crate) fn check(&self, page: &Path, words: &[&str]) {
        for width in WIDTHS {
            let frame = self.folder.join("frame.html");
            let address = format!(
                "file://{}#file://{}|{width}",
                frame.display(),
                page.display()
            );
            let place = format!("{} at {width} pixels", page.display());
            let measured = measured(&self.document(&address));
            assert_eq!(measured["inner"], width, "{place}");
            assert!(
                measured["scroll"].as_u64() <= Some(u64::from(width)),
                "{place}: the body is {} wide",
                measured["scroll"]
            );
            assert_eq!(measured["wide"], Value::Array(Vec::new()), "{place}");
            assert_eq!(measured["broken"], Value::Array(Vec::new()), "{place}");
            assert_eq!(measured["overlapping"], Value::Array(Vec::new()), "{place}");
            assert_eq!(measured["cut"], Value::Array(Vec::new()), "{place}");
            let mut text = measured["text"].as_str().unwrap();
            for words in words {
                let Some(at) = text.find(words) else {
                    panic!("{place}: no {words:?} in {text}");
                };
                text = &text[at..];
            }
            self.take_picture(page, &address, width);
        }
    }

    fn take_picture(&self, page: &Path, address: &str, width: u32) {
        let name = page.file_stem().unwrap().to_str().unwrap();
        let picture = self.folder.join(format!("{name}-{width}.png"));
        let window = (width.max(500), 2000);
        self.run(&[
            format!("--window-size={},{}", window.0, window.1),
            format!("--screenshot={}", picture.display()),
            address.to_owned(),
        ]);
        let picture = std::fs::read(&picture).unwrap();
        assert_eq!(size_of(&picture), window);
        assert!(picture.len() > 20_000, "{name}: nothing is drawn");
    }
}

/// What the frame wrote down.
fn measured(document: &str) -> Value {
    let (_, measured) = document.split_once("<pre>").expect("the frame was loaded");
    let (measured, _) = measured.split_once("</pre>").unwrap();
    let text = measured
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&nbsp;", "\u{a0}")
        .replace("&amp;", "&");
    serde_json::from_str(&text).unwrap()
}

/// Width and height of a picture in the PNG format.
fn size_of(picture: &[u8]) -> (u32, u32) {
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}
