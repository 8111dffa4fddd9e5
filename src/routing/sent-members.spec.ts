// Which unknown members of a body reach which provider.
import { describe, expect, it } from '@jest/globals';
import { EMBEDDING_PROVIDERS } from '../providers/index.js';
import { sentMembers } from './sent-members.js';

/** A member that a server reads for itself, with others of the same danger or none. */
const UNSAFE = {
  priority: -5,
  keep_alive: -1,
  options: { num_gpu: 0 },
  chat_template: '{{ messages }}',
  chat_template_kwargs: { a: 1 },
  mm_processor_kwargs: { a: 1 },
  messages: [],
  request_id: 'another',
  cache_salt: 'a',
  model_path: '/etc/passwd',
  service_tier: 'priority',
  constructor: 1,
};
const SENT = {
  vllm: {
    truncate_prompt_tokens: 8,
    add_special_tokens: false,
    normalize: false,
    embed_dtype: 'float32',
    endianness: 'little',
  },
  tei: { prompt_name: 'query', truncate: true, truncation_direction: 'Left', normalize: false },
  ollama: { truncate: false },
  'openai-compatible': {
    truncate_prompt_tokens: 8,
    add_special_tokens: false,
    embd_normalize: 2,
    task: 'retrieval.query',
    prompt_name: 'query',
    truncate: 'END',
    truncation_direction: 'Left',
    normalize: false,
  },
} as const;
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  vllm: ['chat_template', 'chat_template_kwargs', 'mm_processor_kwargs', 'messages'],
  tei: [],
  ollama: ['options'],
  'openai-compatible': ['chat_template', 'chat_template_kwargs', 'mm_processor_kwargs', 'messages'],
};
const ALL: Readonly<Record<string, unknown>> = Object.fromEntries(
  [UNSAFE, ...Object.values(SENT)].flatMap((members) => Object.keys(members)).map((name) => [name, name]),
);

describe.each(EMBEDDING_PROVIDERS.map((provider) => [provider.slug, provider] as const))(
  '%s',
  (slug, provider) => {
    const sent = (extra: Readonly<Record<string, unknown>>, allowedMembers?: readonly string[]) =>
      sentMembers({ provider, endpoint: { ...(allowedMembers && { allowedMembers }) } }, extra);

    if (Object.hasOwn(SENT, slug)) {
      const own: Readonly<Record<string, unknown>> = SENT[slug as keyof typeof SENT];

      it('gets the listed members and no other, in any mixture', () => {
        const { extra, dropped } = sent(ALL);
        expect(Object.keys(extra).toSorted()).toEqual(Object.keys(own).toSorted());
        expect(sent({ ...UNSAFE, ...own }).extra).toEqual(own);
        expect(dropped.toSorted()).toEqual(
          Object.keys(ALL)
            .filter((name) => !Object.hasOwn(own, name))
            .toSorted(),
        );
      });

      it('refuses members without which the vector would be another, and drops the rest', () => {
        const refused = Object.keys(UNSAFE).filter((name) => sent({ [name]: 1 }).refused === name);
        expect(refused.toSorted()).toEqual([...(REFUSED[slug] ?? [])].toSorted());
        expect(sent({ priority: 1 })).toEqual({ extra: {}, dropped: ['priority'], refused: null });
      });

      it('gets what the endpoint allows as well', () => {
        const names = Object.keys(ALL);
        expect(sent(ALL, names)).toEqual({ extra: ALL, dropped: [], refused: null });
      });

      it('loses a member of null without a record', () => {
        expect(sent({ priority: null, messages: null })).toEqual({ extra: {}, dropped: [], refused: null });
      });
    } else {
      it('is closed itself, and gets every member', () => {
        expect(sent(ALL)).toEqual({ extra: ALL, dropped: [], refused: null });
      });
    }
  },
);
