// Judges the texts that vectors travel as. AssemblyScript: the build compiles it to WebAssembly, for
// src/domain/vector-texts.ts.
export { areFinite } from './base64-floats';
export { countNumbers } from './json-numbers';
export { TEXT } from './text';
