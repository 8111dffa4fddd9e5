// Frames of AWS as the vendor's own codec writes them.
import { EventStreamCodec } from '@smithy/eventstream-codec';

type Members = Readonly<Record<string, unknown>>;

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString(),
  (text) => Buffer.from(text),
);
const text = (value: string) => ({ type: 'string' as const, value });

export function eventFrame(type: string, payload: Members): Buffer {
  return frame(
    { ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' },
    payload,
  );
}

export function exceptionFrame(type: string, message: string): Buffer {
  return frame({ ':message-type': 'exception', ':exception-type': type }, { message });
}

/** An event of Anthropic's wire in one of Bedrock's chunks. */
export function chunkFrame(event: Members): Buffer {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
  return eventFrame('chunk', { bytes, p: 'abcdef' });
}

function frame(headers: Readonly<Record<string, string>>, payload: Members): Buffer {
  return Buffer.from(
    codec.encode({
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, text(value)])),
      body: Buffer.from(JSON.stringify(payload)),
    }),
  );
}
