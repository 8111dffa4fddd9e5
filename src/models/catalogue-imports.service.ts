// Imports of the catalogue: prices of maintained lists, which hold when a person applies them.
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { CatalogueError } from '../catalogue/reader/cursor.js';
import type { Kind } from '../catalogue/reader/kinds.js';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import type { CatalogueImport, Proposal, ProposalChoice } from '../domain/catalogue-import.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import type { Manager } from '../domain/people/manager.js';
import { utcDay } from '../domain/spend/spend.js';
import { CatalogueImportsRepository } from '../persistence/catalogue/catalogue-imports.repository.js';
import type { ImportSummary } from '../persistence/catalogue/catalogue-imports.repository.js';
import type { CatalogueDocument } from '../persistence/catalogue/catalogue-revisions.repository.js';
import { mergeLayers } from '../routing/catalogue-layers.js';
import { DiscoveredNames } from '../routing/discovered-names.js';
import { StoredCatalogue } from '../routing/stored-catalogue.js';
import { CatalogueChanges } from './catalogue-changes.js';
import type { LayerChange } from './catalogue-changes.js';
import { CatalogueEntries } from './catalogue-entries.js';
import type { CatalogueEntry } from './catalogue-entries.js';
import { choiceProblem, isCurrent, readProposals } from './import-proposals.js';

const MAX_PROPOSALS = 2_000;
// Characters of JSON.
const MAX_SIZE = 4 * 2 ** 20;

/** The entries of its models say which prices they have become. */
const AUDITED: AuditedType<ImportSummary> = {
  objectType: 'catalogue_import',
  objectId: ({ id }) => id,
  workspaceId: () => null,
  state: ({ lists, state, proposalCount, applied }) => ({
    lists,
    state,
    proposals: proposalCount,
    applied,
  }),
};

/** A proposal that a person takes. */
export interface TakenProposal {
  readonly number: number;
  /** Whose prices; absent: all lists state the same ones. */
  readonly list?: string | undefined;
  /** The summary of the proposal, typed by the person where a hold wants it. */
  readonly confirmation?: string | undefined;
}

interface TakenChoice {
  readonly proposal: Proposal;
  readonly choice: ProposalChoice;
}

@Injectable()
export class CatalogueImportsService {
  constructor(
    private readonly changes: CatalogueChanges,
    private readonly entries: CatalogueEntries,
    private readonly stored: StoredCatalogue,
    private readonly imports: CatalogueImportsRepository,
    private readonly names: DiscoveredNames,
    private readonly clock: Clock,
  ) {}

  /** Compares nothing itself: it says which proposals cannot be applied, and why. */
  async create(actor: Actor, lists: readonly string[], content: unknown): Promise<CatalogueImport> {
    this.changes.requireOperator(actor);
    const text = JSON.stringify([lists, content]);
    if (text.length > MAX_SIZE)
      throw new AppError('payload_too_large', { detail: `proposals: the limit is ${MAX_SIZE} characters` });
    const proposals = read(content);
    if (proposals.length > MAX_PROPOSALS)
      throw new AppError('invalid_request', { detail: `proposals: must be at most ${MAX_PROPOSALS}` });
    const checked = await this.withProblems(proposals);
    const hash = createHash('sha256').update(text).digest('hex');
    const added = { lists, proposals: checked, actor };
    const id = await this.imports.add(added, hash, describeChange(actor, AUDITED));
    if (id === null) throw new AppError('conflict', { detail: 'an import has these proposals already' });
    return this.find(id);
  }

  async list(manager: Manager): Promise<readonly ImportSummary[]> {
    this.changes.requireOperator(manager);
    return this.imports.list();
  }

  async get(manager: Manager, id: string): Promise<CatalogueImport> {
    this.changes.requireOperator(manager);
    return this.find(id);
  }

  async discard(actor: Actor, id: string): Promise<void> {
    this.changes.requireOperator(actor);
    const describe = describeChange(actor, AUDITED);
    if (!isUUID(id) || !(await this.imports.discard(id, { actor }, describe))) throw noSuchImport();
  }

  /** All of them or none: each model is one revision of the imported layer. */
  async apply(actor: Actor, id: string, taken: readonly TakenProposal[]): Promise<CatalogueImport> {
    this.changes.requireOperator(actor);
    const found = await this.find(id);
    const choices = taken.map((one) => choiceOf(found, one, taken.length));
    const byModel = new Map<string, TakenChoice[]>();
    for (const one of choices) {
      const key = `${one.proposal.kind} ${one.proposal.id}`;
      byModel.set(key, [...(byModel.get(key) ?? []), one]);
    }
    const models = [...byModel.values()];
    await this.changes.append(actor, models.flatMap(toChange), {
      reason: `import ${id}: ${found.lists.join(', ')}`,
      onProblem: 'conflict',
      verify: () => this.verify(choices),
      within: async (transaction, first) => {
        const versions = models.flatMap((ones, index) =>
          ones.map(({ proposal }) => [String(proposal.number), first + index] as const),
        );
        const applied = Object.fromEntries(versions);
        if (!(await this.imports.markApplied(id, applied, describeChange(actor, AUDITED), transaction)))
          throw new AppError('conflict', {
            detail: 'the import is discarded, or one of the proposals is applied',
          });
      },
    });
    return this.find(id);
  }

  /** An operator's own change since the comparison is stronger than it. */
  private async verify(choices: readonly TakenChoice[]): Promise<void> {
    const entries = await this.entriesOf(choices.map(({ proposal }) => proposal));
    const day = utcDay(this.clock.now());
    for (const [index, { proposal, choice }] of choices.entries()) {
      const entry = entries[index];
      const problem = entry ? choiceProblem(proposal, choice, entry) : null;
      if (problem !== null) throw unfit(proposal, problem);
      if (entry && !isCurrent(proposal, entry, day))
        throw unfit(proposal, 'its prices have changed since the comparison; import the lists again');
    }
  }

  private async withProblems(proposals: readonly Proposal[]): Promise<Proposal[]> {
    const entries = await this.entriesOf(proposals);
    const checked: Proposal[] = [];
    for (const [index, proposal] of proposals.entries()) {
      const entry = entries[index];
      const choices: ProposalChoice[] = [];
      for (const choice of proposal.choices)
        choices.push({ ...choice, problem: entry ? await this.problemOf(proposal, choice, entry) : null });
      checked.push({ ...proposal, choices, holds: [...proposal.holds, ...this.holdsOf(proposal)] });
    }
    return checked;
  }

  /** A list may have models that the provider refuses. */
  private holdsOf({ group, provider, upstreamModel }: Proposal): Proposal['holds'] {
    const isUnseen =
      group === 'new' && this.names.hasList(provider) && !this.names.find(provider, upstreamModel);
    return isUnseen ? [{ reason: 'not seen at the provider', isTyped: false }] : [];
  }

  private async problemOf(
    proposal: Proposal,
    choice: ProposalChoice,
    entry: CatalogueEntry,
  ): Promise<string | null> {
    const problem = choiceProblem(proposal, choice, entry);
    if (problem !== null) return problem;
    const { kind, id, version } = entry;
    const layer = (name: 'imported' | 'operator'): CatalogueDocument =>
      entry.layers.find((one) => one.name === name)?.document ?? null;
    const documents = {
      imported: documentAfter([choice])(layer('imported')),
      ...(layer('operator') && { operator: layer('operator') }),
    };
    const [tried] = await this.stored.tryEntries([{ kind, id, version, documents }]);
    return tried?.problem ?? null;
  }

  private entriesOf(proposals: readonly Proposal[]): Promise<CatalogueEntry[]> {
    return this.entries.read(proposals.map(({ kind, id }) => ({ kind: kind as Kind, id })));
  }

  private async find(id: string): Promise<CatalogueImport> {
    const found = isUUID(id) ? await this.imports.find(id) : null;
    if (!found) throw noSuchImport();
    return found;
  }
}

function read(content: unknown): Proposal[] {
  try {
    return readProposals(content);
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    throw new AppError('invalid_request', { detail: error.message });
  }
}

/** `count`: of the proposals that are taken together. */
function choiceOf(
  { proposals, applied, state }: CatalogueImport,
  { number, list, confirmation }: TakenProposal,
  count: number,
): TakenChoice {
  if (state === 'discarded') throw new AppError('conflict', { detail: 'the import is discarded' });
  const proposal = proposals[number];
  if (!proposal) throw new AppError('invalid_request', { detail: `entries: there is no proposal ${number}` });
  if (applied[number] !== undefined) throw unfit(proposal, `it is applied, as revision ${applied[number]}`);
  const [only, ...others] = proposal.choices;
  if (!only) throw unfit(proposal, 'it is for a row of your own: change the model itself');
  const choice = list === undefined ? only : proposal.choices.find(({ lists }) => lists.includes(list));
  if (!choice || (list === undefined && others.length > 0))
    throw unfit(
      proposal,
      `name the list whose prices hold: ${proposal.choices.flatMap(({ lists }) => lists).join(', ')}`,
    );
  if (choice.problem !== null) throw unfit(proposal, choice.problem);
  const held = proposal.holds.find(({ isTyped }) => isTyped);
  if (!held) return { proposal, choice };
  if (confirmation?.trim() !== proposal.summary)
    throw unfit(proposal, `${held.reason}; confirm it by its summary: ${proposal.summary}`);
  if (count > 1) throw unfit(proposal, `${held.reason}; apply it alone`);
  return { proposal, choice };
}

function toChange(ones: readonly TakenChoice[]): LayerChange[] {
  return ones.slice(0, 1).map(({ proposal: { kind, id } }) => ({
    kind: kind as Kind,
    id,
    rank: 'imported',
    documentAfter: documentAfter(ones.map(({ choice }) => choice)),
  }));
}

/** Endpoints by their tags; a list of prices replaces the one before. */
function documentAfter(choices: readonly ProposalChoice[]) {
  return (before: CatalogueDocument): CatalogueDocument =>
    mergeLayers(
      [...(before ? [before] : []), ...choices.map(({ document }) => document)].map((document) => ({
        name: 'imported',
        document,
      })),
    ).document;
}

function unfit({ number, provider, upstreamModel }: Proposal, problem: string): AppError {
  return new AppError('conflict', {
    detail: `entries: ${number} (${provider} ${upstreamModel}): ${problem}`,
  });
}

function noSuchImport(): AppError {
  return new AppError('not_found', { detail: 'there is no such import' });
}
