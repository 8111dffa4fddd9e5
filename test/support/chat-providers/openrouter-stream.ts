// A stream of OpenRouter in the form that public recordings have: their order of events and members, with texts of this test.
const NO_REASONING = { reasoning: null, reasoning_details: [] };

function chunk(delta: object, finish: string | null, others: object = {}): object {
  return {
    id: 'gen-1768896871-9HgAQqS1Z72C6gApaidi',
    provider: 'OpenInference',
    model: 'openai/gpt-oss-120b:free',
    object: 'chat.completion.chunk',
    created: 1_768_896_871,
    choices: [{ index: 0, delta, finish_reason: finish, native_finish_reason: finish, logprobs: null }],
    ...others,
  };
}

export const OPENROUTER_EVENTS: readonly (object | '[DONE]')[] = [
  chunk({ role: 'assistant', content: '', ...NO_REASONING }, null),
  chunk(
    {
      role: 'assistant',
      content: '',
      reasoning: 'Count them.',
      reasoning_details: [{ type: 'reasoning.text', text: 'Count them.', format: 'unknown', index: 0 }],
    },
    null,
  ),
  chunk({ role: 'assistant', content: 'There are', ...NO_REASONING }, null),
  chunk({ role: 'assistant', content: ' **47**.', ...NO_REASONING }, null),
  chunk({ role: 'assistant', content: '', ...NO_REASONING }, 'stop'),
  chunk({ role: 'assistant', content: '' }, null, {
    usage: { prompt_tokens: 7_007, completion_tokens: 49, total_tokens: 7_056 },
  }),
  '[DONE]',
];

/** With the comments that precede it. */
export const OPENROUTER_STREAM = Buffer.from(
  ': OPENROUTER PROCESSING\n\n'.repeat(2) +
    OPENROUTER_EVENTS.map(
      (event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`,
    ).join(''),
);
