//! The intercepts of sites, in the units of the table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_recovery::Fit;
use sprifed_schema::Units;

use crate::error::Error;
use crate::model::Model;

/// The intercept of one site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SiteIntercept {
    /// The party, or what the column of sites says.
    pub site: String,
    /// The response, after its transform, that is predicted for a record of this site where all features are zero.
    pub intercept: f64,
}

/// The intercepts of the sites of `fit`, which are named in its order; `intercept` is that of the model.
pub(crate) fn site_intercepts<'a>(
    fit: &Fit,
    names: impl IntoIterator<Item = &'a String>,
    intercept: f64,
    response: &Units,
) -> Vec<SiteIntercept> {
    let sites = names.into_iter().zip(&fit.sites);
    sites
        .map(|(site, deviation)| SiteIntercept {
            site: site.clone(),
            intercept: intercept + deviation * response.scale(),
        })
        .collect()
}

impl Model {
    /// The model as it predicts for records of one site. Without this it predicts with the mean of the intercepts of
    /// all sites, each counted by its records, which suits a new site.
    ///
    /// # Errors
    /// When it has no such site.
    pub fn at_site(self, site: &str) -> Result<Self, Error> {
        match self.sites.iter().find(|known| known.site == site) {
            Some(known) => Ok(Self {
                intercept: known.intercept,
                ..self
            }),
            None => Err(Error::UnknownSite {
                found: site.to_owned(),
                known: self.sites.into_iter().map(|known| known.site).collect(),
            }),
        }
    }

    /// What is said of the intercepts of sites, if there are any.
    pub(crate) fn site_note(&self) -> Option<String> {
        let intercept = |known: &SiteIntercept| format!("{} {:.4}", known.site, known.intercept);
        let list: Vec<String> = self.sites.iter().map(intercept).collect();
        (!list.is_empty()).then(|| {
            format!(
                "Each site has an intercept of its own, so a noisy mean of each site is released: {}. Records of other \
                 sites are predicted with the mean of these, each counted by its records.",
                list.join(", ")
            )
        })
    }
}
