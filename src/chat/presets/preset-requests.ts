// Reads calls that name a preset: its members become part of the request, once, before any check (docs/contract.md#presets).
import { Injectable } from '@nestjs/common';
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { rejectMember } from '../../domain/errors.js';
import { isGiven } from '../../domain/members.js';
import { noSuchPreset, PRESET_MARK, PRESET_SLUG } from '../../domain/preset.js';
import type { AppliedPreset } from '../../domain/preset.js';
import { Notifications } from '../../persistence/database/notifications.js';
import { NotifiedCache } from '../../persistence/database/notified-cache.js';
import { PresetsRepository } from '../../persistence/presets/presets.repository.js';
import { readResponseFormat } from '../dto/chat-tools.js';
import { isResponsesBody } from '../request/request-form.js';
import { readRawMembers } from '../request/raw-members.js';
import type { ReadChat } from '../request/read-chat-request.js';
import { joinMembers } from './member-text.js';
import { mergedMembers } from './merged-members.js';
import type { SentBody } from './merged-members.js';
import { presetForm } from './preset-form.js';
import type { PresetForm } from './preset-form.js';

type Body = SentBody['body'];
/** A reader of one wire. `beside`: members of the preset that the wire does not have. */
type Read = (body: Body, bytes: Buffer, beside?: Body) => ReadChat | Promise<ReadChat>;

interface CachedPreset extends AppliedPreset {
  readonly isActive: boolean;
  readonly systemPrompt: string | null;
  readonly config: ReadonlyMap<string, Buffer>;
  /** By wire, as calls of it have come. */
  readonly forms: Map<ModelWire, PresetForm>;
}

interface NamedPreset {
  readonly slug: string;
  /** The model that is named before it; null: none. */
  readonly model: string | null;
}

/** The payload is the key of the cache. */
const CHANNEL = 'preset_changed';
// Each has at most 64 KiB, in up to three wires beside.
const MAX_CACHED = 500;

@Injectable()
export class PresetRequests {
  /** By workspace and slug. */
  private readonly presets: NotifiedCache<CachedPreset>;

  constructor(repository: PresetsRepository, notifications: Notifications) {
    this.presets = new NotifiedCache<CachedPreset>(
      notifications,
      { channel: CHANNEL, max: MAX_CACHED },
      async (key) => {
        const [workspaceId = '', slug = ''] = key.split(' ');
        const preset = await repository.findDesignated(workspaceId, slug);
        if (!preset) return null;
        const { id, version, systemPrompt, status } = preset;
        const config = readRawMembers(Buffer.from(preset.config));
        return { id, slug, version, systemPrompt, config, isActive: status === 'active', forms: new Map() };
      },
    );
  }

  /** Waits for nothing where the body names no preset, and for no statement where it is cached. Throws `not_found`. */
  read(workspaceId: string, sent: SentBody, read: Read): ReadChat | Promise<ReadChat> {
    const named = presetIn(sent.body);
    return named === null ? read(sent.body, sent.bytes) : this.readWith(workspaceId, named, sent, read);
  }

  private async readWith(
    workspaceId: string,
    { slug, model }: NamedPreset,
    { wire: client, ...sent }: SentBody,
    read: Read,
  ): Promise<ReadChat> {
    const preset = PRESET_SLUG.test(slug) ? await this.presets.find(`${workspaceId} ${slug}`) : null;
    if (!preset?.isActive) throw noSuchPreset(slug);
    const wire = client === 'chat' && isResponsesBody(sent.body) ? 'responses' : client;
    const form = formOf(preset, wire);
    const { id, version, systemPrompt } = preset;
    const members = mergedMembers({ slug, model, systemPrompt, form }, { wire, ...sent });
    const body = Object.fromEntries([...members].map(([name, { value }]) => [name, value]));
    const beside = Object.fromEntries(
      [...form.kernel].map(([name, value]) => [name, JSON.parse(value.toString()) as unknown]),
    );
    const { request, preferences } = await read(body, joinMembers(members), beside);
    for (const [name, value] of form.kernel) if (!request.members.has(name)) request.members.set(name, value);
    const format = request.responseFormat === 'text' ? form.kernel.get('response_format') : undefined;
    const applied = {
      ...request,
      ...(format && readResponseFormat(JSON.parse(format.toString()))),
      preset: { id, slug, version },
    };
    return { request: applied, preferences };
  }
}

/** Null: the body names none. */
function presetIn({ preset, model }: Body): NamedPreset | null {
  const name = typeof model === 'string' ? model : '';
  const at = name.indexOf(PRESET_MARK);
  if (at === -1 && !isGiven(preset)) return null;
  if (isGiven(preset) && typeof preset !== 'string')
    return rejectMember('preset', 'must be the slug of a preset');
  if (at === -1) return { slug: preset ?? '', model: null };
  const slug = name.slice(at + PRESET_MARK.length);
  if (isGiven(preset) && preset !== slug)
    return rejectMember('preset', 'differs from the preset in model; name one');
  return { slug, model: at === 0 ? null : name.slice(0, at) };
}

function formOf(preset: CachedPreset, wire: ModelWire): PresetForm {
  const known = preset.forms.get(wire) ?? presetForm(wire, preset.config);
  preset.forms.set(wire, known);
  return known;
}
