import { describe, expect, it } from '@jest/globals';
import { producerBehind } from '../../domain/chat/reasoning-producer.js';
import { openEnvelope, sealedReasoning } from './reasoning-envelope.js';

describe('the envelope', () => {
  it.each(['signature', 'encrypted'] as const)(
    'returns a %s unchanged, whatever the name of its model',
    (kind) => {
      const opaque = { kind, text: 'a+b/c==\n.ü' };
      const sealed = sealedReasoning(
        opaque,
        producerBehind('messages')!,
        'anthropic/claude-sonnet-5.5:thinking',
      );
      expect(sealed).toMatch(/^sbx1\.anthropic\.anthropic-claude-sonnet-5-5-thinking\.[a-z]+\.[\w-]+$/);
      expect(openEnvelope(sealed)).toEqual({ ...opaque, format: 'anthropic-claude-v1' });
    },
  );

  it.each(['gAAAAA', 'sbx1.none', 'sbx1.unknown.x.signature.YQ', ''])('is none: %s', (content) => {
    expect(openEnvelope(content)).toBeNull();
  });
});
