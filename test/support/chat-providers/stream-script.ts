// Streams of providers, step by step: good ones, and the bad ones of public reports. A script gets the stream as the vendor
// would send it, and so keeps the vendor's own form of chunks and usage.
import type { ServerResponse } from 'node:http';
import type { StubRequest } from '../providers/provider-stub.js';

export type StubChunk = Readonly<Record<string, unknown>>;

export interface VendorStream {
  /** Chunks before the finish reasons, the vendor's own first one included. */
  readonly chunks: readonly StubChunk[];
  /** One for each choice. */
  readonly finishes: readonly StubChunk[];
  /** Usage in a chunk of its own; null where the vendor has none, or nothing asked for it. */
  readonly usageChunk: StubChunk | null;
  /** The numbers of the answer, whether they were asked for or not. */
  readonly usage: Readonly<Record<string, number>>;
}

export type StreamStep =
  | { readonly event: StubChunk | string }
  | { readonly bytes: Buffer }
  /** A line without an end, as fast as it is read. */
  | 'endless line'
  /** Nothing more comes, and the connection stays. A stream that begins with it has no headers. */
  | 'stall'
  /** The connection is lost. */
  | 'cut'
  | 'end';

export type StreamScript = (stream: VendorStream, request: StubRequest) => readonly StreamStep[];

const DONE: StreamStep = { event: '[DONE]' };
const FILLER = Buffer.alloc(65_536, 'x');

const eventsOf = (chunks: readonly (StubChunk | null)[]): StreamStep[] =>
  chunks.flatMap((event) => (event === null ? [] : [{ event }]));

/** Without its usage. */
function unmetered({ usage: _usage, ...chunk }: StubChunk): StubChunk {
  return chunk;
}

export const COMPLETE: StreamScript = ({ chunks, finishes, usageChunk }) => [
  ...eventsOf([...chunks, ...finishes, usageChunk]),
  DONE,
  'end',
];

export const WITHOUT_USAGE: StreamScript = ({ chunks, finishes }) => [
  ...eventsOf([...chunks, ...finishes].map(unmetered)),
  DONE,
  'end',
];

/** Cumulative usage in every chunk, and the whole twice. */
export const REPEATED_USAGE: StreamScript = ({ chunks, finishes, usage }) => {
  const total = usage['completion_tokens'] ?? 0;
  const metered = chunks.map((chunk, index) => {
    const completion = Math.ceil((total * (index + 1)) / (chunks.length + 1));
    return Object.assign({}, chunk, { usage: reported(usage, completion) });
  });
  const ends = finishes.map((chunk) => Object.assign({}, chunk, { usage }));
  return [...eventsOf([...metered, ...ends]), ...eventsOf([usageOnly(finishes, usage)]), DONE, 'end'];
};

/** Usage in a chunk of its own before the finish reasons. */
export const EARLY_USAGE: StreamScript = ({ chunks, finishes, usage }) => [
  ...eventsOf([...chunks.map(unmetered), usageOnly(finishes, usage), ...finishes.map(unmetered)]),
  DONE,
  'end',
];

/** Usage in a chunk of its own after the finish reasons, at vendors too that send it with them. */
export const LATE_USAGE: StreamScript = ({ chunks, finishes, usage }) => [
  ...eventsOf([...chunks, ...finishes].map(unmetered)),
  ...eventsOf([usageOnly(finishes, usage)]),
  DONE,
  'end',
];

export const ENDLESS_LINE: StreamScript = ({ chunks }) => [...eventsOf(chunks), 'endless line'];

/** So many chunks of the good stream, and then these steps. */
export const after =
  (count: number, ...steps: readonly StreamStep[]): StreamScript =>
  ({ chunks, finishes, usageChunk }) => [
    ...eventsOf([...chunks, ...finishes, usageChunk].slice(0, count)),
    ...steps,
  ];

export const errorEvent = (code: number, message = 'it broke'): StreamStep => ({
  event: { error: { code, message }, choices: [] },
});

/** An early report of usage, and then silence. */
export const STALL_AFTER_USAGE: StreamScript = ({ chunks, finishes, usage }) => [
  ...eventsOf([...chunks.slice(0, 2), usageOnly(finishes, usage)]),
  'stall',
];

/** The bytes of a stream in pieces of this size: with 1, every cut of them at once. */
export const inPieces =
  (size: number, script: StreamScript = COMPLETE): StreamScript =>
  (stream, request) =>
    script(stream, request).flatMap((step): StreamStep[] => {
      if (typeof step === 'string') return [step];
      const bytes = bytesOf(step);
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_value, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      return pieces.map((piece) => ({ bytes: piece }));
    });

/** Recorded bytes, cut at these places. */
export const recorded =
  (bytes: Buffer, ...cuts: readonly number[]): StreamScript =>
  () => [
    ...[0, ...cuts].map((from, index) => ({ bytes: bytes.subarray(from, cuts[index] ?? bytes.length) })),
    'end',
  ];

function reported(usage: VendorStream['usage'], completion: number): VendorStream['usage'] {
  const prompt = usage['prompt_tokens'] ?? 0;
  return { ...usage, completion_tokens: completion, total_tokens: prompt + completion };
}

function usageOnly(finishes: readonly StubChunk[], usage: VendorStream['usage']): StubChunk {
  return { ...finishes[0], choices: [], usage };
}

function bytesOf(step: { readonly event: StubChunk | string } | { readonly bytes: Buffer }): Buffer {
  if ('bytes' in step) return step.bytes;
  const { event } = step;
  return Buffer.from(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
}

/** Resolves when the stream has ended, or hangs with it. */
export async function playStream(steps: readonly StreamStep[], response: ServerResponse): Promise<void> {
  if (steps[0] === 'stall') return;
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  /** Waits until the bytes are on their way, so that nothing is buffered here. */
  const write = (bytes: Buffer): Promise<void> =>
    Promise.race([closed, new Promise<void>((resolve) => response.write(bytes, () => resolve()))]);
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  for (const step of steps) {
    if (step === 'stall' || response.destroyed) return;
    if (step === 'cut') response.destroy();
    else if (step === 'end') response.end();
    else if (step === 'endless line') while (!response.destroyed) await write(FILLER);
    else await write(bytesOf(step));
  }
}
