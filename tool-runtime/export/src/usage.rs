//! The tokens that a response cost, as each API counts them.

use crate::api::Api;
use serde_json::Value;
use tool_runtime_core::vocabulary::Usage;

pub(crate) fn usage(api: Api, response: &Value) -> Usage {
    let usage = if api == Api::Gemini { &response["usageMetadata"] } else { &response["usage"] };
    let count = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or_default();
    match api {
        Api::Mcp => Usage::default(),
        // Tokens that were written to the cache or read from it are counted apart.
        Api::Anthropic => {
            let cached = count("/cache_read_input_tokens");
            let input = count("/input_tokens") + count("/cache_creation_input_tokens") + cached;
            Usage { input, output: count("/output_tokens"), cached }
        }
        Api::OpenAiChat => Usage {
            input: count("/prompt_tokens"),
            output: count("/completion_tokens"),
            cached: count("/prompt_tokens_details/cached_tokens"),
        },
        Api::OpenAiResponses => Usage {
            input: count("/input_tokens"),
            output: count("/output_tokens"),
            cached: count("/input_tokens_details/cached_tokens"),
        },
        Api::Gemini => Usage {
            input: count("/promptTokenCount") + count("/toolUsePromptTokenCount"),
            output: count("/candidatesTokenCount") + count("/thoughtsTokenCount"),
            cached: count("/cachedContentTokenCount"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_api_counts_in_its_own_words() {
        let anthropic = json!({ "usage": {
            "input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 7
        } });
        assert_eq!(usage(Api::Anthropic, &anthropic), Usage { input: 123, output: 7, cached: 100 });
        let chat = json!({ "usage": {
            "prompt_tokens": 123, "completion_tokens": 7, "prompt_tokens_details": { "cached_tokens": 100 }
        } });
        assert_eq!(usage(Api::OpenAiChat, &chat), Usage { input: 123, output: 7, cached: 100 });
        let responses = json!({ "usage": {
            "input_tokens": 123, "output_tokens": 7, "input_tokens_details": { "cached_tokens": 100 }
        } });
        assert_eq!(
            usage(Api::OpenAiResponses, &responses),
            Usage { input: 123, output: 7, cached: 100 }
        );
        let gemini = json!({ "usageMetadata": {
            "promptTokenCount": 123, "candidatesTokenCount": 4, "thoughtsTokenCount": 3, "cachedContentTokenCount": 100
        } });
        assert_eq!(usage(Api::Gemini, &gemini), Usage { input: 123, output: 7, cached: 100 });
        assert_eq!(usage(Api::OpenAiChat, &json!({})), Usage::default());
    }
}
