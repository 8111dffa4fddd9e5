// The entry of the vector kernel. './reference-vectors.js' exports the same functions in plain TypeScript: this import is
// the switch (README.md).
export {
  encodeVector,
  isZeroVector,
  truncateAndNormalise,
  vectorValues,
  vectorWidth,
} from './fast-vectors.js';
export type { Vector } from './vector.js';
