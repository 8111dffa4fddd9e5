"""Asks each model through the vendors' Python SDKs, and prints how they understand the answers, a line of JSON each.

Arguments: the origin of the service, a key, and the ids of models. test/clients/python-sdks.all-spec.ts reads the lines.
"""

import json
import sys

from anthropic import Anthropic
from openai import OpenAI

origin, key, *models = sys.argv[1:]
PROMPT = "Look at this. " * 60
SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}}
anthropic = Anthropic(api_key=key, base_url=origin, max_retries=0)
openai = OpenAI(api_key=key, base_url=f"{origin}/api/v1", max_retries=0)


def in_messages(model):
    with anthropic.messages.stream(
        model=model,
        max_tokens=200,
        messages=[{"role": "user", "content": PROMPT}],
        tools=[{"name": "look", "input_schema": SCHEMA}],
    ) as stream:
        message = stream.get_final_message()
    blocks = [block.to_dict() for block in message.content]
    return {
        "thought": "".join(block["thinking"] for block in blocks if block["type"] == "thinking"),
        "text": "".join(block["text"] for block in blocks if block["type"] == "text"),
        "calls": [[block["name"], block["input"]] for block in blocks if block["type"] == "tool_use"],
        "finish": message.stop_reason,
        "made": message.usage.output_tokens,
    }


def in_responses(model):
    with openai.responses.stream(
        model=model,
        max_output_tokens=200,
        input=PROMPT,
        store=False,
        tools=[{"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}],
    ) as stream:
        response = stream.get_final_response()
    items = [item.to_dict() for item in response.output]
    thoughts = [item for item in items if item["type"] == "reasoning"]
    parts = [part for item in thoughts for part in [*item["summary"], *(item.get("content") or [])]]
    return {
        "thought": "".join(part["text"] for part in parts),
        "text": response.output_text,
        "calls": [
            [item["name"], json.loads(item["arguments"])] for item in items if item["type"] == "function_call"
        ],
        "finish": response.status,
        "made": response.usage.output_tokens,
    }


def in_chat(model):
    with openai.chat.completions.stream(
        model=model,
        max_tokens=200,
        messages=[{"role": "user", "content": PROMPT}],
        tools=[{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}],
        stream_options={"include_usage": True},
    ) as stream:
        completion = stream.get_final_completion()
    choice = completion.choices[0]
    calls = [call.function for call in choice.message.tool_calls or []]
    return {
        "thought": (choice.message.model_extra or {}).get("reasoning", ""),
        "text": choice.message.content,
        "calls": [[call.name, json.loads(call.arguments)] for call in calls],
        "finish": choice.finish_reason,
        "made": completion.usage.completion_tokens,
    }


for name, ask in {"chat": in_chat, "messages": in_messages, "responses": in_responses}.items():
    for model in models:
        try:
            answer = ask(model)
        except Exception as error:  # The line says what the SDK does not understand.
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({"client": name, "model": model, **answer}))
