// Names of lists that stand for a name of ours. A pair is written by hand, from the provider's documentation: a row counts for exactly
// its name otherwise.
const CLAUDES = 'fable-5-1 fable-5 opus-5-5 opus-5 opus-4-8 opus-4-7 opus-4-6 sonnet-5-5 sonnet-5 sonnet-4-6'
  .split(' ')
  .map((name) => `claude-${name}`);

const NAMES = {
  // Vertex: `@default` is the one version of a model without dates.
  'models.dev': Object.fromEntries(CLAUDES.map((name) => [`vertex ${name}@default`, `vertex ${name}`])),
  // It lists the models of other vendors at Google among Google's.
  'genai-prices': Object.fromEntries(CLAUDES.map((name) => [`google ${name}`, `vertex ${name}`])),
  llmgateway: { 'together google/gemma-4-31b-it': 'together google/gemma-4-31B-it' },
};

/** `key`: of offerKey. */
export function ourName(list, key) {
  return NAMES[list]?.[key] ?? key;
}
