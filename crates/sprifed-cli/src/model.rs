//! `model.json`: where models are read and written.

use std::fs;
use std::path::Path;

use crate::failure::Failure;

pub(crate) use sprifed::{Model, Receipt, software};

/// Reads the model at `path`.
///
/// # Errors
/// When the file cannot be read, or holds no model of this version.
pub(crate) fn read_model(path: &Path) -> Result<Model, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        let message = format!(
            "`{}` cannot be read: {error}; required: a model file",
            path.display()
        );
        Failure::environment(
            "sprifed::model::unreadable",
            message,
            "check the path and its permissions",
        )
    })?;
    Ok(Model::parse(&text, &path.display().to_string())?)
}

/// The receipts of the model at `path`, if there is one: they outlive the model they came with.
///
/// # Errors
/// When there is a file that is not a model: replacing it would lose what it says was spent.
pub(crate) fn receipts_at(path: &Path) -> Result<Vec<Receipt>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    Receipt::all_in(&text).ok_or_else(|| {
        let message = format!(
            "{} is there, but its receipts cannot be read: it is not a model, or it is damaged",
            path.display()
        );
        let help = "keep it as a record of what was spent and name another file; nothing was spent";
        Failure::usage("sprifed::file::not-a-model", message, help)
    })
}
