"""Converts JSON Schemas by the transformers of the official libraries of OpenAI and Google.

Reads a file with a list of pairs of a schema and its Gemini export, and prints a list of results:
`openai` is the schema in OpenAI's strict form, `gemini` is both as Google's `Schema`.
"""

import copy
import json
import sys

from google.genai import types
from openai.lib._pydantic import _ensure_strict_json_schema


def openai(schema):
    schema = copy.deepcopy(schema)
    return _ensure_strict_json_schema(schema, path=(), root=schema)


KNOWN = {field.alias for field in types.JSONSchema.model_fields.values()}


def known(schema):
    """The schema without keywords that Google's library rejects or ignores, in keywords that it supports."""
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            kept[key] = {name: known(one) for name, one in value.items()}
        elif key in ("anyOf", "oneOf"):
            kept["anyOf"] = [known(one) for one in value]
        elif key == "const":
            kept["enum"] = [value]
        elif key == "required" and not value:
            pass
        elif key in KNOWN:
            kept[key] = known(value)
    return kept


def gemini(schema):
    parsed = types.JSONSchema.model_validate(known(schema))
    converted = types.Schema.from_json_schema(json_schema=parsed)
    return converted.model_dump(mode="json", exclude_none=True)


pairs = json.load(open(sys.argv[1]))
print(json.dumps([
    {"openai": openai(own), "gemini": [gemini(own), gemini(exported)]}
    for own, exported in pairs
]))
