use tool_runtime::prelude::*;

/// Open a door.
#[tool]
async fn open(
    /// The name of the door.
    #[arg(pattern = "^[a-z]+$", default = "A1", example = "front")]
    door: String,
    /// The name of the house.
    #[arg(pattern = "^[a-z]+$", example = "B2")]
    house: String,
) -> String {
    door + &house
}

fn main() {}
