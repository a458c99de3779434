//! What the parser would have taken, in words.

/// The terminals the parser would have taken, as the grammar spells them.
pub(crate) struct Expected(Vec<String>);

impl Expected {
    pub fn new(terminals: Vec<String>) -> Self {
        Self(terminals)
    }

    /// Whether a terminal is among them, spelt as in the grammar: quoted if it is a fixed word or symbol.
    pub fn has(&self, terminal: &str) -> bool {
        self.0.iter().any(|expected| expected == terminal)
    }

    /// Short: an expression, an operator, ... instead of all their first tokens.
    pub fn in_words(&self) -> String {
        const STATEMENT: [&str; 10] =
            ["import", "model", "input", "output", "const", "let", "fn", "for", "broken", "mut"];
        const NAME: [&str; 8] =
            ["name", "scheme", "security", "bootstrap", "memory", "cipher", "plain", "precision"];
        const OPERAND: [&str; 7] = ["number", "text", "true", "false", "-", "(", "["];
        const OPERATOR: [&str; 8] = ["+", "-", "*", "/", "@", "**", "(", "["];
        let groups: [(&str, &str, &[&[&str]]); 4] = [
            ("let", "a statement", &[&STATEMENT, &NAME, &OPERAND, &[";"]]),
            ("number", "an expression", &[&NAME, &OPERAND]),
            ("name", "a name", &[&NAME]),
            ("+", "an operator", &[&OPERATOR]),
        ];
        let mut left: Vec<&str> = self.0.iter().map(|terminal| terminal.trim_matches('"')).collect();
        let mut words: Vec<String> = Vec::new();
        for (mark, group, members) in groups {
            if left.contains(&mark) {
                words.push(group.to_string());
                left.retain(|terminal| !members.iter().any(|part| part.contains(terminal)));
            }
        }
        words.extend(left.iter().filter(|terminal| **terminal != "broken").map(|terminal| match *terminal {
            "text" => "a string in double quotes".to_string(),
            symbol => format!("`{symbol}`"),
        }));
        match words.as_slice() {
            [] => "nothing more".to_string(),
            [only] => only.clone(),
            [some @ .., last] => format!("{} or {last}", some.join(", ")),
        }
    }
}
