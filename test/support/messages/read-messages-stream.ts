// Reads the stream of a client of the Messages wire as a strict SDK does: every event in its order.
import { expect } from '@jest/globals';

type Members = Readonly<Record<string, unknown>>;

export interface ReadBlock {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  /** The joined deltas. */
  text: string;
  signature: string | null;
}

export interface ReadMessage {
  /** Of `message_start`. */
  readonly start: Members | null;
  readonly blocks: readonly ReadBlock[];
  /** The last one. */
  readonly delta: Members | null;
  readonly usage: Members | null;
  readonly isStopped: boolean;
}

const MEMBER_OF: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
};

export function messageEvents(output: string): Members[] {
  return output
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const match = /^event: ([\w.-]+)\ndata: ([^\n]+)$/.exec(block);
      if (!match) throw new Error(`no event of the wire: ${block}`);
      const data = JSON.parse(match[2] ?? '') as Members;
      expect(data['type']).toBe(match[1]);
      return data;
    });
}

/** Fails where an event stands outside of its order. */
export function readMessageStream(output: string): ReadMessage {
  let start: Members | null = null;
  let open: ReadBlock | null = null;
  let delta: Members | null = null;
  let usage: Members | null = null;
  let isStopped = false;
  const blocks: ReadBlock[] = [];
  for (const event of messageEvents(output)) {
    expect(isStopped).toBe(false);
    switch (event['type']) {
      case 'message_start':
        expect([start, blocks.length]).toEqual([null, 0]);
        start = event['message'] as Members;
        break;
      case 'content_block_start': {
        expect([start === null, open, delta, event['index']]).toEqual([false, null, null, blocks.length]);
        const { type, id, name } = event['content_block'] as ReadBlock;
        blocks.push((open = { type, ...(id && { id }), ...(name && { name }), text: '', signature: null }));
        break;
      }
      case 'content_block_delta': {
        const change = event['delta'] as Members;
        const block: ReadBlock | null = open;
        expect([block === null, event['index']]).toEqual([false, blocks.length - 1]);
        // A signature is the last delta of its block.
        expect(block?.signature).toBeNull();
        if (change['type'] === 'signature_delta') block!.signature = change['signature'] as string;
        else block!.text += change[MEMBER_OF[String(change['type'])] ?? ''] as string;
        break;
      }
      case 'content_block_stop':
        expect([open === null, event['index']]).toEqual([false, blocks.length - 1]);
        open = null;
        break;
      case 'message_delta':
        expect([open, delta]).toEqual([null, null]);
        delta = event['delta'] as Members;
        usage = event['usage'] as Members;
        break;
      case 'message_stop':
        isStopped = true;
    }
  }
  return { start, blocks, delta, usage, isStopped };
}
