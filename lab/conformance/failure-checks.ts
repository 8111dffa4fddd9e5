// Checks of provider failures: a clear error or another provider's vectors, never wrong ones.
import type { StubReply } from '../../test/support/providers/provider-stub.js';
import { firstWrong, TEXT, TEXTS } from './check.js';
import type { Check, Trial } from './check.js';
import type { Answer, CallOptions } from './gateway.js';
import { PROVIDER_TIMEOUT_MS } from './gateway.js';
import { asObject, describeAnswer, assertError, assertVectors } from './assert-answer.js';
import type { Problem } from './assert-answer.js';
import { rowLabelled } from '../../test/support/providers/rows.js';
import type { Members } from '../../test/support/providers/conformance-row.js';
import { corrupt, CORRUPTIONS } from './corrupt-answers.js';
import type { Corruption } from './corrupt-answers.js';

const RETRY_AFTER_SECONDS = 7;
// Milliseconds beyond its time-out within which a gateway must answer.
const GRACE_MS = 3_000;
const BROKEN_ANSWER_STATUS = 502;
const OVERLOAD_STATUSES: ReadonlySet<number> = new Set([429, 503, 529]);
const TIMEOUT_STATUSES: ReadonlySet<number> = new Set([408, 504, 524]);

export const FAILURE_CHECKS: readonly Check[] = [
  {
    head: 'count',
    promise: 'an answer with a vector too few or too many is a 502 and is not passed on',
    applies: ({ maxInputs }) => maxInputs !== 1,
    run: (trial) =>
      firstWrong(
        () => assertCorruptedRejected(trial, 'one too few', TEXTS),
        () => assertCorruptedRejected(trial, 'one too many', TEXTS),
      ),
  },
  {
    head: 'narrow',
    promise: 'an answer with a vector of another width is a 502 and is not passed on',
    run: (trial) => assertCorruptedRejected(trial, 'one too narrow', TEXT),
  },
  {
    head: 'finite',
    promise: 'an answer with a number that is not finite is a 502 and is not passed on',
    run: (trial) => assertCorruptedRejected(trial, 'one not finite', TEXT),
  },
  {
    head: '429',
    promise: 'a rate limit of the provider is reported as one, with the time until a retry',
    run: async (trial) => {
      const { stub, retryAfterInBody } = trial.row;
      const answer = await askFailing(trial, {
        ...stub.failures.rateLimited,
        headers: retryAfterInBody === null ? { 'retry-after': String(RETRY_AFTER_SECONDS) } : {},
      });
      const expected = String(retryAfterInBody ?? RETRY_AFTER_SECONDS);
      const { 'retry-after': reported } = answer.headers;
      return (
        assertError(answer, (status) => OVERLOAD_STATUSES.has(status)) ??
        (reported === expected ? null : `Retry-After is ${String(reported)} and not ${expected}`)
      );
    },
  },
  {
    head: '4xx',
    promise: "a refusal of the provider is a 4xx that carries the provider's words",
    run: async (trial) => {
      const { invalid } = trial.row.stub.failures;
      const answer = await askFailing(trial, invalid);
      return (
        assertError(answer, (status) => status >= 400 && status < 500) ??
        (textsIn(invalid.body).some((text) =>
          textsIn(answer.json).some((reported) => reported.includes(text)),
        )
          ? null
          : `the provider's words are lost: ${describeAnswer(answer)}`)
      );
    },
  },
  {
    head: '5xx',
    promise: 'a failure of the provider is a 5xx in JSON, whatever the provider has sent',
    run: async (trial) =>
      assertError(await askFailing(trial, trial.row.stub.failures.broken), (status) => status >= 500),
  },
  {
    head: 'retry',
    promise: 'a call that fails once in passing is made again and served',
    waits: true,
    run: async (trial) => {
      const failures = [trial.row.stub.failures.overloaded];
      return served(trial, { repeats: true }, (reply) => failures.pop() ?? reply);
    },
  },
  {
    head: 'next',
    promise: 'another provider of the same vectors serves when the first is out',
    applies: ({ sameVectorsAt }) => sameVectorsAt !== null,
    run: async (trial) => {
      const { row, next } = trial;
      const before = next?.requests.length;
      const options = { next: rowLabelled(row.sameVectorsAt ?? '') };
      const problem = await served(trial, options, () => row.stub.failures.overloaded);
      return problem ?? (next?.requests.length === before ? 'the other provider was not tried' : null);
    },
  },
  {
    head: 'silent',
    promise: `a provider that does not answer is given up after the configured ${PROVIDER_TIMEOUT_MS / 1000} s`,
    waits: true,
    run: async (trial) => {
      const startedAt = performance.now();
      const answer = await altered(
        trial,
        () => null,
        () => trial.ask({ input: TEXT }),
      );
      const elapsed = performance.now() - startedAt;
      return (
        assertError(answer, (status) => TIMEOUT_STATUSES.has(status)) ??
        (elapsed > PROVIDER_TIMEOUT_MS + GRACE_MS ? `answered after ${Math.round(elapsed)} ms` : null)
      );
    },
  },
  // Last: the service rests a credential that a provider has refused.
  {
    head: 'key',
    promise: "a provider's 401 for the gateway's key is no 401 for the caller, who does not see the key",
    run: async (trial) => {
      const { apiKey } = trial.row.stub;
      const message = `Incorrect API key provided: ${apiKey}`;
      const answer = await askFailing(trial, {
        status: 401,
        body: { error: { message }, message, detail: message },
      });
      return (
        assertError(answer, (status) => status >= 500) ??
        (apiKey !== '' && answer.text.includes(apiKey) ? 'the key is in the answer' : null)
      );
    },
  },
];

/** As numbers and as base64: the service reads each in its own way. */
function assertCorruptedRejected(
  trial: Trial,
  name: keyof typeof CORRUPTIONS,
  input: unknown,
): Promise<Problem> {
  const corruption: Corruption = CORRUPTIONS[name];
  const assertCorrupted = async (form: Members): Promise<Problem> => {
    let isCorrupted = false;
    const answer = await altered(
      trial,
      (reply) => {
        if (reply.status !== 200) return reply;
        isCorrupted = true;
        return corrupt(reply, corruption);
      },
      () => trial.ask({ input, ...form }),
    );
    if (!isCorrupted && 'encoding_format' in form) return null;
    if (answer.status === 200) return `passed on: ${describeLoss(answer, input) ?? name}`;
    const problem = assertError(answer, (status) => status === BROKEN_ANSWER_STATUS);
    return problem === null ? null : `${name}: ${problem}`;
  };
  return firstWrong(
    () => assertCorrupted({}),
    () => assertCorrupted({ encoding_format: 'base64' }),
  );
}

function describeLoss({ json }: Answer, input: unknown): string | null {
  const { data } = asObject(json);
  const inputs = Array.isArray(input) ? input.length : 1;
  const vectors = Array.isArray(data) ? data.length : 0;
  return vectors === inputs ? null : `${vectors} vector(s) for ${inputs} input(s)`;
}

function askFailing(trial: Trial, failure: StubReply): Promise<Answer> {
  return altered(
    trial,
    () => failure,
    () => trial.ask({ input: TEXT }),
  );
}

async function served(
  trial: Trial,
  options: CallOptions,
  alteration: (reply: StubReply) => StubReply,
): Promise<Problem> {
  const answer = await altered(trial, alteration, () => trial.ask({ input: TEXT }, options));
  return assertVectors(answer, trial.row, [TEXT]);
}

async function altered(
  { stub }: Trial,
  alteration: (reply: StubReply) => StubReply | null,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  stub.alterReplies(alteration);
  try {
    return await ask();
  } finally {
    stub.alterReplies(null);
  }
}

// Shorter ones are names of kinds ("error", "INVALID_ARGUMENT") and say nothing about the call.
const LEAST_LENGTH_OF_WORDS = 8;

/** All texts in a body. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string')
    return value.length < LEAST_LENGTH_OF_WORDS || !value.includes(' ') ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
