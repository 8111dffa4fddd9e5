// The vendors' Python SDKs as clients of every wire, before every provider's. They check the events of a stream in ways of their own:
// OpenAI's finds the item of each delta by its index. TEST_PYTHON names a Python that has `openai` and `anthropic`; default: python3.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestApp } from '../support/app/app.js';
import { GPT, startResponsesApp } from '../support/responses/responses-app.js';
import type { ResponsesApp } from '../support/responses/responses-app.js';
import { responsesStream } from '../support/responses/responses-streams.js';
import { TEXT_AND_CALL, modelBehind, WIRE_PROVIDER_NAMES } from '../support/wires/wire-stubs.js';
import { startWiresApp } from '../support/wires/wires-app.js';
import type { WiresApp } from '../support/wires/wires-app.js';

const PYTHON = process.env['TEST_PYTHON'] ?? 'python3';
const PROGRAM = fileURLToPath(new URL('python-sdks.py', import.meta.url));
const TIMEOUT_MS = 120_000;
const FINISHES = { chat: 'tool_calls', messages: 'tool_use', responses: 'completed' };

const runPython = promisify(execFile);
const version = await runPython(PYTHON, ['-c', 'import openai, anthropic; print(openai.__version__)']).then(
  ({ stdout }) => stdout.trim(),
  () => null,
);
const withPython = version === null ? it.skip : it;

interface Line {
  readonly client: keyof typeof FINISHES;
  readonly model: string;
}

async function ask({ origin, apiKey }: TestApp, models: readonly string[]): Promise<Line[]> {
  const { stdout } = await runPython(PYTHON, [PROGRAM, origin, apiKey, ...models]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

let wires: WiresApp;
let responses: ResponsesApp;
beforeAll(async () => {
  wires = await startWiresApp();
  responses = await startResponsesApp();
});
afterEach(() => wires.stubs.answerWith(TEXT_AND_CALL));
afterAll(async () => {
  await wires.close();
  await responses.close();
});

describe(
  version === null ? 'Python SDKs (not run: no Python with them)' : `Python SDKs, openai ${version}`,
  () => {
    withPython(
      'build a thought, a text and a call of the stream of every provider',
      async () => {
        const thought = { kind: 'thought', text: 'Let me see it.' } as const;
        wires.stubs.answerWith({ pieces: [thought, ...TEXT_AND_CALL.pieces] });
        const models = WIRE_PROVIDER_NAMES.map(modelBehind);
        const lines = await ask(wires.app, models);
        expect(lines).toEqual(
          (['chat', 'messages', 'responses'] as const).flatMap((client) =>
            models.map((model) => ({
              client,
              model,
              thought: thought.text,
              text: 'Hello',
              calls: [['look', { id: 7 }]],
              finish: FINISHES[client],
              made: 20,
            })),
          ),
        );
      },
      TIMEOUT_MS,
    );

    withPython(
      'build a message of a provider of Responses that announces no item',
      async () => {
        const { body } = responsesStream('items without their beginning');
        responses.openai.answerWith((_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.end(body);
        });
        const lines = await ask(responses.app, [GPT]);
        const line = lines.find(({ client }) => client === 'messages');
        expect(line).toMatchObject({ thought: 'Hm.', text: 'Hello', calls: [['look', { a: 1 }]] });
      },
      TIMEOUT_MS,
    );
  },
);
