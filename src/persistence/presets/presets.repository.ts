// Presets and their versions.
import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { uuidV7 } from '../../domain/identifiers.js';
import type { Page, PageRequest } from '../../domain/page.js';
import { MAX_PRESETS_PER_WORKSPACE, MAX_VERSIONS_PER_PRESET } from '../../domain/preset.js';
import type {
  AppliedPreset,
  DetailedPreset,
  Preset,
  PresetSettings,
  PresetStatus,
  PresetVersion,
} from '../../domain/preset.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import { noSuchWorkspace } from '../database/database-errors.js';
import { lockRow } from '../database/rows/row-lock.js';
import type { PresetVersionModel } from '../generated/models.js';
import { FIND_DESIGNATED, FIND_RECORD, LIST_RECORDS } from './preset-statements.js';

/** A preset as calls use it. */
export interface DesignatedPreset extends AppliedPreset, PresetSettings {
  readonly status: PresetStatus;
}

export interface PresetOwner {
  readonly accountId: string;
  readonly workspaceId: string;
}

export interface NewPresetVersion extends PresetSettings {
  readonly slug: string;
  /** The hash of the key that makes it. */
  readonly creatorId: string;
}

export interface PresetChange {
  readonly status?: PresetStatus | undefined;
  readonly designatedVersion?: number | undefined;
}

type Describe = DescribeChange<DetailedPreset>;

@Injectable()
export class PresetsRepository {
  constructor(
    private readonly database: Database,
    private readonly auditLog: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** Also where it is disabled or archived. Null: the workspace has none of this name. */
  async findDesignated(workspaceId: string, slug: string): Promise<DesignatedPreset | null> {
    const [preset = null] = await this.database.query<DesignatedPreset & Record<string, unknown>>({
      name: 'find-preset',
      text: FIND_DESIGNATED,
      values: [workspaceId, slug],
    });
    return preset;
  }

  async find({ accountId, workspaceId }: PresetOwner, slug: string): Promise<Preset | null> {
    const [preset = null] = await this.database.query<Preset & Record<string, unknown>>({
      text: FIND_RECORD,
      values: [workspaceId, accountId, slug],
    });
    return preset;
  }

  /** The last changed first. */
  async list({ accountId, workspaceId }: PresetOwner, { offset, limit }: PageRequest): Promise<Page<Preset>> {
    const [items, total] = await Promise.all([
      this.database.query<Preset & Record<string, unknown>>({
        text: LIST_RECORDS,
        values: [workspaceId, accountId, offset, limit],
      }),
      this.database.prisma.preset.count({ where: { accountId, workspaceId } }),
    ]);
    return { items, total };
  }

  /** The oldest first. */
  async listVersions(
    { id, latestVersion }: Preset,
    { offset, limit }: PageRequest,
  ): Promise<Page<PresetVersion>> {
    const rows = await this.database.prisma.presetVersion.findMany({
      where: { presetId: id },
      orderBy: { version: 'asc' },
      skip: offset,
      take: limit,
    });
    return { items: rows.map(toVersion), total: latestVersion };
  }

  async findVersion({ id }: Pick<Preset, 'id'>, version: number): Promise<PresetVersion | null> {
    const row = await this.database.prisma.presetVersion.findUnique({
      where: { presetId_version: { presetId: id, version } },
    });
    return row && toVersion(row);
  }

  /**
   * Adds a version to the preset of the name and designates it; without one, or with an archived one, which it replaces, it
   * is the first version of a new preset. Throws `limit_reached`, or `invalid_request` when there is no such workspace.
   */
  async addVersion(
    owner: PresetOwner,
    { slug, creatorId, config, systemPrompt }: NewPresetVersion,
    describe: Describe,
  ): Promise<DetailedPreset> {
    const { accountId, workspaceId } = owner;
    const now = this.clock.now();
    return this.database.transact(async (transaction) => {
      await lockWorkspace(transaction, owner);
      const found = await findDetailed(transaction, owner, slug);
      const before = found?.preset.status === 'archived' ? null : found;
      const version = (before?.preset.latestVersion ?? 0) + 1;
      if (version > MAX_VERSIONS_PER_PRESET) throw tooManyVersions(slug);
      const numbers = { designatedVersion: version, latestVersion: version, updatedAt: now };
      let id = before?.preset.id;
      if (id === undefined) {
        if (found) await transaction.preset.delete({ where: { id: found.preset.id } });
        await makeRoom(transaction, owner);
        id = uuidV7(now);
        await transaction.preset.create({
          data: { ...numbers, id, slug, accountId, workspaceId, createdAt: now },
        });
      } else await transaction.preset.update({ where: { id }, data: numbers });
      await transaction.presetVersion.create({
        data: { id: uuidV7(now), presetId: id, version, config, systemPrompt, creatorId, createdAt: now },
      });
      return this.recorded(transaction, owner, slug, describe, before);
    }, accountId);
  }

  /** Null: there is no such preset. Throws `invalid_request` for a version that it does not have. */
  async change(
    owner: PresetOwner,
    slug: string,
    { status, designatedVersion }: PresetChange,
    describe: Describe,
  ): Promise<DetailedPreset | null> {
    const now = this.clock.now();
    return this.database.transact(async (transaction) => {
      await lockWorkspace(transaction, owner);
      const before = await findDetailed(transaction, owner, slug);
      if (!before) return null;
      const { id, latestVersion, status: old, designatedVersion: oldVersion } = before.preset;
      if (designatedVersion !== undefined && designatedVersion > latestVersion)
        throw new AppError('invalid_request', {
          member: 'designated_version',
          detail: `the preset has versions 1 to ${latestVersion}`,
        });
      const isOther = status !== undefined && status !== old;
      if (!isOther && (designatedVersion ?? oldVersion) === oldVersion) return before;
      await transaction.preset.update({
        where: { id },
        data: {
          ...(isOther && { status, statusUpdatedAt: now }),
          ...(designatedVersion !== undefined && { designatedVersion }),
          updatedAt: now,
        },
      });
      return this.recorded(transaction, owner, slug, describe, before);
    }, owner.accountId);
  }

  private async recorded(
    transaction: Transaction,
    owner: PresetOwner,
    slug: string,
    describe: Describe,
    before: DetailedPreset | null,
  ): Promise<DetailedPreset> {
    const after = await findDetailed(transaction, owner, slug);
    if (!after) throw new AppError('internal');
    await this.auditLog.record(describe(before, after), transaction);
    return after;
  }
}

/** Changes of one workspace wait here, so that versions have no gaps and quotas are exact. */
async function lockWorkspace(
  transaction: Transaction,
  { accountId, workspaceId: id }: PresetOwner,
): Promise<void> {
  if (!(await lockRow(transaction, 'workspaces', { accountId, id }))) throw noSuchWorkspace();
}

async function findDetailed(
  transaction: Transaction,
  { accountId, workspaceId }: PresetOwner,
  slug: string,
): Promise<DetailedPreset | null> {
  const [preset] = await transaction.$queryRawUnsafe<Preset[]>(FIND_RECORD, workspaceId, accountId, slug);
  if (!preset) return null;
  const { id: presetId, designatedVersion: version } = preset;
  const row = await transaction.presetVersion.findUniqueOrThrow({
    where: { presetId_version: { presetId, version } },
  });
  return { preset, designated: toVersion(row) };
}

/** The preset that was archived first gives its place to a new one. */
async function makeRoom(transaction: Transaction, { workspaceId }: PresetOwner): Promise<void> {
  if ((await transaction.preset.count({ where: { workspaceId } })) < MAX_PRESETS_PER_WORKSPACE) return;
  const oldest = await transaction.preset.findFirst({
    select: { id: true },
    where: { workspaceId, status: 'archived' },
    orderBy: [{ statusUpdatedAt: 'asc' }, { id: 'asc' }],
  });
  if (oldest) await transaction.preset.delete({ where: oldest });
  else
    throw new AppError('limit_reached', {
      detail: `the workspace has ${MAX_PRESETS_PER_WORKSPACE} presets, which is the limit; delete one of them first`,
    });
}

function tooManyVersions(slug: string): AppError {
  return new AppError('limit_reached', {
    detail:
      `the preset ${slug} has ${MAX_VERSIONS_PER_PRESET} versions, which is the limit; delete it, and create it again or ` +
      'under another slug',
  });
}

function toVersion({ presetId, version, id, ...row }: PresetVersionModel): PresetVersion {
  return {
    id,
    presetId,
    version,
    config: row.config,
    systemPrompt: row.systemPrompt,
    creatorId: row.creatorId,
    createdAt: row.createdAt,
  };
}
