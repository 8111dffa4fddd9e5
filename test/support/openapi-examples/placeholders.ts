// Makes an answer fit to be printed: what differs from run to run, or must stay secret, gives way to fixed values.
import { createHash } from 'node:crypto';

const MOMENT = '2026-11-18T12:00:00.000Z';
const MAX_ITEMS = 2;
// The figures of a machine of no particular speed.
const MEASURED: Readonly<Record<string, number>> = {
  latency: 84,
  generation_time: 92,
  duration_ms: 61,
  query_time_ms: 14,
  p50: 84,
  p75: 97,
  p90: 121,
  p99: 180,
};
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const HASH = /(?<!sk-sb-[vt]1-)\b[0-9a-f]{64}\b/g;
// A code that a program exchanges for a key.
const CODE = /^(?:id|code)=[\w-]{43}$/;
// The two wire forms of a generation's id.
const WITHOUT_DASHES = /\b(?<prefix>embd|gen)-(?<digits>[0-9a-f]{32})\b/g;

const digitsOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const withDashes = (digits: string): string =>
  digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** A UUID of version 7 from other digits. */
const uuidOf = (digits: string): string =>
  withDashes(`${digits.slice(0, 12)}7${digits.slice(12, 15)}8${digits.slice(15, 30)}`);

export class Placeholders {
  private readonly known = new Map<string, string>();

  /** `addresses`: what stands for the address of a server that the examples were made with. */
  constructor(private readonly addresses: Readonly<Record<string, string>>) {}

  /** The same with placeholders; lists, where they are not vectors, cut to their first items. */
  readonly print = (value: unknown, cutLists: boolean, member = ''): unknown => {
    if (typeof value === 'string')
      return CODE.test(`${member}=${value}`) ? 'A'.repeat(43) : this.printText(value);
    if (typeof value === 'number') return MEASURED[member] ?? value;
    if (Array.isArray(value)) {
      const isVector = typeof value[0] === 'number';
      const shown = cutLists && !isVector ? value.slice(0, MAX_ITEMS) : value;
      return shown.map((item) => this.print(item, cutLists));
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, this.print(item, cutLists, name)]),
    );
  };

  private printText(text: string): string {
    let shown = text;
    for (const [address, name] of Object.entries(this.addresses)) shown = shown.replaceAll(address, name);
    return shown
      .replaceAll(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJhbGciOiJFUzI1NiIsImtpZCI6ImtleS0xIn0...')
      .replaceAll(/\bsk-sb-([vt]1)-[0-9a-f]{64}\b/g, `sk-sb-$1-${'0'.repeat(64)}`)
      .replaceAll(/\bsk-sb-v1-\w{3}\.\.\.\w{4}\b/g, 'sk-sb-v1-45a...7480')
      .replaceAll(/\bwhsec_[\w+/=]+/g, `whsec_${'0'.repeat(43)}=`)
      .replaceAll(UUID, (id) => this.stands(id, uuidOf))
      .replaceAll(WITHOUT_DASHES, (_id, prefix: string, digits: string) => {
        const id = this.stands(withDashes(digits), uuidOf);
        return `${prefix}-${id.replaceAll('-', '')}`;
      })
      .replaceAll(HASH, (hash) => this.stands(hash, (digits) => digits))
      .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(?!000Z)\d+Z/g, MOMENT);
  }

  /** The first of a run is the same in every run, and so is the second. */
  private stands(original: string, make: (digits: string) => string): string {
    const known = this.known.get(original) ?? make(digitsOf(`example ${this.known.size}`));
    this.known.set(original, known);
    return known;
  }
}
