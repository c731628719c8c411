tool_runtime::external_tools!("servers/none.json");

fn main() {}
