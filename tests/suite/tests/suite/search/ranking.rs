//! The share of queries whose tool is among the first hits. Our own queries avoid the words of the tools, so this only shows
//! that nothing is broken: the weights were chosen on queries of others.

use super::data::{ExpectedHit, definitions, expected_hits};
use tool_runtime::search::ToolIndex;

/// Number of hits that a model receives.
const FIRST: usize = 5;

#[test]
fn the_expected_tool_is_among_the_first_five_for_seven_of_ten_queries() {
    let definitions = definitions();
    let index = ToolIndex::from_definitions(&definitions);
    let (mut found, mut total) = (0, 0);
    for ExpectedHit { query, tool } in &expected_hits() {
        let hits = index.search(query, FIRST);
        let is_found = hits.iter().any(|hit| hit.name == *tool);
        total += 1;
        found += usize::from(is_found);
        if !is_found {
            let names: Vec<_> = hits.iter().map(|hit| hit.name.as_str()).collect();
            eprintln!("missed {tool}: {query} {names:?}");
        }
    }
    assert!(found * 10 >= total * 7, "{found} of {total}");
}
