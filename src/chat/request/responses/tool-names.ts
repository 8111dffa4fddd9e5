// Names of tools in the kernel, whose tools are functions: custom tools and those of a namespace get names of functions. A pure
// function of the declaration, so that calls of earlier turns find the same name (docs/contract.md#responses).
import { createHash } from 'node:crypto';
import type { DeclaredTool } from '../../../domain/chat/chat-request.js';

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

export function kernelName({ namespace, name }: Pick<DeclaredTool, 'namespace' | 'name'>): string {
  const whole = namespace === null ? name : `${namespace}__${name}`;
  if (whole.length <= MAX_LENGTH) return whole;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, HASH_LENGTH);
  return `${whole.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}

/** The only property of a custom tool's function. */
export const CUSTOM_INPUT = 'input';

/** The plain text of a custom tool's call as the arguments of its function. */
export function customArguments(input: string): string {
  return JSON.stringify({ [CUSTOM_INPUT]: input });
}
