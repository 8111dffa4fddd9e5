// Members of self-hosted servers that are known to be harmless: they change only how the tokens of the caller's own answer are
// chosen and printed. All other unknown members are dropped, because servers read files, other models, addresses and the slots of
// other calls from theirs, and no list of those is complete (docs/contract.md#chat-providers).
import type { MemberRule } from './chat-traits.js';

interface ServerMembers {
  /** The server's documentation. */
  readonly source: string;
  readonly names: readonly string[];
}

const VLLM: ServerMembers = {
  source: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server/',
  names: ['stop_token_ids', 'skip_special_tokens', 'spaces_between_special_tokens', 'thinking_token_budget'],
};

// Without `regex`, `ebnf` and `stop_regex`: the server compiles and runs them.
const SGLANG: ServerMembers = {
  source: 'https://docs.sglang.io/basic_usage/sampling_params.html',
  names: ['stop_token_ids', 'skip_special_tokens', 'no_stop_trim', 'separate_reasoning', 'stream_reasoning'],
};

// Without `repeat_last_n` and `dry_penalty_last_n`, whose number is memory of the server, and without the lists `samplers` and
// `dry_sequence_breakers`, whose length is its time.
const LLAMA_CPP: ServerMembers = {
  source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
  names: (
    'repeat_penalty typical_p top_n_sigma dynatemp_range dynatemp_exponent dry_multiplier dry_base dry_allowed_length ' +
    'xtc_probability xtc_threshold mirostat mirostat_tau mirostat_eta'
  ).split(' '),
};

const LM_STUDIO: ServerMembers = {
  source: 'https://lmstudio.ai/docs/developer/openai-compat/chat-completions',
  names: ['repeat_penalty'],
};

/** By the slug of the provider. Ollama, Together and DeepInfra document none beside the common members. */
export const SERVER_MEMBERS = {
  vllm: namesOf([VLLM]),
  'openai-compatible': namesOf([VLLM, SGLANG, LLAMA_CPP, LM_STUDIO]),
} as const;

/** Bytes of JSON text: numbers, flags and short lists of numbers. */
const MAX_BYTES = 4_096;

export function serverMembers(slug: keyof typeof SERVER_MEMBERS): Readonly<Record<string, MemberRule>> {
  const short: MemberRule = (value) => (value.length <= MAX_BYTES ? { value } : 'dropped');
  return Object.fromEntries(SERVER_MEMBERS[slug].map((name) => [name, short]));
}

function namesOf(servers: readonly ServerMembers[]): readonly string[] {
  return [...new Set(servers.flatMap(({ names }) => names))].toSorted();
}
