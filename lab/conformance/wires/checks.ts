// The columns of the table of wires: good answers, and the failures of other gateways that public reports describe.
import { setTimeout as pause } from 'node:timers/promises';
import { COST, providerOf, TEXT_AND_CALL } from '../../../test/support/wires/wire-stubs.js';
import type { WireProviderName, WireScript } from '../../../test/support/wires/wire-stubs.js';
import { WIRE_ANSWERS } from '../../../test/support/wires/wire-answers.js';
import type { Call, Piece } from '../../../test/support/wires/pieces.js';
import { asObject, describeAnswer } from '../assert-answer.js';
import type { Problem } from '../assert-answer.js';
import { firstWrong } from '../check.js';
import { announcementProblem, failureProblem, numberingProblem, usageAtStart } from './assert-events.js';
import type { Pair, WireCheck, WireTrial } from './check.js';
import { FINISHES } from './clients.js';
import type { ClientCall, ClientRead } from './clients.js';

const CALL: Call = { kind: 'call', id: 'call_1', name: 'look', input: { id: 7 } };
const THOUGHT: Piece = { kind: 'thought', text: 'Let me see it.' };
const LONG: WireScript = {
  pieces: [{ kind: 'text', deltas: ['Hel', 'lo', ' is', ' what', ' they', ' said', ' to', ' all', '.'] }],
};
const TOKENS = [100, 30, 20];
/** A part of the text has come by then, at every wire. */
const MIDDLE = 5;
// Milliseconds. A gateway that notices its client's end does so at once.
const LEAVING_TIMEOUT = 2_000;
/** Wires whose provider stops working, and billing, with its connection; the others are read to their end. */
const STOPPING: ReadonlySet<WireProviderName> = new Set(['messages', 'responses']);
/** Longer than any call of the script, and of another alphabet than Claude's and Amazon's. */
const FOREIGN_ID = `call.of|another:${'x'.repeat(60)}`;
const SCHEMA = {
  type: 'object',
  properties: { size: { anyOf: [{ type: 'integer' }, { type: 'null' }] }, at: { $ref: '#/$defs/place' } },
  $defs: { place: { type: 'string', enum: ['here', 'there'] } },
};

type Assert = (read: ClientRead, pair: Pair) => Problem;

const scripted =
  (script: WireScript, assertRead: Assert, call?: ClientCall) =>
  async (trial: WireTrial): Promise<Problem> => {
    trial.stubs.answerWith(script);
    return assertRead(await trial.ask(call), trial);
  };

/** The client has put the answer together: its text, its calls, one finish. */
const understood =
  (text: string, calls: readonly Call[]): Assert =>
  ({ status, answer, error }, { client }) => {
    if (answer === null) return `${status}: ${error}`;
    if (answer.text !== text) return `the text is ${JSON.stringify(answer.text)}`;
    const found = JSON.stringify(answer.calls.map(({ name, input }) => ({ name, input })));
    const wanted = JSON.stringify(calls.map(({ name, input }) => ({ name, input })));
    if (found !== wanted) return `the calls are ${found}`;
    const ids = answer.calls.map(({ id }) => id);
    if (ids.includes('') || new Set(ids).size !== ids.length) return `the ids are ${JSON.stringify(ids)}`;
    const { ofCall, ofText } = FINISHES[client];
    const finish = calls.length > 0 ? ofCall : ofText;
    return answer.finish === finish ? null : `the finish is ${answer.finish}`;
  };
const helloAndCall = understood('Hello', [CALL]);

const tokens: Assert = ({ status, answer, error }) => {
  if (answer === null) return `${status}: ${error}`;
  return JSON.stringify(answer.tokens) === JSON.stringify(TOKENS)
    ? null
    : `the tokens are ${answer.tokens.join('/')}`;
};

export const WIRE_CHECKS: readonly WireCheck[] = [
  {
    head: 'whole',
    promise: "an answer without a stream has its text, its call and its finish in the vendor's own client",
    run: scripted(TEXT_AND_CALL, helloAndCall, { isStreamed: false }),
  },
  {
    head: 'stream',
    promise: "a stream is put together by the vendor's own client: text, call, finish",
    run: scripted(TEXT_AND_CALL, helloAndCall),
  },
  {
    head: 'change',
    promise: 'nothing is lost or doubled where thought, text, thought, text and two calls follow one another',
    run: scripted(
      {
        pieces: [
          THOUGHT,
          { kind: 'text', deltas: ['FINAL: ', 'ABC'] },
          { kind: 'thought', text: 'And once more.' },
          { kind: 'text', deltas: [' done'] },
          CALL,
          { ...CALL, id: 'call_2', input: { id: 8 } },
        ],
      },
      understood('FINAL: ABC done', [CALL, { ...CALL, input: { id: 8 } }]),
    ),
  },
  {
    head: 'call 1st',
    promise: 'a call that comes before any text, without arguments, is whole',
    run: scripted({ pieces: [{ ...CALL, input: {} }] }, understood('', [{ ...CALL, input: {} }])),
  },
  {
    head: 'bytes',
    promise: 'texts of several bytes a character are whole when the stream comes in single bytes',
    run: scripted(
      { pieces: [{ kind: 'text', deltas: ['né 🙂', ' ✓'] }], isInBytes: true },
      understood('né 🙂 ✓', []),
    ),
  },
  {
    head: 'order',
    promise: 'each delta belongs to a block or item that was announced before with the same type',
    applies: ({ client }) => client !== 'chat',
    run: scripted({ pieces: [THOUGHT, ...TEXT_AND_CALL.pieces] }, ({ text }, { client }) =>
      announcementProblem(client, text),
    ),
  },
  {
    head: 'numbers',
    promise: 'every event of a response has the next sequence_number',
    applies: ({ client }) => client === 'responses',
    run: scripted(TEXT_AND_CALL, ({ text }) => numberingProblem(text)),
  },
  {
    head: 'start',
    promise: 'message_start has input tokens above 0, and every member of usage that clients read',
    applies: ({ client }) => client === 'messages',
    run: scripted(TEXT_AND_CALL, ({ text }) => usageAtStart(text)),
  },
  {
    head: 'tokens',
    promise: 'prompt, cached and made tokens are those of the provider, streamed and whole',
    run: (trial) =>
      firstWrong(
        () => scripted(TEXT_AND_CALL, tokens)(trial),
        () => scripted(TEXT_AND_CALL, tokens, { isStreamed: false })(trial),
      ),
  },
  {
    head: 'cost',
    promise: 'usage.cost is that of the tokens by the prices of the endpoint, to the last digit',
    run: scripted(TEXT_AND_CALL, ({ answer, error }) =>
      answer === null ? error : answer.cost === COST ? null : `the cost is ${String(answer.cost)}`,
    ),
  },
  {
    head: 'turn 2',
    promise: 'the answer, sent back with the result of its call, is taken by the provider',
    run: async (trial) => {
      trial.stubs.answerWith(TEXT_AND_CALL);
      const { answer, error } = await trial.ask();
      if (answer === null) return error;
      return helloAndCall(await trial.ask({ turns: answer.turns }), trial);
    },
  },
  {
    head: 'proof',
    promise: 'the signature or encrypted form of a thought comes back to its provider as it was',
    applies: ({ provider }) => proofOf(provider) !== null,
    run: async (trial) => {
      trial.stubs.answerWith({ pieces: [THOUGHT, ...TEXT_AND_CALL.pieces] });
      const { answer, error } = await trial.ask({ reasons: true });
      if (answer === null) return error;
      const second = await trial.ask({ turns: answer.turns, reasons: true });
      if (second.answer === null) return second.error;
      const sent = trial.stubs.requestsOf(trial.provider).at(-1)?.text ?? '';
      return sent.includes(proofOf(trial.provider) ?? '') ? null : 'the proof is lost';
    },
  },
  {
    head: 'ids',
    promise: "a call id of another provider's alphabet and length is taken, and its result refers to it",
    run: async (trial) => {
      trial.stubs.answerWith(TEXT_AND_CALL);
      const { answer, error } = await trial.ask();
      if (answer === null) return error;
      const [{ id } = { id: '' }] = answer.calls;
      const turns = JSON.parse(
        JSON.stringify(answer.turns).replaceAll(JSON.stringify(id), JSON.stringify(FOREIGN_ID)),
      ) as typeof answer.turns;
      return helloAndCall(await trial.ask({ turns }), trial);
    },
  },
  {
    head: 'schema',
    promise: 'a tool whose schema has $defs, $ref and anyOf is taken, and loses none of its values',
    run: async (trial) => {
      trial.stubs.answerWith(TEXT_AND_CALL);
      const problem = helloAndCall(await trial.ask({ schema: SCHEMA }), trial);
      if (problem !== null) return problem;
      const sent = trial.stubs.requestsOf(trial.provider).at(-1)?.text ?? '';
      return ['anyOf', 'there', '"null"'].every((part) => sent.includes(part)) ? null : 'the schema is cut';
    },
  },
  {
    head: 'refused',
    promise: "a provider's 429 is a 429 in the client's own form",
    run: scripted({ pieces: [], isRefused: true }, ({ status, text }, { client }) =>
      refusalProblem(status, text, client),
    ),
  },
  {
    head: 'error mid',
    promise: "a provider's error after the first content is the client's own error event, and no success",
    run: scripted({ ...LONG, after: MIDDLE, ending: 'failure' }, ({ status, text }, { client }) =>
      failureProblem(client, status, text),
    ),
  },
  {
    head: 'cut',
    promise: 'a stream that ends or is lost in the middle is no success to the client',
    run: (trial) =>
      firstWrong(
        () => scripted({ ...LONG, after: MIDDLE, ending: 'end' }, noSuccess)(trial),
        () => scripted({ ...LONG, after: MIDDLE, ending: 'cut' }, noSuccess)(trial),
      ),
  },
  {
    head: 'gone',
    promise: 'the connection of a provider that bills until it is closed is closed within 2 s of its client',
    applies: ({ provider }) => STOPPING.has(provider),
    run: async ({ stubs, leaveAfter }) => {
      const left = stubs.countLeft();
      stubs.answerWith({ ...LONG, after: MIDDLE, ending: 'stall' });
      await leaveAfter('Hel');
      const deadline = performance.now() + LEAVING_TIMEOUT;
      while (stubs.countLeft() === left && performance.now() < deadline) await pause(10);
      return stubs.countLeft() > left ? null : 'the provider goes on';
    },
  },
  {
    head: 'count',
    promise: 'count_tokens answers a number for every provider, and makes no answer',
    applies: ({ client }) => client === 'messages',
    run: async ({ stubs, provider, countTokens }) => {
      const before = stubs.requestsOf(provider).length;
      const answer = await countTokens();
      if (answer.status !== 200) return describeAnswer(answer);
      const { input_tokens: found } = asObject(answer.json);
      if (!Number.isInteger(found) || Number(found) <= 0) return `input_tokens ${String(found)}`;
      return stubs.requestsOf(provider).length === before ? null : 'an answer was made';
    },
  },
];

const proofOf = (name: WireProviderName): string | null => WIRE_ANSWERS[providerOf(name).answer].proof;

const noSuccess: Assert = ({ answer, status }, { client }) => {
  if (answer === null || status >= 500) return null;
  // The chat client does not look at errors after the first chunk.
  const { ofCall, ofText } = FINISHES[client];
  return answer.finish === ofCall || answer.finish === ofText ? 'a cut answer is whole to the client' : null;
};

function refusalProblem(status: number, text: string, client: Pair['client']): Problem {
  if (status !== 429) return `status ${status}: ${text.slice(0, 80)}`;
  const { type, error } = asObject(JSON.parse(text || '{}'));
  const { message, type: kind } = asObject(error);
  if (typeof message !== 'string' || message === '') return 'no error.message';
  if (client !== 'messages') return null;
  return type === 'error' && kind === 'rate_limit_error' ? null : `type ${String(type)}/${String(kind)}`;
}
