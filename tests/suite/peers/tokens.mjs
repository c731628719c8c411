// Prints the sizes of texts in tokens of `o200k_base`: a file with a JSON list of texts, to a list of numbers.
import { readFileSync } from "node:fs";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

const texts = JSON.parse(readFileSync(process.argv[2], "utf8"));
console.log(JSON.stringify(texts.map((text) => encode(text).length)));
