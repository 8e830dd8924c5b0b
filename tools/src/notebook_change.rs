//! One cell of a notebook replaced, inserted or deleted: not a byte changes beside it.

use std::ops::Range;

use serde_json::json;

use crate::notebook::{Cell, Notebook, place};
use crate::text_file::digest;

/// Bytes of a digest that make an id of eight letters.
const ID_BYTES: usize = 4;

/// A notebook's text after a change, and the cell that it was about.
#[derive(Debug)]
pub(crate) struct ChangedNotebook {
    pub(crate) text: String,
    /// What a model can call the cell from now on.
    pub(crate) cell: String,
}

impl Notebook<'_> {
    /// Gives a cell another source and perhaps another type. What its code had put out goes.
    pub(crate) fn replace(&self, at: usize, source: &str, kind: Option<&str>) -> ChangedNotebook {
        let cell = &self.cells[at];
        let kind = kind.unwrap_or(&cell.kind);
        let text = if kind == cell.kind {
            self.with(self.new_values(cell, source))
        } else {
            self.with([(cell.at.clone(), self.retyped(cell, source, kind))])
        };
        ChangedNotebook { text, cell: self.name(at) }
    }

    /// Inserts a cell after another one, or as the first.
    pub(crate) fn insert(&self, after: Option<usize>, source: &str, kind: &str) -> ChangedNotebook {
        let id = self.version.has_ids().then(|| self.new_id(source));
        let lead = self.lead();
        let cell = self.rendered(&lead, &self.new_fields(source, kind, id.as_deref(), &lead));
        let (separator, at) = (format!(",{}", self.gap(&lead)), after.map_or(0, |it| it + 1));
        let (place, new) = match (self.cells.is_empty(), after) {
            (true, _) => {
                let unit = self.unit();
                let above = lead.strip_suffix(unit).unwrap_or(&lead);
                let inside = format!("[{}{cell}{}]", self.edge(&lead), self.edge(above));
                (self.list.clone(), inside)
            }
            (false, Some(after)) => {
                let end = self.cells[after].at.end;
                (end..end, separator + &cell)
            }
            (false, None) => {
                let start = self.cells[0].at.start;
                (start..start, cell + &separator)
            }
        };
        let text = self.with([(place, new)]);
        ChangedNotebook { text, cell: id.unwrap_or_else(|| format!("cell-{at}")) }
    }

    /// Deletes a cell.
    pub(crate) fn delete(&self, at: usize) -> ChangedNotebook {
        let start = |at: usize| self.cells.get(at).map(|it| it.at.start);
        let place = match (start(at + 1), at.checked_sub(1)) {
            (Some(next), _) => self.cells[at].at.start..next,
            (None, Some(before)) => self.cells[before].at.end..self.cells[at].at.end,
            (None, None) => self.list.start + 1..self.list.end - 1,
        };
        ChangedNotebook { text: self.with([(place, String::new())]), cell: self.name(at) }
    }

    /// The text with other texts in some places.
    fn with(&self, places: impl IntoIterator<Item = (Range<usize>, String)>) -> String {
        let mut places: Vec<_> = places.into_iter().collect();
        places.sort_unstable_by_key(|it| it.0.start);
        let (mut text, mut done) = (String::with_capacity(self.text.len()), 0);
        for (place, new) in places {
            text.push_str(&self.text[done..place.start]);
            text.push_str(&new);
            done = place.end;
        }
        text + &self.text[done..]
    }

    fn new_values(&self, cell: &Cell<'_>, source: &str) -> Vec<(Range<usize>, String)> {
        let lead = self.lead_of(cell.at.start);
        let field = self.version.source_field(&cell.kind);
        let mut values = Vec::new();
        let mut set = |name, value: String| match cell.fields.get(name) {
            Some(old) => {
                values.push((place(self.text, old), value));
                true
            }
            None => false,
        };
        let in_lines = cell.fields.get(field).is_none_or(|it| it.get().starts_with('['));
        let written = if in_lines {
            self.lines(source, &format!("{lead}{}", self.unit()))
        } else {
            json!(source).to_string()
        };
        if !set(field, written) {
            // It had no source at all, so the whole cell is written anew.
            return vec![(cell.at.clone(), self.retyped(cell, source, &cell.kind))];
        }
        if cell.kind == "code" {
            set("outputs", "[]".to_owned());
            set(self.version.count_field(), "null".to_owned());
        }
        values
    }

    /// A cell as another type, with what it has beside its source and output.
    fn retyped(&self, cell: &Cell<'_>, source: &str, kind: &str) -> String {
        let lead = self.lead_of(cell.at.start);
        let mut fields = self.new_fields(source, kind, None, &lead);
        let made = ["cell_type", "source", "input", "outputs", self.version.count_field()];
        for (name, value) in cell.fields.0.iter().filter(|it| !made.contains(&&*it.0)) {
            let of_code = name == "language" || name == "collapsed";
            if !of_code {
                fields.retain(|it| it.0 != *name);
                fields.push((name.clone(), value.get().to_owned()));
            }
        }
        fields.sort();
        self.rendered(&lead, &fields)
    }

    /// The fields of a cell, in the order in which `nbformat` writes them down: by name.
    fn new_fields(
        &self,
        source: &str,
        kind: &str,
        id: Option<&str>,
        lead: &str,
    ) -> Vec<(String, String)> {
        let source_lead = format!("{lead}{}", self.unit());
        let source = (self.version.source_field(kind), self.lines(source, &source_lead));
        let mut fields =
            vec![("cell_type", json!(kind).to_string()), ("metadata", "{}".into()), source];
        fields.extend(id.map(|it| ("id", json!(it).to_string())));
        if kind == "code" {
            fields.extend([("outputs", "[]".to_owned())]);
            if self.version.0 == 3 {
                let language = json!(self.language).to_string();
                fields.extend([("collapsed", "false".to_owned()), ("language", language)]);
            } else {
                fields.push((self.version.count_field(), "null".to_owned()));
            }
        }
        let mut fields: Vec<_> =
            fields.into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
        fields.sort();
        fields
    }

    fn rendered(&self, lead: &str, fields: &[(String, String)]) -> String {
        let inner = format!("{lead}{}", self.unit());
        let colon = if self.text.contains("\":\"") && !self.is_indented() { ":" } else { ": " };
        let fields = fields.iter().map(|(name, value)| format!("{}{colon}{value}", json!(name)));
        let fields: Vec<_> = fields.collect();
        let separator = format!(",{}", self.gap(&inner));
        format!("{{{}{}{}}}", self.edge(&inner), fields.join(&separator), self.edge(lead))
    }

    /// A source as a list of lines; `lead` comes before the name of its field.
    fn lines(&self, source: &str, lead: &str) -> String {
        if source.is_empty() {
            return "[]".to_owned();
        }
        let inner = format!("{lead}{}", self.unit());
        let lines = source.split_inclusive('\n').map(|it| json!(it).to_string());
        let separator = format!(",{}", self.gap(&inner));
        let lines = lines.collect::<Vec<_>>().join(&separator);
        format!("[{}{lines}{}]", self.edge(&inner), self.edge(lead))
    }

    /// What comes between two values of a list.
    fn gap(&self, lead: &str) -> String {
        let compact = if self.text.contains("\",\"") { "" } else { " " };
        if self.is_indented() { self.edge(lead) } else { compact.to_owned() }
    }

    /// What comes between a bracket and a value.
    fn edge(&self, lead: &str) -> String {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        if self.is_indented() { format!("{newline}{lead}") } else { String::new() }
    }

    fn is_indented(&self) -> bool {
        !self.unit().is_empty()
    }

    /// What each level is indented by: as the first field is.
    fn unit(&self) -> &str {
        let after = self.text.trim_start().strip_prefix('{').unwrap_or_default();
        let lead = &after[..after.len() - after.trim_start().len()];
        lead.rsplit_once('\n').map_or("", |it| it.1)
    }

    /// What comes before a cell on its line.
    fn lead(&self) -> String {
        match self.cells.first() {
            Some(cell) => self.lead_of(cell.at.start),
            None => self.lead_of(self.list.start) + self.unit(),
        }
    }

    fn lead_of(&self, at: usize) -> String {
        let line = self.text[..at].rsplit('\n').next().unwrap_or_default();
        line[..line.len() - line.trim_start().len()].to_owned()
    }

    /// An id that no cell has; the same for the same notebook and source.
    fn new_id(&self, source: &str) -> String {
        let mut seed = format!("{}:{source}", self.cells.len());
        loop {
            let bytes = digest(seed.as_bytes());
            let id: String = bytes[..ID_BYTES].iter().map(|it| format!("{it:02x}")).collect();
            if self.cells.iter().all(|it| it.id.as_deref() != Some(&id)) {
                return id;
            }
            seed.push('+');
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Indented by one space, as Jupyter writes it.
    const JUPYTER: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "aaaa",
   "metadata": {},
   "source": [
    "# Title\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "bbbb",
   "metadata": {"tags": [ "x" ]},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "1\n"
     ]
    }
   ],
   "source": "print(1)"
  }
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

    fn notebook(text: &str) -> Notebook<'_> {
        Notebook::parse(text).unwrap()
    }

    /// What a change adds to a text and takes from it.
    fn difference<'a>(old: &'a str, new: &'a str) -> (&'a str, &'a str) {
        let same = old.bytes().zip(new.bytes()).take_while(|(one, other)| one == other).count();
        let (old, new) = (&old[same..], &new[same..]);
        let alike = old.bytes().rev().zip(new.bytes().rev());
        let alike = alike.take_while(|(one, other)| one == other).count();
        (&old[..old.len() - alike], &new[..new.len() - alike])
    }

    #[test]
    fn a_cell_gets_another_source_and_nothing_else_changes() {
        let changed = notebook(JUPYTER).replace(0, "a\n\"b\" é", None);
        let (old, new) = difference(JUPYTER, &changed.text);
        assert_eq!(old, "# Title\\n\",\n    \"text");
        assert_eq!(new, "a\\n\",\n    \"\\\"b\\\" é");
        assert_eq!(changed.cell, "aaaa");
    }

    #[test]
    fn code_with_another_source_has_put_out_nothing_yet() {
        let changed = notebook(JUPYTER).replace(1, "x", None);
        let cell: Value = serde_json::from_str(&changed.text).unwrap();
        assert_eq!(
            cell["cells"][1],
            json!({"cell_type": "code", "execution_count": null, "id": "bbbb", "metadata": {"tags": ["x"]}, "outputs": [], "source": "x"})
        );
        assert!(changed.text.contains(r#""metadata": {"tags": [ "x" ]},"#));
    }

    #[test]
    fn a_cell_of_another_type_keeps_what_fits_it() {
        let changed = notebook(JUPYTER).replace(1, "x", Some("markdown"));
        let (_, new) = changed.text.split_at(JUPYTER.find("  },").unwrap());
        assert!(new.starts_with("  },\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"bbbb\",\n   \"metadata\": {\"tags\": [ \"x\" ]},\n   \"source\": [\n    \"x\"\n   ]\n  }\n ],\n"), "{new}");
        let changed = notebook(JUPYTER).replace(0, "x", Some("code"));
        assert!(changed.text.starts_with("{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"aaaa\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"x\"\n   ]\n  },\n"), "{}", changed.text);
    }

    #[test]
    fn a_new_cell_stands_where_it_was_wanted_with_an_id_of_its_own() {
        for (after, ids) in [(None, 0), (Some(0), 1), (Some(1), 2)] {
            let changed = notebook(JUPYTER).insert(after, "a\nb", "code");
            let now = notebook(&changed.text);
            assert_eq!((now.cells.len(), now.find(&changed.cell)), (3, Some(ids)));
            assert_eq!(now.cells[ids].source, "a\nb");
            // Taken away again, nothing is left of it.
            assert_eq!(now.delete(ids).text, JUPYTER);
        }
        let twice = notebook(JUPYTER).insert(None, "x", "markdown").text;
        let twice = twice.replace("\"aaaa\"", &format!("\"{}\"", notebook(JUPYTER).new_id("x")));
        assert_ne!(notebook(&twice).new_id("x"), notebook(JUPYTER).new_id("x"));
    }

    #[test]
    fn an_empty_notebook_is_filled_and_emptied() {
        for (text, full) in [
            (
                "{\n \"cells\": [],\n \"nbformat\": 4, \"nbformat_minor\": 4}",
                "{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"metadata\": {},\n   \"source\": [\n    \"x\"\n   ]\n  }\n ],\n \"nbformat\": 4, \"nbformat_minor\": 4}",
            ),
            (
                r#"{"cells":[],"metadata":{"a":"b","c":"d"},"nbformat":4,"nbformat_minor":4}"#,
                r#"{"cells":[{"cell_type":"markdown","metadata":{},"source":["x"]}],"metadata":{"a":"b","c":"d"},"nbformat":4,"nbformat_minor":4}"#,
            ),
        ] {
            let changed = notebook(text).insert(None, "x", "markdown");
            assert_eq!((changed.text.as_str(), changed.cell.as_str()), (full, "cell-0"));
            let emptied = notebook(&changed.text).delete(0).text;
            assert_eq!(notebook(&emptied).cells.len(), 0);
        }
    }

    #[test]
    fn the_older_format_has_its_own_fields() {
        let text = r#"{"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [{"cell_type": "code", "collapsed": false, "input": ["1"], "language": "python", "metadata": {}, "outputs": [{}], "prompt_number": 3}], "metadata": {}}]}"#;
        let changed = notebook(text).replace(0, "2", None);
        assert_eq!(
            changed.text,
            text.replace(r#"["1"]"#, r#"["2"]"#).replace("[{}]", "[]").replace(": 3}]", ": null}]")
        );
        let changed = notebook(text).insert(Some(0), "x", "code");
        assert_eq!(changed.cell, "cell-1");
        assert!(changed.text.contains(r#"}, {"cell_type": "code", "collapsed": false, "input": ["x"], "language": "python", "metadata": {}, "outputs": []}]"#), "{}", changed.text);
    }

    #[test]
    fn cells_are_found_by_id_and_by_place() {
        let text = JUPYTER.replace("aaaa", "1");
        let notebook = notebook(&text);
        let found: Vec<_> = ["bbbb", "cell-0", "cell-1", "1", "0", "cell-2", "2", "", "-1"]
            .map(|it| notebook.find(it))
            .into();
        // The id counts before the place.
        assert_eq!(found[..5], [Some(1), Some(0), Some(1), Some(0), Some(0)]);
        assert_eq!(found[5..], [None; 4]);
    }

    #[test]
    fn what_is_no_notebook_is_told() {
        let told = |text: &str| Notebook::parse(text).unwrap_err().to_string();
        for (text, why) in [
            ("x", "it is not JSON (expected value at line 1 column 1)"),
            (
                "[]",
                "it is not JSON (invalid type: sequence, expected an object at line 1 column 0)",
            ),
            ("{}", "it has no `nbformat`"),
            (r#"{"nbformat": 4}"#, "it has no `cells`"),
            (r#"{"nbformat": 5, "cells": []}"#, "its nbformat is 5, and 3 and 4 are known"),
            (r#"{"nbformat": 4, "cells": [{}]}"#, "it has no `cell_type`"),
            (
                r#"{"nbformat": 3, "worksheets": []}"#,
                "it has 0 worksheets, and only one can be dealt with",
            ),
        ] {
            assert_eq!(told(text), why);
        }
    }

    proptest! {
        #[test]
        fn a_change_and_its_inverse_restore_the_text(
            sources in proptest::collection::vec("[ab\"\\\\é\n]{0,9}", 1..5),
            new in "[xyz\n]{0,9}",
            at: proptest::sample::Index,
            pretty: bool,
        ) {
            let cells: Vec<_> = sources.iter().map(|it| {
                let lines: Vec<_> = it.split_inclusive('\n').collect();
                json!({"cell_type": "markdown", "metadata": {}, "source": lines})
            }).collect();
            let whole = json!({"cells": cells, "nbformat": 4, "nbformat_minor": 4});
            let text = if pretty { format!("{whole:#}\n") } else { whole.to_string() };
            let at = at.index(sources.len());
            let changed = notebook(&text).replace(at, &new, None).text;
            prop_assert_eq!(&notebook(&changed).cells[at].source, &new);
            let back = notebook(&changed).replace(at, &sources[at], None).text;
            prop_assert_eq!(&back, &text);
            let longer = notebook(&text).insert(Some(at), &new, "markdown").text;
            prop_assert_eq!(notebook(&longer).delete(at + 1).text, text);
        }
    }
}
