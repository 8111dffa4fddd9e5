import { expect, it } from '@jest/globals';
import type { Proposal } from '../../api/imports';
import { isSelectedAtFirst, isTakenAlone, isTakenTogether, listsOf, problemOf } from './proposals';

const choice = { lists: ['one', 'two'], model: {} as Record<string, never>, problem: null };
const proposal = (changed: Partial<Proposal> = {}): Proposal => ({
  number: 0,
  group: 'new',
  kind: 'chat_models',
  id: 'openai/chat-1',
  provider: 'openai',
  upstream_model: 'chat-1',
  prices: [{ member: 'prompt', own: null, values: [{ list: 'one', value: '1' }] }],
  holds: [],
  summary: 'openai chat-1',
  choices: [choice],
  applied_version: null,
  ...changed,
});

it('selects new models on which lists agree, and no other proposal', () => {
  expect(isSelectedAtFirst(proposal())).toBe(true);
  expect(isSelectedAtFirst(proposal({ group: 'cheaper' }))).toBe(false);
  expect(isSelectedAtFirst(proposal({ holds: [{ reason: 'factor of 2', is_typed: false }] }))).toBe(false);
  expect(isSelectedAtFirst(proposal({ applied_version: 3 }))).toBe(false);
});

it('takes held proposals and those of lists that disagree one by one', () => {
  const held = proposal({ group: 'dearer', holds: [{ reason: 'factor of 1000', is_typed: true }] });
  const divided = proposal({ group: 'lists disagree', choices: [choice, choice] });
  const lonely = proposal({ group: 'one list' });
  for (const one of [held, divided, lonely]) {
    expect(isTakenAlone(one)).toBe(true);
    expect(isTakenTogether(one)).toBe(false);
  }
  expect(isTakenTogether(proposal({ group: 'cheaper' }))).toBe(true);
});

it('says why a proposal cannot be applied', () => {
  const problem = 'CATALOGUE_FILE defines it';
  expect(problemOf(proposal({ choices: [{ ...choice, problem }] }))).toBe(problem);
  expect(problemOf(proposal({ choices: [] }))).toBe('It is for a price of your own.');
  expect(problemOf(proposal({ choices: [{ ...choice, problem }, choice] }))).toBeNull();
});

it('names every list with a value once', () => {
  const prices = ['one', 'two'].map((list) => ({
    member: 'prompt',
    own: null,
    values: [{ list, value: '1' }],
  }));
  expect(listsOf([proposal(), proposal({ prices })])).toEqual(['one', 'two']);
});
