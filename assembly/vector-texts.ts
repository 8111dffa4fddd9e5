// Judges the texts that vectors travel as. AssemblyScript: the build compiles it to WebAssembly, for
// src/vectors/vector-texts.ts.
export { areFinite } from './base64-floats';
export { countNumbers } from './json-numbers';
export { TEXT } from './text';
