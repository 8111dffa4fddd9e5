// The inputs of tool calls as the client wrote them: numbers keep their digits in a wire whose arguments are a text.
import { JsonScanner } from '../../../json/json-scanner.js';

class NotJson extends Error {}

export class RawInputs {
  private turns: readonly Buffer[] | null = null;
  private readonly byTurn = new Map<number, readonly (string | null)[]>();

  /** `messages`: JSON of a list. */
  constructor(private readonly messages: Buffer) {}

  of(turn: number, block: number): string {
    this.turns ??= elementsOf(this.messages);
    let inputs = this.byTurn.get(turn);
    if (inputs === undefined) this.byTurn.set(turn, (inputs = inputsIn(this.turns[turn])));
    return inputs[block] ?? '{}';
  }
}

function inputsIn(turn: Buffer | undefined): (string | null)[] {
  const content = turn && memberOf(turn, 'content');
  if (!content || !new JsonScanner(content, NotJson).isArray()) return [];
  return elementsOf(content).map((block) => memberOf(block, 'input')?.toString() ?? null);
}

function elementsOf(list: Buffer): Buffer[] {
  const scanner = new JsonScanner(list, NotJson);
  const elements: Buffer[] = [];
  scanner.eachElement(() => elements.push(scanner.rawValue()));
  return elements;
}

/** Of a repeated member the last, as parsers take it. Null: absent. */
function memberOf(object: Buffer, wanted: string): Buffer | null {
  const scanner = new JsonScanner(object, NotJson);
  let found: Buffer | null = null;
  scanner.eachMember((name) => {
    if (name === wanted) found = scanner.rawValue();
    else scanner.skipValue();
  });
  return found;
}
