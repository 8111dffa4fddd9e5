// Regular expressions: compiled on first use, matched in pieces, and cached within a memory bound.
import { RE2JS } from 're2js';
import { sizeOfRegex } from './regex-size.js';

/** A long computation in pieces of at most a few milliseconds, between which its runner may pause. */
export type Pieces<Result> = Generator<undefined, Result>;

// Bytes of all cached programs with their states, of one instruction, and of the states of one program. A state is a
// set of instructions that a text led to; most texts lead to few. Beyond the bound they are computed again.
const KEPT = 64_000_000;
const BYTES_OF_INSTRUCTION = 1_000;
const BYTES_OF_STATES = 1_000_000;
// Steps of one piece: instructions when states are computed, characters when they are cached.
const INSTRUCTIONS_OF_PIECE = 8_000;
const CHARACTERS_OF_PIECE = 4_000;
const FROM_ANYWHERE = 0;
const END_OF_TEXT = -1;

type Automaton = ReturnType<RE2JS['re2']>['dfa'];

interface State {
  readonly isMatch: boolean;
  /** By character class; null when it is not computed yet. */
  readonly next: readonly (State | null)[] | null;
}

interface Program {
  readonly automaton: Automaton;
  readonly size: number;
}

interface Kept {
  readonly program: Program;
  readonly bytes: number;
}

/** By pattern, least recently used first. */
const PROGRAMS = new Map<string, Kept>();
let bytesKept = 0;

/** Throws on invalid RE2. Patterns that are too large must be refused before. */
export function compileRegex(pattern: string): void {
  programOf(pattern);
}

/** Whether the expression matches anywhere in the text, like RE2 unless it is anchored. */
export function* matchPieces(pattern: string, text: string): Pieces<boolean> {
  return (yield* endOfFirstMatch(pattern, text)) !== null;
}

/** Where the first character ends that completes a match; null: none does. Takes linear time, and pauses between characters. */
export function* endOfFirstMatch(pattern: string, text: string): Pieces<number | null> {
  const program = programOf(pattern);
  const { automaton, size } = program;
  let state = startOf(automaton);
  let room = INSTRUCTIONS_OF_PIECE;
  let at = 0;
  while (at <= text.length) {
    const rune = text.codePointAt(at) ?? END_OF_TEXT;
    const runeClass = rune === END_OF_TEXT ? automaton.numClasses : automaton.runeClass(rune);
    const known = state.next?.[runeClass] ?? null;
    room -= known ? INSTRUCTIONS_OF_PIECE / CHARACTERS_OF_PIECE : size;
    state = known ?? follow(automaton, state, runeClass, rune);
    at += rune > 0xffff ? 2 : 1;
    if (state.isMatch) break;
    if (room <= 0) {
      yield;
      room = INSTRUCTIONS_OF_PIECE;
    }
  }
  keep(pattern, program);
  return state.isMatch ? Math.min(at, text.length) : null;
}

function programOf(pattern: string): Program {
  const kept = PROGRAMS.get(pattern);
  if (kept) return kept.program;
  const automaton = RE2JS.compile(pattern).re2().dfa;
  automaton.stateBudget = BYTES_OF_STATES;
  automaton.clearCache();
  const program = { automaton, size: sizeOfRegex(pattern).size };
  keep(pattern, program);
  return program;
}

/** Call after every use, because the program may have grown. */
function keep(pattern: string, program: Program): void {
  const { automaton, size } = program;
  const bytes = size * BYTES_OF_INSTRUCTION + automaton.stateBudget - automaton.memBudget;
  forget(pattern);
  PROGRAMS.set(pattern, { program, bytes });
  bytesKept += bytes;
  for (const oldest of PROGRAMS.keys()) {
    if (bytesKept <= KEPT) break;
    forget(oldest);
  }
}

function forget(pattern: string): void {
  bytesKept -= PROGRAMS.get(pattern)?.bytes ?? 0;
  PROGRAMS.delete(pattern);
}

// The library runs its automaton through a text at once. These functions expose its single steps.

/** The automaton at the beginning of a text. */
function startOf(automaton: Automaton): State {
  return automaton.start(BEGINNING, 0) as State;
}

/** The library's context at the beginning of a text. */
const BEGINNING = { context: (): number => 0xff };

function follow(automaton: Automaton, state: State, runeClass: number, rune: number): State {
  const next = automaton.step(state, runeClass, rune, FROM_ANYWHERE) as State | null;
  if (next) return next;
  // The cache is full: forget all states except the current one.
  const same = automaton.resetCache(state) as State | null;
  const found = same && (automaton.step(same, runeClass, rune, FROM_ANYWHERE) as State | null);
  if (!found) throw new Error('the states of a regular expression take more memory than they may');
  return found;
}
