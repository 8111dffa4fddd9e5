// The inputs of all calls, and the one vector of each: the upstream's answers, and the reference for checks.
const INPUTS = 256;
const DISTINCT_BODIES = { 1: INPUTS, 100: 8 };

/** About as long as a sentence; the upstream maps the number at its end to a vector. */
const textOf = (number) =>
  `A gateway hands on what it was given, whole and in order, and says so when it cannot; number ${number}`;

const numberOf = (text) => Number(text.slice(text.lastIndexOf(' ') + 1));

/** A unit vector that depends on the input's number alone: Mulberry32, so that neighbours have nothing in common. */
function vectorOf(number, dimensions) {
  let state = (number + 1) * 0x9e3779b9;
  const vector = new Float32Array(dimensions);
  for (let index = 0; index < dimensions; index++) {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    vector[index] = ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1;
  }
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

const bytesOf = (vector) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);

/** Different bodies, so that caching of one body along the way does not pay. */
export function callBodies({ inputs, format, dimensions }, model) {
  return Array.from({ length: DISTINCT_BODIES[inputs] ?? 1 }, (_, first) => {
    const texts = Array.from({ length: inputs }, (_each, index) => textOf((first * 7 + index) % INPUTS));
    const input = inputs === 1 ? texts[0] : texts;
    return JSON.stringify({ model, input, encoding_format: format, dimensions });
  });
}

/** The whole answer of the upstream to one body, as on the wire. */
export function upstreamAnswer(body) {
  const { model, input, encoding_format: format = 'float', dimensions = 3072 } = JSON.parse(body);
  const texts = [input].flat();
  const data = texts.map((text, index) => {
    const vector = vectorOf(numberOf(text), dimensions);
    const embedding =
      format === 'base64' ? `"${bytesOf(vector).toString('base64')}"` : `[${Array.from(vector).join(',')}]`;
    return `{"object":"embedding","index":${index},"embedding":${embedding}}`;
  });
  const tokens = texts.length * 25;
  const answer = `{"object":"list","data":[${data.join(',')}],"model":${JSON.stringify(model)},"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`;
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`,
    'latin1',
  );
}

/** Throws unless the answer has the vector of every input of the body, in order and bit by bit. */
export function checkAnswer(body, answer) {
  const { input, encoding_format: format, dimensions } = JSON.parse(body);
  const texts = [input].flat();
  const { data } = JSON.parse(answer);
  if (data.length !== texts.length) throw new Error(`${data.length} vectors for ${texts.length} inputs`);
  for (const [index, text] of texts.entries()) {
    const { embedding } = data[index];
    const bytes =
      format === 'base64' ? Buffer.from(embedding, 'base64') : bytesOf(Float32Array.from(embedding));
    if (!bytes.equals(bytesOf(vectorOf(numberOf(text), dimensions))))
      throw new Error(`input ${index} got another vector than its own`);
  }
}
