// A form of payloads that people read line by line, and the way back to every byte:
//   {"$json": …}    text that is JSON
//   {"$lines": […]} text of several lines
//   "$attributes"   a list of `{"key": …, "value": …}` as one object
import { isList, isObject, mapMembers } from './json.js';
import type { Json, JsonObject } from './json.js';

const SHORT_TEXT = 100;

export function toReadable(value: Json): Json {
  if (typeof value === 'string') return value.length <= SHORT_TEXT ? value : readableText(value);
  if (!isObject(value)) return mapMembers(value, toReadable);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const attributes = name === 'attributes' ? keyedAttributes(member) : null;
      return attributes === null ? [name, toReadable(member)] : ['$attributes', toReadable(attributes)];
    }),
  );
}

export function fromReadable(value: Json): Json {
  if (!isObject(value)) return mapMembers(value, fromReadable);
  const { $json, $lines } = value;
  if ($json !== undefined) return JSON.stringify(fromReadable($json));
  if (isList($lines)) return $lines.map((line) => textOf(fromReadable(line))).join('\n');
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (name !== '$attributes' || !isObject(member)) return [name, fromReadable(member)];
      return ['attributes', Object.entries(member).map(([key, of]) => ({ key, value: fromReadable(of) }))];
    }),
  );
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

function readableText(text: string): Json {
  const json = losslessJson(text);
  if (json !== null) return { $json: toReadable(json) };
  return text.includes('\n') ? { $lines: text.split('\n').map(toReadable) } : text;
}

/** The object or list of a JSON text whose every byte can be restored from it. */
function losslessJson(text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' && JSON.stringify(value) === text ? value : null;
  } catch {
    return null;
  }
}

function keyedAttributes(list: Json): JsonObject | null {
  if (!isList(list)) return null;
  const keyed = Object.fromEntries(
    list
      .filter(isObject)
      .flatMap(({ key, value = null }) => (typeof key === 'string' ? [[key, value] as const] : [])),
  );
  const isLossless =
    JSON.stringify(fromReadable({ $attributes: keyed })) === JSON.stringify({ attributes: list });
  return isLossless ? keyed : null;
}
