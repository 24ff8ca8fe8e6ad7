//! How to read a report of coefficients, for a statistician who has not seen one from this program.

use sprifed_privacy::counted;
use sprifed_query::Link;
use sprifed_recovery::{NoInference, NoInterval, Role, ScoreNoise, SurvivalNoise};

use super::{CoefficientReport, LOOSE_CLIP, TermEstimate};

/// Why there are no estimates, intervals and p-values.
pub(super) const fn not_available(reason: NoInference) -> &'static str {
    match reason {
        NoInference::ClientUnit => {
            "Intervals and p-values are not available: the unit of privacy is a client. A client contributes the mean over \
             its records, and the spread of such means does not show how accurate a coefficient is. All features that \
             were sought are kept."
        }
        NoInference::Procedure => {
            "Intervals and p-values are not available: this procedure does not give them."
        }
        NoInference::NoAnswer => {
            "Intervals and p-values are not available: the study ended before its last question was answered."
        }
        NoInference::TooFewRecords => {
            "Intervals and p-values are not available: with so few records only the mean was asked."
        }
    }
}

/// How many features were kept and what is expected of them.
pub(super) fn kept(report: &CoefficientReport) -> String {
    match report.false_share {
        Some(share) => format!(
            "{} of at most {} kept, expected share of false ones at most {:.0} %",
            report.kept,
            counted(report.sought, "feature", "features"),
            100.0 * share
        ),
        None if report.kept < report.sought => format!(
            "{} kept, all that were chosen",
            counted(report.kept, "feature", "features")
        ),
        None => format!(
            "{} kept, exactly as many as were asked for",
            counted(report.kept, "feature", "features")
        ),
    }
}

/// The notes under a table of coefficients.
pub(super) fn notes(report: &CoefficientReport) -> Vec<String> {
    let mut notes = vec![selection(report)];
    notes.extend(parts(report));
    match report.no_intervals {
        _ if report.terms.is_empty() => {}
        Some(reason) => notes.push(no_intervals(reason, report.estimated_by.is_some()).to_owned()),
        None => notes.extend(intervals(report)),
    }
    let lacks_interval =
        |term: &TermEstimate| term.role == Role::Selected && term.interval.is_none();
    if report.no_intervals.is_none() && report.terms.iter().any(lacks_interval) {
        notes.push(
            "Where the interval of a selected feature is not available, its ends could not be computed: the scores of the \
             selection are too large beside its noise."
                .to_owned(),
        );
    }
    let has_p_value = |term: &TermEstimate| term.role == Role::Selected && term.p_value.is_some();
    if report.terms.iter().any(has_p_value) && report.estimated_by.is_some() {
        notes.push(
            "A p-value is the ordinary two-sided one, from records that did not choose the feature; do not correct it for \
             the selection."
                .to_owned(),
        );
    } else if report.terms.iter().any(has_p_value) {
        notes.push(
            "A p-value bounds the chance that a feature without effect was selected in this place and came out this strong. \
             It allows for the selection among all candidates; do not correct it again."
                .to_owned(),
        );
    }
    notes.extend(categories(report));
    if report.terms.iter().any(|term| term.role == Role::Always) {
        notes.push(
            "Features that are always in the model were not selected: their intervals and p-values are ordinary ones."
                .to_owned(),
        );
    }
    if !report.terms.is_empty() {
        notes.push(
            "The estimates describe associations, not causes. They cost no privacy beyond epsilon."
                .to_owned(),
        );
    }
    notes
}

/// How to read the levels of categories that were kept as one.
fn categories(report: &CoefficientReport) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in report
        .terms
        .iter()
        .filter_map(|term| term.category.as_deref())
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| {
        format!(
            "All levels of {} were kept together and count as one feature. Their p-value is that of the category as a whole; \
             estimates and intervals are differences from the reference level.",
            names.join(", ")
        )
    })
}

fn selection(report: &CoefficientReport) -> String {
    let CoefficientReport {
        sought,
        kept,
        false_share,
        ..
    } = report;
    match false_share {
        Some(_) if *kept == 0 => format!("Up to {} sought; none was kept.", were(*sought)),
        Some(share) => format!(
            "Up to {} sought; {} kept. Over many such studies, at most {:.0} % of the kept features are false on average \
             (Benjamini-Hochberg).",
            were(*sought),
            were_number(*kept),
            100.0 * share,
        ),
        None if kept < sought => format!(
            "Exactly {} asked for. Choices that named another level of a category add nothing: all {kept} that were chosen are \
             kept, also those without effect. Nothing limits the share of false ones; look at the p-values.",
            were(*sought)
        ),
        None => format!(
            "Exactly {} asked for, so all of them are kept, also those without effect. Nothing limits the share of false \
             ones; look at the p-values.",
            were(*sought)
        ),
    }
}

/// Which records chose and which estimated, where they are not the same.
fn parts(report: &CoefficientReport) -> Option<String> {
    let estimated_by = report.estimated_by?;
    Some(format!(
        "Features were chosen by {} of the records, their coefficients estimated by the other {estimated_by}. The part of a \
         record follows from its place in the table. Predictions use the records of the first part only.",
        report.records.saturating_sub(estimated_by)
    ))
}

fn were(number: u32) -> String {
    match number {
        1 => "1 feature was".to_owned(),
        number => format!("{number} features were"),
    }
}

fn were_number(number: u32) -> String {
    match number {
        1 => "1 was".to_owned(),
        number => format!("{number} were"),
    }
}

/// One digit, rounded down: a factor below a limit is not shown as the limit.
fn down_to_a_tenth(factor: f64) -> String {
    format!("{:.1}", (10.0 * factor).floor() / 10.0)
}

fn intervals(report: &CoefficientReport) -> [String; 3] {
    if let Some(score) = report.score {
        return intervals_of_score(report, score);
    }
    if let Some(survival) = report.survival {
        return intervals_of_survival(report, survival);
    }
    let is_tight = report.clip_factor < LOOSE_CLIP;
    let clip = if is_tight {
        format!(
            "; because the clip factor is {}, below {LOOSE_CLIP}, also symmetric errors",
            down_to_a_tenth(report.clip_factor)
        )
    } else {
        String::new()
    };
    let assumed = match report.residual_moment_noise {
        None => format!(
            "The intervals assume independent records and errors of about equal variance{clip}."
        ),
        Some(_) => format!(
            "The intervals assume independent records{clip}. They allow for errors whose variance depends on the \
             features{}.",
            if is_tight {
                ", as far as clipping leaves it visible"
            } else {
                ""
            }
        ),
    };
    if report.estimated_by.is_some() {
        return [
            format!(
                "An interval is meant to contain the coefficient of the best linear prediction by the reported features, \
                 for records clipped as the plan says, with a probability of {:.0} %.",
                100.0 * report.level
            ),
            "The intervals allow for chance in the records and for the noise added for privacy (its share of the variance \
             is in the table). They need not allow for the selection: other records made it."
                .to_owned(),
            assumed,
        ];
    }
    [
        format!(
            "An interval is meant to contain the coefficient of the best linear prediction by the reported features, for \
             records clipped as the plan says. {:.0} % of the intervals of kept features do so on average over all of \
             them. For a feature that was kept by mistake, the interval often misses zero.",
            100.0 * report.level
        ),
        "The intervals allow for chance in the records, for the noise added for privacy (its share of the variance is in \
         the table) and for the selection of the features."
            .to_owned(),
        assumed,
    ]
}

/// The same for estimates of a generalised linear model.
fn intervals_of_score(report: &CoefficientReport, score: ScoreNoise) -> [String; 3] {
    let (what, share) = match score.link {
        Link::Logit => ("log odds", "of the records are events"),
    };
    [
        format!(
            "An interval is meant to contain the coefficient of the model of the {what} by the reported features, fitted to \
             all such records, each counted as clipping weighs it. {:.0} % of the intervals of kept features do so on \
             average over all of them. For a feature that was kept by mistake, the interval often misses zero.",
            100.0 * report.level
        ),
        "The intervals allow for chance in the records, for the noise added for privacy (its share of the variance is in \
         the table) and, by their level, for the number of features that were kept of those sought."
            .to_owned(),
        format!(
            "The intervals assume independent records and that the {what} are a sum of the features. About {:.0} % {share}, \
             by a private mean.",
            100.0 * score.mean
        ),
    ]
}

/// The same for estimates of Cox's model.
fn intervals_of_survival(report: &CoefficientReport, survival: SurvivalNoise) -> [String; 3] {
    [
        format!(
            "An interval is meant to contain the coefficient of Cox's model of the hazard by the reported features, fitted to \
             all such records, each counted as clipping weighs it. {:.0} % of the intervals of kept features do so on \
             average over all of them. For a feature that was kept by mistake, the interval often misses zero.",
            100.0 * report.level
        ),
        format!(
            "The intervals allow for chance in the records, for the noise added for privacy and, by their level, for the \
             number of features that were kept of those sought. Standard errors are multiplied by {}: this factor was \
             measured and stands for the noise of the baseline hazard, which moves all coefficients together.",
            survival.baseline_factor
        ),
        "The intervals assume independent records, hazards that are proportional, and censoring that does not depend on the \
         event given the features. Equal times need no rule: times count by their bin."
            .to_owned(),
    ]
}

const fn no_intervals(reason: NoInterval, is_split: bool) -> &'static str {
    match reason {
        NoInterval::IllConditioned => {
            "Intervals are not available: the noise is too large to separate the reported features."
        }
        NoInterval::FewRecords if is_split => {
            "Intervals are not available: with fewer than 112 records for the estimates they were not measured. Use more \
             records."
        }
        NoInterval::FewRecords => {
            "Intervals are not available: with fewer than 300 records they are too short when the number of features is \
             chosen by significance. Ask for exactly as many features as you expect, or use more records."
        }
        NoInterval::AlmostSeparated => {
            "Intervals are not available: the features almost separate the two values of the response, and one step from \
             noisy sums then finds coefficients that are too small."
        }
        NoInterval::TooFewRecords => {
            "Intervals and p-values are not available: there are fewer records than one feature needs at this epsilon, and \
             p-values would be far too small."
        }
    }
}
