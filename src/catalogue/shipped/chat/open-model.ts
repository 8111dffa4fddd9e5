// Makes the record of a chat model with open weights at commercial providers: Together and DeepInfra.
import type { ChatEndpoint, ChatModel } from '../../../domain/chat/chat-model.js';
import { POLICY_NOT_KNOWN } from '../facts.js';
import {
  FORMAT_PARAMETERS,
  listedChatPrices,
  OUTPUT_LIMITS,
  PENALTY_PARAMETERS,
  REASONING_PARAMETERS,
  REASONING_WITHOUT_EFFORTS,
  SAMPLING_PARAMETERS,
  TOOL_PARAMETERS,
} from './facts.js';
import type { ListedPrices } from './facts.js';

const OPEN_SAMPLING = [
  ...OUTPUT_LIMITS,
  ...SAMPLING_PARAMETERS,
  ...PENALTY_PARAMETERS,
  'top_k',
  'min_p',
  'repetition_penalty',
  'response_format',
];
const TOGETHER_PARAMETERS = [
  ...OPEN_SAMPLING,
  ...FORMAT_PARAMETERS,
  'n',
  'logit_bias',
  'logprobs',
  'top_logprobs',
];

// DeepInfra's guide to its API.
const MAX_OUTPUT = { together: {}, deepinfra: { maxOutputTokens: 16_384 } };

interface OpenModel extends Traits {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly createdAt: string;
  readonly contextLength: number;
  readonly served: readonly Served[];
}

interface Traits {
  readonly hasTools?: true;
  readonly takesImages?: true;
  /** Absent: the model does not reason, or its reasoning has no degrees. `none` alone: it can be switched off. */
  readonly efforts?: readonly string[];
  readonly isReasoning?: true;
}

interface Served {
  readonly by: 'together' | 'deepinfra';
  readonly upstreamModel: string;
  readonly prices: ListedPrices;
  /** Absent: Portkey's list. */
  readonly source?: string;
  /** Absent: the model's. */
  readonly contextLength?: number;
  /** The provider serves the model without them. */
  readonly lacksTools?: true;
}

const PARAMETERS = { together: TOGETHER_PARAMETERS, deepinfra: OPEN_SAMPLING };

export function openModel({
  served,
  hasTools,
  takesImages,
  efforts = [],
  isReasoning,
  ...model
}: OpenModel): ChatModel {
  const reasons = isReasoning === true || efforts.length > 0;
  const reasoning = efforts.length > 0 ? REASONING_PARAMETERS : REASONING_WITHOUT_EFFORTS;
  const endpoints = served.map(
    ({
      by,
      upstreamModel,
      prices,
      source,
      lacksTools,
      contextLength = model.contextLength,
    }): ChatEndpoint => ({
      provider: by,
      upstreamModel,
      contextLength,
      ...MAX_OUTPUT[by],
      supportedParameters: [
        ...new Set([
          ...PARAMETERS[by],
          ...(hasTools && !lacksTools ? TOOL_PARAMETERS : []),
          ...(reasons ? reasoning : []),
        ]),
      ],
      inputModalities: takesImages ? ['text', 'image'] : ['text'],
      reasoningEfforts: efforts,
      isReasoning: reasons,
      hidesReasoning: false,
      prices: listedChatPrices(prices, source),
      quantization: null,
      dataPolicy: POLICY_NOT_KNOWN,
    }),
  );
  return { ...model, tokenizer: null, endpoints };
}
