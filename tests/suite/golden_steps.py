"""Computes the ids of steps, to compare them with those of the library."""

import hashlib
import struct


def digest(parts):
    result = hashlib.sha256()
    for part in parts:
        result.update(struct.pack(">Q", len(part)))
        result.update(part)
    return result.digest()


# The run, the tool, the arguments in the form of RFC 8785, and the number among equal calls.
STEPS = [
    ("order-17", "add", '{"a":1,"b":2}', 1),
    ("order-17", "add", '{"a":1,"b":2}', 2),
    ("order-17", "add", '{"a":true,"b":2}', 1),
    ("order-17", "web.get", '{"url":"https://example.org/€","z":{"\\r":1e+21,"é":[0.1,0,null]}}', 1),
    ("order-17", "web.get", "{}", 1),
]

for run, tool, arguments, number in STEPS:
    content = digest([run.encode(), tool.encode(), arguments.encode()])
    print(digest([content, struct.pack(">Q", number)]).hex())
