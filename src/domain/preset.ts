// Presets: settings of model calls that a workspace keeps under a name (docs/contract.md#presets). Calls use the designated
// version; versions never change.
import { boundedText } from './text/bounded-text.js';
import { AppError } from './errors.js';

export const PRESET_STATUSES = ['active', 'disabled', 'archived'] as const;
export type PresetStatus = (typeof PRESET_STATUSES)[number];

/** Archived presets count until a new one needs their place. */
export const MAX_PRESETS_PER_WORKSPACE = 100;
export const MAX_VERSIONS_PER_PRESET = 100;
/** Of the body that makes a version. */
export const MAX_PRESET_BYTES = 65_536;
export const PRESET_SLUG = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
/** Before the slug in the member that names a model, alone or after the name of one. */
export const PRESET_MARK = '@preset/';

/** The settings of one version. */
export interface PresetSettings {
  /** A JSON object in the form of a chat completion, without messages. */
  readonly config: string;
  /** Null: none. */
  readonly systemPrompt: string | null;
}

export interface PresetVersion extends PresetSettings {
  readonly id: string;
  readonly presetId: string;
  readonly version: number;
  /** The hash of the key, or the id of the person, that made it. */
  readonly creatorId: string;
  readonly createdAt: Date;
}

export interface Preset {
  readonly id: string;
  readonly workspaceId: string;
  readonly slug: string;
  readonly status: PresetStatus;
  readonly statusUpdatedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The version that calls use, and its id. */
  readonly designatedVersion: number;
  readonly designatedVersionId: string;
  readonly latestVersion: number;
  /** The first model of that version; null: calls must name one. */
  readonly model: string | null;
}

export interface DetailedPreset {
  readonly preset: Preset;
  readonly designated: PresetVersion;
}

/** The version of a preset that a call uses. */
export interface AppliedPreset {
  readonly id: string;
  readonly slug: string;
  readonly version: number;
}

/** Of a version, wherever it is: two versions never share one. */
export function nameOfVersion({ id, version }: AppliedPreset): string {
  return `${id}:${version}`;
}

export function noSuchPreset(slug: string): AppError {
  return new AppError('not_found', {
    detail: `there is no preset ${boundedText(slug, 100)} in this workspace`,
  });
}
