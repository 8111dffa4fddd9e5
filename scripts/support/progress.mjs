// Shows the progress of slow steps: a line at the start, a sign of life while the step runs, a line at its end.
const HEARTBEAT_MS = 5000;

/** A command whose standard output is its result passes process.stderr. */
export function createProgress(stream = process.stdout) {
  const isTerminal = stream.isTTY === true;
  return {
    line(text) {
      stream.write(`${text}\n`);
    },

    async step(title, work) {
      const begunAt = Date.now();
      const elapsed = (digits) => `${((Date.now() - begunAt) / 1000).toFixed(digits)} s`;
      // \r and "erase to the end of the line" rewrite the same line.
      const write = (text) => stream.write(isTerminal ? `\r\u001B[K${text}` : `${text}\n`);
      write(`${title} …`);
      const timer = setInterval(() => write(`${title} … ${elapsed(0)}`), isTerminal ? 1000 : HEARTBEAT_MS);
      try {
        const result = await work();
        write(`${title}: done in ${elapsed(1)}${isTerminal ? '\n' : ''}`);
        return result;
      } catch (error) {
        write(`${title}: failed after ${elapsed(1)}${isTerminal ? '\n' : ''}`);
        throw error;
      } finally {
        clearInterval(timer);
      }
    },
  };
}
