# Reads OTLP requests as protobuf JSON by the published messages, and says what it read. Arguments: the directory of the
# messages. Input: a JSON list of texts, one a request. Output: a JSON list, for each request its spans or what is wrong.
import base64
import json
import sys

sys.path.insert(0, sys.argv[1])

from google.protobuf import json_format  # noqa: E402
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest  # noqa: E402

ID_BYTES = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def with_base64_ids(value):
    """OTLP writes ids in hex, where protobuf JSON has base64."""
    if isinstance(value, list):
        return [with_base64_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: base64_of(name, member) if name in ID_BYTES else with_base64_ids(member)
        for name, member in value.items()
    }


def base64_of(name, text):
    data = bytes.fromhex(text)
    if len(data) != ID_BYTES[name] or not any(data):
        raise ValueError(f"{name} {text} is not an id")
    return base64.b64encode(data).decode()


def is_number(value):
    return value.WhichOneof("value") in ("int_value", "double_value")


def number_of(value):
    return getattr(value, value.WhichOneof("value"))


def validate(text):
    try:
        request = json_format.ParseDict(with_base64_ids(json.loads(text)), ExportTraceServiceRequest())
        # Whatever a strict reader takes can also be written as bytes: invalid text cannot.
        decoded = ExportTraceServiceRequest.FromString(request.SerializeToString())
    except (ValueError, json_format.ParseError) as error:
        return {"problem": str(error)}
    spans = [
        {
            "traceId": span.trace_id.hex(),
            "spanId": span.span_id.hex(),
            "startedAt": span.start_time_unix_nano,
            "endedAt": span.end_time_unix_nano,
            "attributes": len(span.attributes),
            "numbers": {item.key: number_of(item.value) for item in span.attributes if is_number(item.value)},
        }
        for resource_spans in decoded.resource_spans
        for scope_spans in resource_spans.scope_spans
        for span in scope_spans.spans
    ]
    return {"spans": spans}


json.dump([validate(text) for text in json.load(sys.stdin)], sys.stdout)
