// Runs a relay over given bytes.
import type { ChatChoice } from '../../../src/domain/chat/chat-outcome.js';
import type { ChatFailure } from '../../../src/chat/stream/chat-failure.js';
import { ChatStreamRelay } from '../../../src/chat/stream/chat-stream-relay.js';
import type { RelayOptions } from '../../../src/chat/stream/chat-stream-relay.js';
import type { AnswerEnd, PassageOptions } from '../../../src/chat/passages/passage.js';
import { countedChatUsage } from '../../../src/domain/chat/chat-usage.js';
import type { ReportedChatUsage } from '../../../src/domain/chat/chat-usage.js';
import { RELAY_WIRE, UPSTREAM_STREAMS } from './upstream-streams.js';
import type { UpstreamStream } from './upstream-streams.js';

export const IDENTITY = {
  id: 'gen-1790000000-Ab3',
  created: 1_790_000_002,
  model: 'vendor/model',
  provider: 'Stub',
};

/** Of a client and a provider that speak Chat. */
export const ANSWER_OPTIONS = {
  identity: IDENTITY,
  client: 'chat',
  wire: RELAY_WIRE,
  excludesReasoning: false,
  choiceCount: 1,
  countedPrompt: null,
} as const satisfies PassageOptions;

/** The end of an answer that costs nothing. */
export const answerEnd = (members: AnswerEnd['members'] = {}): AnswerEnd => ({
  usage: countedChatUsage(0, 0),
  cost: { charged: 0n, isByok: false, upstream: null, prompt: null, completion: null },
  members,
  completedAt: 1_790_000_003,
  hasChoice: true,
});

/** As counted for clients of another wire than the provider's. */
export const COUNTED_PROMPT = 11;
const MADE_ID = /^call_[A-Za-z0-9]{24}$/;

/** Made tool call ids are numbered instead of random. */
export function createRelay(
  {
    wire,
    choiceCount = 1,
    excludesReasoning = false,
    protocol = 'chat',
    client = 'chat',
  }: Partial<UpstreamStream> = {},
  limits: Partial<Pick<RelayOptions, 'maxEventBytes' | 'maxAnswerBytes' | 'responses' | 'isTranslated'>> = {},
): ChatStreamRelay {
  let made = 0;
  const toolCallId = (id: string): string => (MADE_ID.test(id) ? `call_${++made}` : id);
  return new ChatStreamRelay({
    ...ANSWER_OPTIONS,
    client,
    countedPrompt: client === protocol ? null : COUNTED_PROMPT,
    wire: { ...RELAY_WIRE, protocol, toolCallId, ...wire },
    choiceCount,
    excludesReasoning,
    maxEventBytes: 8_388_608,
    maxAnswerBytes: 67_108_864,
    ...limits,
  });
}

export interface RelayedStream {
  readonly output: string;
  /** The last events; empty for an answer that failed. */
  readonly last: string;
  readonly signatures: readonly string[];
  readonly failure: ChatFailure | null;
  readonly usage: ReportedChatUsage | null;
  readonly serviceTier: string | null;
  readonly upstreamId: string | null;
  readonly hasContent: boolean;
  readonly isFinished: boolean;
  readonly choices: readonly ChatChoice[];
  readonly outputCount: object;
}

export function relayed(stream: Partial<UpstreamStream>, pieces: Iterable<Buffer>): RelayedStream {
  const relay = createRelay(stream);
  const output: Buffer[] = [];
  const drain = (): void => {
    const bytes = relay.take();
    if (bytes) output.push(bytes);
  };
  for (const piece of pieces) {
    relay.push(piece);
    drain();
  }
  relay.end();
  drain();
  const { failure, usage, serviceTier, upstreamId, hasContent, isFinished } = relay;
  return {
    output: Buffer.concat(output).toString(),
    last: failure === null ? relay.last(answerEnd()).toString() : '',
    signatures: relay.signatures,
    failure,
    usage,
    serviceTier,
    upstreamId,
    hasContent,
    isFinished,
    choices: relay.choices(),
    outputCount: relay.outputCount(),
  };
}

export interface StreamedChunk {
  readonly [member: string]: unknown;
  readonly id: string;
  readonly choices: readonly StreamedChoice[];
}

export interface StreamedChoice {
  readonly [member: string]: unknown;
  readonly index: number;
  readonly delta: { readonly [member: string]: unknown };
  readonly finish_reason: string | null;
}

/** The chunks of a client's stream. Each event must be one line of data. */
export function chunksOf(output: string): StreamedChunk[] {
  return output
    .split('\n\n')
    .filter((event) => event !== '' && event !== 'data: [DONE]' && !event.startsWith(':'))
    .map((event) => {
      if (!event.startsWith('data: {') || event.includes('\n'))
        throw new Error(`no event of one line: ${event}`);
      return JSON.parse(event.slice('data: '.length)) as StreamedChunk;
    });
}

/** The texts of a choice's deltas, joined as clients join them. */
export function joinedText(chunks: readonly StreamedChunk[], member = 'content', index = 0): string {
  return chunks
    .flatMap(({ choices }) => choices)
    .filter((choice) => choice.index === index)
    .map(({ delta }) => (delta[member] ?? '') as string)
    .join('');
}

/** A whole stream in one read, and the chunks that the client gets. */
export function relayBody(
  body: string | Buffer,
  stream: Partial<UpstreamStream> = {},
): RelayedStream & { readonly chunks: readonly StreamedChunk[] } {
  const result = relayed(stream, [Buffer.from(body)]);
  return { ...result, chunks: chunksOf(result.output) };
}

function upstreamStream(name: string): UpstreamStream {
  const found = UPSTREAM_STREAMS.find((one) => one.name === name);
  if (!found) throw new Error(`no stream ${name}`);
  return found;
}

/** One of the recorded streams, relayed. */
export function relayNamed(name: string): ReturnType<typeof relayBody> {
  const stream = upstreamStream(name);
  return relayBody(stream.body, stream);
}

/** The finish reasons that are not null, in their order. */
export const finishReasonsOf = (chunks: readonly StreamedChunk[]): unknown[] =>
  chunks
    .flatMap(({ choices }) => choices)
    .flatMap(({ finish_reason }) => (finish_reason === null ? [] : [finish_reason]));
