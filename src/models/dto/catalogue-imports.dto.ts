// Imports of the catalogue. Contract: docs/contract.md#catalogue.
import { KINDS } from '../../catalogue/reader/kinds.js';
import { IMPORT_STATES, PROPOSAL_GROUPS } from '../../domain/catalogue-import.js';
import type { CatalogueImport, Proposal } from '../../domain/catalogue-import.js';
import { FreeObjectField, ListField, ObjectListField } from '../../http/fields/compound-fields.js';
import { EnumField, FlagField, IntegerField, TextField, TimeField } from '../../http/fields/scalar-fields.js';
import type { ImportSummary } from '../../persistence/catalogue/catalogue-imports.repository.js';

const MAX_LISTS = 20;
const MAX_ENTRIES = 500;
const USD = 'USD for a million tokens, as decimal text';

export class CreateCatalogueImportDto {
  @ListField(String, {
    minItems: 1,
    hiddenMaxItems: MAX_LISTS,
    description: 'The names of the lists, with the day of their copies.',
    example: ['models.dev, read 2026-11-29', 'genai-prices, read 2026-11-29'],
  })
  lists: string[];

  @ListField(Object, {
    description: 'As `npm run catalogue:update -- --post` writes them: members as in the answer.',
    example: [],
  })
  proposals: object[];
}

class TakenProposalDto {
  @IntegerField({ minimum: 0, description: '`number` of the proposal.' }) number: number;
  @TextField({ optional: true, description: 'The list whose prices hold, where lists state different ones.' })
  list?: string;
  @TextField({
    optional: true,
    hiddenMaxLength: 2_000,
    description: 'The `summary` of a held proposal, typed by a person.',
  })
  confirmation?: string;
}

export class ApplyCatalogueImportDto {
  @ObjectListField(TakenProposalDto, {
    minItems: 1,
    hiddenMaxItems: MAX_ENTRIES,
    description: 'A proposal with a hold that wants a confirmation is applied alone.',
    example: [{ number: 0 }],
  })
  entries: TakenProposalDto[];
}

class ImportSummaryDto {
  @TextField() id: string;
  @ListField(String) lists: readonly string[];
  @EnumField(IMPORT_STATES, {
    description: '`applied`: at least one proposal is. The others can be applied as well.',
  })
  state: string;
  @TextField({ description: 'The label of the key.' }) actor: string;
  @TimeField() created_at: string;
  @IntegerField() proposal_count: number;
  @IntegerField() applied_count: number;
}

class ListedPriceDto {
  @TextField({ example: 'models.dev' }) list: string;
  @TextField({ description: USD, example: '2.5' }) value: string;
}

class ProposedPriceDto {
  @TextField({ example: 'prompt' }) member: string;
  @TextField({ nullable: true, description: `The price in force, ${USD}; null: none.` }) own: string | null;
  @ObjectListField(ListedPriceDto) values: ListedPriceDto[];
}

class ProposalHoldDto {
  @TextField() reason: string;
  @FlagField({ description: 'Whether a person types the `summary` to apply it.' }) is_typed: boolean;
}

class ProposalChoiceDto {
  @ListField(String, { description: 'The lists that state it.' }) lists: readonly string[];
  @FreeObjectField({ description: 'In the format of docs/catalogue.example.yaml, as JSON.' }) model: object;
  @TextField({ nullable: true, description: 'Why it cannot be applied; null: it can.' })
  problem: string | null;
}

class ProposalDto {
  @IntegerField() number: number;
  @EnumField(PROPOSAL_GROUPS) group: string;
  @EnumField(KINDS) kind: string;
  @TextField({ example: 'acme/chat-1' }) id: string;
  @TextField({ example: 'openai' }) provider: string;
  @TextField({ example: 'chat-1' }) upstream_model: string;
  @ObjectListField(ProposedPriceDto) prices: ProposedPriceDto[];
  @ObjectListField(ProposalHoldDto, { description: 'Reasons to look twice.' }) holds: ProposalHoldDto[];
  @TextField() summary: string;
  @ObjectListField(ProposalChoiceDto, { description: 'Empty: it is for a row of your own.' })
  choices: ProposalChoiceDto[];
  @IntegerField({ nullable: true, description: 'The revision that it has become; null: it is not applied.' })
  applied_version: number | null;
}

export class CatalogueImportDto extends ImportSummaryDto {
  @ObjectListField(ProposalDto) proposals: ProposalDto[];
}

export class CatalogueImportSummaryDto extends ImportSummaryDto {}

export function toImportSummaryDto(found: Omit<ImportSummary, 'proposals'>): CatalogueImportSummaryDto {
  return {
    id: found.id,
    lists: found.lists,
    state: found.state,
    actor: found.actor,
    created_at: found.createdAt.toISOString(),
    proposal_count: found.proposalCount,
    applied_count: Object.keys(found.applied).length,
  };
}

export function toCatalogueImportDto(found: CatalogueImport): CatalogueImportDto {
  return {
    ...toImportSummaryDto({ ...found, proposalCount: found.proposals.length }),
    proposals: found.proposals.map((proposal) => toProposalDto(proposal, found.applied[proposal.number])),
  };
}

function toProposalDto(proposal: Proposal, version: number | undefined): ProposalDto {
  return {
    number: proposal.number,
    group: proposal.group,
    kind: proposal.kind,
    id: proposal.id,
    provider: proposal.provider,
    upstream_model: proposal.upstreamModel,
    prices: proposal.prices.map(({ member, own, values }) => ({ member, own, values: [...values] })),
    holds: proposal.holds.map(({ reason, isTyped }) => ({ reason, is_typed: isTyped })),
    summary: proposal.summary,
    choices: proposal.choices.map(({ lists, document, problem }) => ({ lists, model: document, problem })),
    applied_version: version ?? null,
  };
}
