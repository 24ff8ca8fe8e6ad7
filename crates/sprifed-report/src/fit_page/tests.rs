use sprifed_privacy::GuaranteeTable;

use super::{FitPage, ScoreCurves};
use crate::chart::{LineChart, Marker, Point, Scale, Series, Shape};
use crate::features::{Bar, FeatureTable};
use crate::page::{Badge, BadgeKind};

#[test]
fn a_curve_has_its_title_above_it() {
    let point = |x: f64| Point {
        x,
        y: 1.0 - x / 2.0,
        low: 0.4 - x / 4.0,
        high: 1.0,
    };
    let statement = "Privacy   NOT PRIVATE: a seed";
    let mut page = FitPage {
        title: "A model".to_owned(),
        status: Vec::new(),
        guarantee: GuaranteeTable::try_from(statement.to_owned()).unwrap(),
        warnings: Vec::new(),
        features: FeatureTable::new(&[], None),
        notes: Vec::new(),
        curve: Some(LineChart {
            title: "Survival of <one>".to_owned(),
            across: ("time".to_owned(), Scale::Linear),
            up: ("share".to_owned(), Scale::Linear),
            series: vec![Series {
                marker: Marker {
                    shape: Shape::Circle,
                    is_filled: true,
                    colour: (40, 80, 160),
                },
                points: [0.0, 0.5, 1.0].map(point).to_vec(),
            }],
            printed: Vec::new(),
            reference: None,
        }),
        facts: Vec::new(),
        curves: None,
        rounds: Vec::new(),
        budget: Vec::new(),
        diagnostics: Vec::new(),
    };
    let html = page.to_html();
    let title = html.find("<h2>Survival of &lt;one&gt;</h2>").unwrap();
    assert!(html[title..].contains("<svg") && html[title..].contains("<circle"));
    page.curve = None;
    assert!(!page.to_html().contains("class=\"curve\""));
}

#[test]
fn the_status_is_first_and_warnings_stand_above_what_they_concern() {
    let bar = Bar {
        interval: Some((-1.5, -1.0)),
        ..Bar::of_estimate("x_<7>", -1.25)
    };
    let statement = "Privacy   NOT PRIVATE: a seed\nNoise     added by a curator";
    let page = FitPage {
        title: "A model".to_owned(),
        status: vec![Badge::new(BadgeKind::Done, "complete")],
        guarantee: GuaranteeTable::try_from(statement.to_owned()).unwrap(),
        warnings: vec!["do not use".to_owned()],
        features: FeatureTable::new(&[bar], Some(0.5)),
        notes: vec!["an average over all features".to_owned()],
        curve: None,
        facts: Vec::new(),
        curves: Some(ScoreCurves {
            label: "a score, NOT PRIVATE".to_owned(),
            charts: vec![("<svg>drawn</svg>".to_owned(), "a < b".to_owned())],
        }),
        rounds: Vec::new(),
        budget: Vec::new(),
        diagnostics: Vec::new(),
    };
    let html = page.to_html();
    let places: Vec<usize> = [
        "complete</span>",
        "<h1>A model",
        "<p class=\"warning\">do not use",
        "<tr class=\"refused\"><th scope=\"row\">Privacy</th><td>NOT PRIVATE",
        "x_&lt;7&gt;",
        "-1.500 to -1.000",
        "(intercept)",
        "an average over all features",
        "<p class=\"warning\">a score, NOT PRIVATE",
        "<svg>drawn</svg>",
        "a &lt; b",
    ]
    .into_iter()
    .map(|words| {
        html.find(words)
            .unwrap_or_else(|| panic!("no {words} in {html}"))
    })
    .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(
        !html.contains("http://") && !html.contains("https://"),
        "{html}"
    );
}
