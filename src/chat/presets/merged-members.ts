// The body of a call with the members of its preset. Members of the caller keep their bytes, and win one by one; the system prompt
// of the preset comes before their words.
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { AppError } from '../../domain/errors.js';
import { isArray, isGiven } from '../../domain/members.js';
import { PRESET_MARK } from '../../domain/preset.js';
import type { AppliedPreset } from '../../domain/preset.js';
import { readRawMembers } from '../request/raw-members.js';
import { memberOf } from './member-text.js';
import type { Member } from './member-text.js';
import type { PresetForm } from './preset-form.js';

export interface SentBody {
  readonly wire: ModelWire;
  readonly body: Readonly<Record<string, unknown>>;
  /** Those of `body`. */
  readonly bytes: Buffer;
}

export interface MergedPreset extends Pick<AppliedPreset, 'slug'> {
  readonly systemPrompt: string | null;
  readonly form: PresetForm;
  /** The model that the caller names beside the preset, in the same member; null: none. */
  readonly model: string | null;
}

/** Throws `invalid_request` where neither names a model. */
export function mergedMembers(preset: MergedPreset, { wire, body, bytes }: SentBody): Map<string, Member> {
  const members = new Map<string, Member>();
  for (const [name, text] of readRawMembers(bytes)) members.set(name, { bytes: text, value: body[name] });
  members.delete('preset');
  if (preset.model !== null) members.set('model', memberOf(preset.model));
  else if (isPresetName(body['model'])) members.delete('model');
  const isSent = (name: string): boolean => isGiven(members.get(name)?.value);
  const added = [...preset.form.members].filter(([, { rivals }]) => !rivals.some(isSent));
  for (const [name, member] of added) members.set(name, member);
  if (!isSent('model')) nameFirst(members, preset, wire);
  if (preset.systemPrompt !== null) addSystemPrompt(wire, members, preset.systemPrompt);
  return members;
}

function isPresetName(model: unknown): boolean {
  return typeof model === 'string' && model.startsWith(PRESET_MARK);
}

/** The Messages wire needs a model beside the list. */
function nameFirst(members: Map<string, Member>, { slug }: MergedPreset, wire: ModelWire): void {
  const models = members.get('models')?.value;
  const [first] = isArray(models) ? models : [];
  if (first === undefined)
    throw new AppError('invalid_request', {
      member: 'model',
      detail: `the preset ${slug} has no model; name one beside it`,
    });
  if (wire === 'messages') members.set('model', memberOf(first));
}

/** Members in a form that the reader of the wire refuses stay as they are. */
function addSystemPrompt(wire: ModelWire, members: Map<string, Member>, prompt: string): void {
  if (wire === 'chat') addFirst(members, 'messages', { role: 'system', content: prompt });
  else if (wire === 'messages') addSystemBlock(members, prompt);
  else addInstructions(members, prompt);
}

function addSystemBlock(members: Map<string, Member>, text: string): void {
  const { value, bytes } = members.get('system') ?? {};
  if (!isGiven(value) || value === '') members.set('system', memberOf(text));
  else if (typeof value === 'string' && bytes) {
    const own = { type: 'text', text: value };
    members.set('system', { value: [own], bytes: wrapped('[{"type":"text","text":', bytes, '}]') });
  }
  addFirst(members, 'system', { type: 'text', text });
}

function addInstructions(members: Map<string, Member>, prompt: string): void {
  const { value, bytes } = members.get('instructions') ?? {};
  if (!isGiven(value) || value === '') members.set('instructions', memberOf(prompt));
  else if (typeof value === 'string' && bytes)
    members.set('instructions', {
      value: `${prompt}\n\n${value}`,
      bytes: wrapped(JSON.stringify(`${prompt}\n\n`).slice(0, -1), bytes.subarray(1), ''),
    });
}

/** To a list that is not empty. */
function addFirst(members: Map<string, Member>, name: string, element: object): void {
  const { value, bytes } = members.get(name) ?? {};
  if (!isArray(value) || value.length === 0 || !bytes) return;
  members.set(name, {
    value: [element, ...value],
    bytes: wrapped(`[${JSON.stringify(element)},`, bytes.subarray(1), ''),
  });
}

function wrapped(before: string, bytes: Buffer, after: string): Buffer {
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
}
