//! A notebook (nbformat 3 and 4): its cells and where they stand in the text of the file.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Largest notebook that is read or changed, in bytes (Claude Code docs 2.1.240).
pub(crate) const LARGEST: u64 = 100 << 20;

/// Why a text is no notebook that can be dealt with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotNotebook {
    #[error("it is not JSON ({0})")]
    Json(#[from] serde_json::Error),
    #[error("it has no `{0}`")]
    Lacks(&'static str),
    #[error("its nbformat is {0}, and 3 and 4 are known")]
    Version(u64),
    #[error("it has {0} worksheets, and only one can be dealt with")]
    Worksheets(usize),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Notebook<'a> {
    pub(crate) text: &'a str,
    pub(crate) version: Version,
    /// The language of its code.
    pub(crate) language: String,
    /// Where the list of cells stands, brackets included.
    pub(crate) list: Range<usize>,
    pub(crate) cells: Vec<Cell<'a>>,
}

/// The version of the format: major, minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u64, pub(crate) u64);

impl Version {
    /// Whether cells have ids.
    pub(crate) fn has_ids(self) -> bool {
        self >= Self(4, 5)
    }

    /// The name of the field that holds a cell's source.
    pub(crate) fn source_field(self, kind: &str) -> &'static str {
        if self.0 == 3 && kind == "code" { "input" } else { "source" }
    }

    /// The name of the field that counts executions.
    pub(crate) fn count_field(self) -> &'static str {
        if self.0 == 3 { "prompt_number" } else { "execution_count" }
    }
}

/// One cell.
#[derive(Debug)]
pub(crate) struct Cell<'a> {
    /// Where it stands in the text, braces included.
    pub(crate) at: Range<usize>,
    pub(crate) fields: Fields<'a>,
    pub(crate) kind: String,
    pub(crate) id: Option<String>,
    pub(crate) source: String,
}

impl<'a> Notebook<'a> {
    /// Reads a notebook.
    ///
    /// # Errors
    ///
    /// Why it is none.
    pub(crate) fn parse(text: &'a str) -> Result<Self, NotNotebook> {
        let top: Fields<'a> = serde_json::from_str(text)?;
        let number = |name| top.get(name).and_then(|it| it.get().parse().ok());
        let version = Version(
            number("nbformat").ok_or(NotNotebook::Lacks("nbformat"))?,
            number("nbformat_minor").unwrap_or(0),
        );
        let list = match version.0 {
            4 => top.get("cells").ok_or(NotNotebook::Lacks("cells"))?,
            3 => {
                let sheets = top.get("worksheets").ok_or(NotNotebook::Lacks("worksheets"))?;
                let sheets: Vec<Fields<'a>> = serde_json::from_str(sheets.get())?;
                let [sheet] = &sheets[..] else {
                    return Err(NotNotebook::Worksheets(sheets.len()));
                };
                sheet.get("cells").ok_or(NotNotebook::Lacks("cells"))?
            }
            other => return Err(NotNotebook::Version(other)),
        };
        let cells: Vec<&'a RawValue> = serde_json::from_str(list.get())?;
        let cells = cells.into_iter().map(|it| Cell::parse(text, version, it));
        let cells = cells.collect::<Result<_, _>>()?;
        let language = language(&top).unwrap_or_else(|| "python".to_owned());
        Ok(Self { text, version, language, list: place(text, list), cells })
    }

    /// The cell that a model names: by its id, else by its place among the cells, from 0, as in
    /// `cell-3` or `3`.
    pub(crate) fn find(&self, named: &str) -> Option<usize> {
        let by_id = self.cells.iter().position(|it| it.id.as_deref() == Some(named));
        by_id.or_else(|| {
            let at: usize = named.strip_prefix("cell-").unwrap_or(named).parse().ok()?;
            (at < self.cells.len()).then_some(at)
        })
    }

    /// What a model can call a cell.
    pub(crate) fn name(&self, at: usize) -> String {
        let id = self.cells.get(at).and_then(|it| it.id.clone());
        id.unwrap_or_else(|| format!("cell-{at}"))
    }
}

impl<'a> Cell<'a> {
    fn parse(text: &'a str, version: Version, raw: &'a RawValue) -> Result<Self, NotNotebook> {
        let fields: Fields<'a> = serde_json::from_str(raw.get())?;
        let string = |name| fields.get(name).and_then(|it| serde_json::from_str(it.get()).ok());
        let kind: String = string("cell_type").ok_or(NotNotebook::Lacks("cell_type"))?;
        let id = string("id").filter(|_| version.0 == 4);
        let field = version.source_field(&kind);
        let source = fields.get(field).map(joined).transpose()?.unwrap_or_default();
        Ok(Self { at: place(text, raw), fields, kind, id, source })
    }
}

/// A text that is either one string or a list of lines.
pub(crate) fn joined(raw: &RawValue) -> Result<String, serde_json::Error> {
    if raw.get().starts_with('[') {
        serde_json::from_str::<Vec<String>>(raw.get()).map(|it| it.concat())
    } else {
        serde_json::from_str(raw.get())
    }
}

fn language(top: &Fields<'_>) -> Option<String> {
    let metadata: Fields<'_> = serde_json::from_str(top.get("metadata")?.get()).ok()?;
    let info: Fields<'_> = serde_json::from_str(metadata.get("language_info")?.get()).ok()?;
    serde_json::from_str(info.get("name")?.get()).ok()
}

/// Where a value stands in the text that it was parsed from.
pub(crate) fn place(text: &str, value: &RawValue) -> Range<usize> {
    let start = value.get().as_ptr().addr() - text.as_ptr().addr();
    start..start + value.get().len()
}

/// The fields of an object in their order, each as it is written down.
#[derive(Debug)]
pub(crate) struct Fields<'a>(pub(crate) Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|it| it.0 == name).map(|it| it.1)
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields<'de>, M::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        from.deserialize_map(InOrder)
    }
}
