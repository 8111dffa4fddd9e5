// The inputs of tool calls as the client wrote them: numbers keep their digits in a wire whose arguments are a text.
import { isRawList, rawElements, rawMember } from '../../../json/raw-values.js';

export class RawInputs {
  private turns: readonly Buffer[] | null = null;
  private readonly byTurn = new Map<number, readonly (string | null)[]>();

  /** `messages`: JSON of a list. */
  constructor(private readonly messages: Buffer) {}

  of(turn: number, block: number): string {
    this.turns ??= rawElements(this.messages);
    let inputs = this.byTurn.get(turn);
    if (inputs === undefined) this.byTurn.set(turn, (inputs = inputsIn(this.turns[turn])));
    return inputs[block] ?? '{}';
  }
}

function inputsIn(turn: Buffer | undefined): (string | null)[] {
  const content = turn && rawMember(turn, 'content');
  if (!content || !isRawList(content)) return [];
  return rawElements(content).map((block) => rawMember(block, 'input')?.toString() ?? null);
}
