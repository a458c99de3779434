//! Generates the parser from `src/fhec.lalrpop`.

fn main() {
    lalrpop::Configuration::new()
        .emit_rerun_directives(true)
        .process_dir("src")
        .expect("src/fhec.lalrpop is a valid grammar");
}
