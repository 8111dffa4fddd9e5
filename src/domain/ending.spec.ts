// The one cause of a call's end (docs/contract.md#endings).
import { describe, expect, it } from '@jest/globals';
import { endingOf, ENDINGS, ruleOf } from './ending.js';
import type { EndFacts, Ending } from './ending.js';

const BEFORE: EndFacts = { hasContent: false, isComplete: false, caller: null, stop: null, limit: null };
const AFTER: EndFacts = { ...BEFORE, hasContent: true };
const COMPLETE: EndFacts = { ...AFTER, isComplete: true };

describe('the ending of a call', () => {
  it.each<[string, EndFacts, Ending]>([
    ['a complete answer', COMPLETE, 'completed'],
    ['a complete answer before a bound', { ...COMPLETE, limit: 'bound' }, 'completed'],
    ['a complete answer before the deadline', { ...COMPLETE, stop: 'deadline' }, 'completed'],
    ['a complete answer without its caller', { ...COMPLETE, caller: 'left' }, 'caller_left'],
    ['a failure before content', BEFORE, 'provider_before_content'],
    ['a failure after content', AFTER, 'provider_after_content'],
    ['a caller that leaves before a deadline', { ...AFTER, caller: 'left', stop: 'deadline' }, 'caller_left'],
    ['a caller that leaves before a bound', { ...BEFORE, caller: 'left', limit: 'bound' }, 'caller_left'],
    ['a slow caller', { ...AFTER, caller: 'too_slow' }, 'caller_too_slow'],
    ['the deadline before content', { ...BEFORE, stop: 'deadline', limit: 'timeout' }, 'own_deadline'],
    ['the deadline after content', { ...AFTER, stop: 'deadline' }, 'caller_deadline'],
    ['a bound before content', { ...BEFORE, limit: 'bound' }, 'own_bound'],
    ['a bound after content', { ...AFTER, limit: 'bound' }, 'own_bound'],
    ['a time-out before content', { ...BEFORE, limit: 'timeout' }, 'own_timeout'],
    ['silence after content', { ...AFTER, limit: 'timeout' }, 'provider_after_content'],
    ['the end of the process before content', { ...BEFORE, stop: 'shutdown' }, 'shutdown_before_content'],
    ['the end of the process after content', { ...AFTER, stop: 'shutdown' }, 'shutdown'],
  ])('of %s', (_name, facts, ending) => {
    expect(endingOf(facts)).toBe(ending);
  });

  it('says something of the endpoint only where its provider decides it', () => {
    const telling = Object.keys(ENDINGS).filter((ending) => ruleOf(ending as Ending).health === 'failure');
    expect(telling).toEqual(['provider_before_content', 'provider_after_content', 'own_timeout']);
    const good = Object.keys(ENDINGS).filter((ending) => ruleOf(ending as Ending).health === 'success');
    expect(good).toEqual(['completed']);
  });

  it('is charged wherever the caller has caused it', () => {
    for (const { cause, isCharged } of Object.values(ENDINGS))
      if (cause === 'caller') expect(isCharged).toBe(true);
  });
});
