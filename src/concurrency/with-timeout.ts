// Bounds the time that a caller waits for work.

/**
 * Resolves or rejects as `work` does. When that takes longer, it resolves with the value of `onTimeout`, or rejects with
 * what it throws. The work itself goes on: its later end has no effect.
 */
export async function withTimeout<Value, Late>(
  work: Promise<Value>,
  milliseconds: number,
  onTimeout: () => Late,
): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  }).then(onTimeout);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
