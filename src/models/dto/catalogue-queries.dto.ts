// The queries and bodies of the /catalogue operations. Contract: docs/contract.md#catalogue.
import { KINDS } from '../../catalogue/reader/kinds.js';
import type { Kind } from '../../catalogue/reader/kinds.js';
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { FreeObjectField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  IntegerField,
  LimitField,
  QueryFlagField,
  TextField,
} from '../../http/fields/scalar-fields.js';
import { LAYER_NAMES } from '../../routing/catalogue-layers.js';
import type { LayerName } from '../../routing/catalogue-layers.js';

const MAX_LENGTH = 300;
/** Ids of one filter. */
export const MAX_IDS = 100;
const MAX_VERSION = Number.MAX_SAFE_INTEGER;

const KindField = (description: string): PropertyDecorator =>
  EnumField(KINDS, { optional: true, description });

const ReasonField = (): PropertyDecorator =>
  TextField({
    optional: true,
    nullable: true,
    maxLength: 500,
    example: "New price of the provider's page",
    description: 'Why, for the history.',
  });

export class CatalogueQueryDto extends PageQueryDto {
  @KindField('Only this list: `models` are embedding models.')
  kind?: Kind;

  @EnumField(LAYER_NAMES, { optional: true, description: 'Only models that this layer defines or changes.' })
  source?: LayerName;

  @TextField({ optional: true, maxLength: MAX_LENGTH, description: 'A part of an id or of the name.' })
  q?: string;

  @TextField({
    optional: true,
    maxLength: MAX_IDS * (MAX_LENGTH + 1),
    example: 'openai/gpt-4o,acme/chat-1',
    description: `Only the models with these ids, joined by commas, at most ${MAX_IDS}. Unknown ones are left out.`,
  })
  ids?: string;

  @QueryFlagField({ optional: true, description: 'Only disabled models, or only the others.' })
  disabled?: boolean;

  @TextField({
    optional: true,
    maxLength: MAX_LENGTH,
    description: 'Only models with an endpoint at this provider: its slug, name or alias.',
  })
  provider?: string;

  @QueryFlagField({
    optional: true,
    description:
      'true: only models with a provider that the operator has configured, and moving aliases for one.',
  })
  configured?: boolean;
}

export class ChangeCatalogueModelDto {
  @KindField(
    'The list of the model. Needed for a new one: `models` for embeddings, `chat_models`, `rerank_models`, `moving_aliases`.',
  )
  kind?: Kind;

  @FreeObjectField({
    description:
      'The model in the format of docs/catalogue.example.yaml, as JSON: all of it, or the members and endpoints that differ from the layers below. ' +
      '`prices` and `targets` replace their whole list.',
    example: { disabled: true },
  })
  model: Record<string, unknown>;

  @ReasonField()
  reason?: string | null;
}

export class CatalogueReasonDto {
  @ReasonField()
  reason?: string | null;
}

export class CatalogueChangesQueryDto {
  @IntegerField({
    optional: true,
    query: true,
    minimum: 1,
    hiddenMaximum: MAX_VERSION,
    description: 'The `next` of the previous page.',
  })
  before?: number;

  @LimitField({ maximum: 100, default: 50 })
  limit = 50;
}
