// The operations of presets, beyond the shape of their bodies.
import { Injectable } from '@nestjs/common';
import { describeChange } from '../../domain/audit.js';
import type { Actor, AuditedType } from '../../domain/audit.js';
import { AppError } from '../../domain/errors.js';
import type { Manager } from '../../domain/people/manager.js';
import type { Page, PageRequest } from '../../domain/page.js';
import { noSuchPreset, PRESET_SLUG } from '../../domain/preset.js';
import type { DetailedPreset, Preset, PresetVersion } from '../../domain/preset.js';
import { PresetsRepository } from '../../persistence/presets/presets.repository.js';
import type { PresetChange, PresetOwner } from '../../persistence/presets/presets.repository.js';
import { AccountsRepository } from '../../persistence/workspaces/accounts.repository.js';
import type { SentBody } from './merged-members.js';
import { presetSettings } from './preset-config.js';
import { toDetailedPresetDto } from './preset.dto.js';

const AUDITED_PRESET: AuditedType<DetailedPreset> = {
  objectType: 'preset',
  objectId: ({ preset }) => preset.id,
  workspaceId: ({ preset }) => preset.workspaceId,
  state: toDetailedPresetDto,
};

@Injectable()
export class PresetsService {
  constructor(
    private readonly presets: PresetsRepository,
    private readonly accounts: AccountsRepository,
  ) {}

  async list(manager: Manager, workspace: string | undefined, page: PageRequest): Promise<Page<Preset>> {
    return this.presets.list(await this.ownerOf(manager, workspace), page);
  }

  async get(manager: Manager, workspace: string | undefined, slug: string): Promise<DetailedPreset> {
    const preset = await this.find(manager, workspace, slug);
    return { preset, designated: await this.versionOf(preset, preset.designatedVersion) };
  }

  async listVersions(
    manager: Manager,
    workspace: string | undefined,
    slug: string,
    page: PageRequest,
  ): Promise<Page<PresetVersion>> {
    return this.presets.listVersions(await this.find(manager, workspace, slug), page);
  }

  async getVersion(
    manager: Manager,
    workspace: string | undefined,
    slug: string,
    version: string,
  ): Promise<PresetVersion> {
    const preset = await this.find(manager, workspace, slug);
    return this.versionOf(preset, /^\d{1,6}$/.test(version) ? Number(version) : 0);
  }

  /** Creates the preset, or its next version. */
  async addVersion(
    actor: Actor,
    workspace: string | undefined,
    slug: string,
    { wire, body, bytes }: SentBody,
  ): Promise<DetailedPreset> {
    if (!PRESET_SLUG.test(slug))
      throw new AppError('invalid_request', {
        member: 'slug',
        detail: 'must have 1 to 64 letters, digits, _ and -, and begin with a letter or a digit',
      });
    const settings = presetSettings(wire, body, bytes);
    const version = { ...settings, slug, creatorId: actor.key === null ? actor.person.id : actor.key.hash };
    const owner = await this.ownerOf(actor, workspace);
    return this.presets.addVersion(owner, version, describeChange(actor, AUDITED_PRESET));
  }

  async change(
    actor: Actor,
    workspace: string | undefined,
    slug: string,
    change: PresetChange,
  ): Promise<DetailedPreset> {
    const owner = await this.ownerOf(actor, workspace);
    const changed = await this.presets.change(owner, slug, change, describeChange(actor, AUDITED_PRESET));
    if (!changed) throw noSuchPreset(slug);
    return changed;
  }

  private async find(manager: Manager, workspace: string | undefined, slug: string): Promise<Preset> {
    const preset = await this.presets.find(await this.ownerOf(manager, workspace), slug);
    if (!preset) throw noSuchPreset(slug);
    return preset;
  }

  private async versionOf(preset: Preset, number: number): Promise<PresetVersion> {
    const version = await this.presets.findVersion(preset, number);
    if (version) return version;
    throw new AppError('not_found', {
      detail: `the preset ${preset.slug} has versions 1 to ${preset.latestVersion}`,
    });
  }

  private async ownerOf(manager: Manager, workspace: string | undefined): Promise<PresetOwner> {
    const workspaceId = await this.accounts.chooseWorkspace(manager, workspace);
    return { accountId: manager.accountId, workspaceId };
  }
}
