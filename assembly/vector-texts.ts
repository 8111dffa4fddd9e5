// Checks the texts that vectors travel as. The build compiles this AssemblyScript to WebAssembly for
// src/vectors/vector-texts.ts.
export { areFinite } from './base64-floats';
export { countNumbers } from './json-numbers';
export { TEXT } from './text';
