import { describe, expect, it } from '@jest/globals';
import { openEnvelope, sealedReasoning } from './reasoning-envelope.js';

describe('the envelope', () => {
  it.each(['signature', 'encrypted'] as const)(
    'returns a %s unchanged, whatever the name of its model',
    (kind) => {
      const opaque = { kind, text: 'a+b/c==\n.ü' };
      const sealed = sealedReasoning(opaque, 'anthropic/claude-sonnet-5.5:thinking');
      expect(sealed).toMatch(/^sbx1\.anthropic\.anthropic-claude-sonnet-5-5-thinking\.[a-z]+\.[\w-]+$/);
      expect(openEnvelope(sealed)).toEqual(opaque);
    },
  );

  it.each(['gAAAAA', 'sbx1.none', 'sbx1.gemini.x.signature.YQ', ''])('is none: %s', (content) => {
    expect(openEnvelope(content)).toBeNull();
  });
});
