// The plain input of a custom tool out of the arguments of its function, while they come: `{"input": "..."}`. Arguments of another
// form are the input themselves (docs/contract.md#responses-answer).

const BEGINNING = /^\s*\{\s*"input"\s*:\s*"/;
/** Of an input that has not begun yet. */
const PART_OF_BEGINNING = /^\s*(?:\{\s*(?:"(?:i(?:n(?:p(?:u(?:t(?:"\s*(?::\s*)?)?)?)?)?)?)?)?)?$/;
/** At the end of a text: an escape that goes on, or the first half of a pair. */
const UNFINISHED = /(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?$/;
const CONTROL = /\p{Cc}/gu;
/** Characters, with spaces. */
const MAX_BEGINNING = 256;
const NOTHING = Buffer.alloc(0);

export class CustomInput {
  private state: 'beginning' | 'inside' | 'over' | 'other' = 'beginning';
  /** The end of the arguments' JSON text that is no whole character yet. */
  private spelled = '';
  /** Arguments that are not decided or not whole yet. */
  private text = '';

  /** `bytes[from, to)`: the inside of a JSON string. Returns the same of the input's next part. */
  push(bytes: Buffer, from: number, to: number): Buffer {
    if (this.state === 'over') return NOTHING;
    const spelled = this.spelled + bytes.toString('utf8', from, to);
    const whole = wholePart(spelled);
    this.spelled = spelled.slice(whole.length);
    this.text += plainText(whole);
    return escaped(this.next());
  }

  /** The rest of the input. */
  end(): Buffer {
    this.text += plainText(this.spelled.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, ''));
    this.spelled = '';
    if (this.state === 'inside') return escaped(this.next());
    if (this.state === 'over') return NOTHING;
    return escaped(inputIn(this.text) ?? this.text);
  }

  private next(): string {
    if (this.state === 'beginning') {
      const [beginning] = BEGINNING.exec(this.text) ?? [];
      if (beginning !== undefined) {
        this.state = 'inside';
        this.text = this.text.slice(beginning.length);
      } else if (this.text.length > MAX_BEGINNING || !PART_OF_BEGINNING.test(this.text)) this.state = 'other';
    }
    if (this.state !== 'inside') return '';
    const end = endOfString(this.text);
    const inside = end === -1 ? wholePart(this.text) : this.text.slice(0, end);
    this.text = this.text.slice(inside.length);
    if (end !== -1) this.state = 'over';
    return plainText(inside);
  }
}

/** Without an escape, or a pair, that goes on. */
function wholePart(spelled: string): string {
  // A backslash that is escaped itself begins nothing.
  const masked = spelled.replaceAll(/\\\\/g, '\0\0');
  const [unfinished = ''] = UNFINISHED.exec(masked) ?? [];
  return spelled.slice(0, spelled.length - unfinished.length);
}

/** Of the closing quote; -1: the string goes on. */
function endOfString(text: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return -1;
}

/** Models write line breaks as they are, and escapes that JSON does not have: those stay as they are. */
function plainText(spelled: string): string {
  try {
    return JSON.parse(`"${spelled.replace(CONTROL, (one) => JSON.stringify(one).slice(1, -1))}"`) as string;
  } catch {
    return spelled;
  }
}

function inputIn(text: string): string | null {
  try {
    const { input } = JSON.parse(text) as { readonly input?: unknown };
    return typeof input === 'string' ? input : null;
  } catch {
    return null;
  }
}

function escaped(text: string): Buffer {
  return text === '' ? NOTHING : Buffer.from(JSON.stringify(text.toWellFormed()).slice(1, -1));
}
