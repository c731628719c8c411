tool_runtime::external_tools!(servers);

fn main() {}
