// Edits of the members of messages, parts and tools. An edit that changes nothing returns the same object, so that the
// caller's own bytes are sent.
import type { ChatEndpoint } from '../../../domain/chat/chat-model.js';
import type { JsonObject, JsonValue } from '../../../domain/chat/chat-request.js';
import { isArray, isObject } from '../../../domain/members.js';

const CACHE_MEMBERS = ['cache_control', 'prompt_cache_breakpoint'];

export class MemberFilter {
  /** Sent in messages, parts and tools where the endpoint lists `cache_control`. */
  readonly cacheMembers: readonly string[];

  constructor(
    private readonly endpoint: ChatEndpoint,
    private readonly edits: Set<string>,
  ) {
    this.cacheMembers = endpoint.supportedParameters.includes('cache_control') ? CACHE_MEMBERS : [];
  }

  /**
   * Drops and records members that are neither known nor allowed for the endpoint as `path.name`. Null members are lost
   * without a record: they mean nothing.
   */
  only(body: JsonObject, known: readonly string[], path: string): JsonObject {
    const dropped = Object.keys(body).filter((name) => !known.includes(name) && !this.isAllowed(path, name));
    if (dropped.length === 0) return body;
    for (const name of dropped) if (body[name] !== null) this.edits.add(`${path}.${name}`);
    return Object.fromEntries(Object.entries(body).filter(([name]) => !dropped.includes(name)));
  }

  private isAllowed(path: string, name: string): boolean {
    return this.endpoint.allowedMembers?.includes(`${path}.${name}`) === true;
  }
}

/** Callers may send empty members as absent (docs/contract.md#chat-request), but many providers refuse them. */
export function withoutEmpty(body: JsonObject): JsonObject {
  const members = Object.entries(body);
  const given = members.filter(([name, value]) => !isEmpty(name, value));
  return given.length === members.length ? body : Object.fromEntries(given);
}

/** The content of an assistant that only calls tools is null, not absent. */
function isEmpty(name: string, value: JsonValue): boolean {
  if (value === null) return name !== 'content';
  return name === 'tool_calls' && isArray(value) && value.length === 0;
}

export function withEditedObject(
  body: JsonObject,
  name: string,
  edit: (value: JsonObject) => JsonObject,
): JsonObject {
  const value = body[name];
  if (!isObject(value)) return body;
  const edited = edit(value);
  return edited === value ? body : { ...body, [name]: edited };
}

/** Elements that are no objects stay. */
export function withEditedList(
  body: JsonObject,
  name: string,
  edit: (value: JsonObject) => JsonObject,
): JsonObject {
  const list = body[name];
  if (!isArray(list)) return body;
  const edited = list.map((item) => (isObject(item) ? edit(item) : item));
  return edited.every((item, index) => item === list[index]) ? body : { ...body, [name]: edited };
}
