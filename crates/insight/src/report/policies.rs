//! The policies of all cures, as files that `freeboard apply` takes.

use super::{Remedy, Report, yaml};
use guard::policy::file::File;
use serde_json::{Value, json};

/// The policies of one database.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyFile {
    pub database: String,
    pub text: String,
    /// Findings whose policy contradicts the others, as namespace and path.
    pub left_out: Vec<String>,
}

impl Report {
    /// One file a database, with every policy that its findings propose.
    pub fn policies(&self) -> Vec<PolicyFile> {
        let mut files: Vec<(Value, Vec<String>)> = Vec::new();
        for finding in &self.findings {
            let Remedy::Policy(policy) = &finding.cure.remedy else { continue };
            let known = files.iter().position(|(file, _)| file["database"] == policy["database"]);
            let at = known.unwrap_or_else(|| {
                let database = &policy["database"];
                let file = json!({ "version": 1, "database": database, "collections": {} });
                files.push((file, Vec::new()));
                files.len() - 1
            });
            let Some((file, left_out)) = files.get_mut(at) else { continue };
            let mut tried = file.clone();
            merge(&mut tried, policy);
            match File::parse(&tried.to_string()) {
                Ok(_) => *file = tried,
                Err(_) => left_out.push(match &finding.path {
                    Some(path) => format!("{} ({path})", finding.namespace),
                    None => finding.namespace.clone(),
                }),
            }
        }
        let file = |(file, left_out): (Value, Vec<String>)| PolicyFile {
            database: file["database"].as_str().unwrap_or_default().to_owned(),
            text: yaml::lines(&file).join("\n") + "\n",
            left_out,
        };
        files.into_iter().map(file).collect()
    }
}

/// Adds what is not there.
pub fn merge(into: &mut Value, from: &Value) {
    let (Value::Object(into), Value::Object(from)) = (into, from) else { return };
    for (key, value) in from {
        match into.get_mut(key) {
            Some(known) => merge(known, value),
            None => drop(into.insert(key.clone(), value.clone())),
        }
    }
}
