// The receiver's answer to a test.
import type { ConnectionTest } from '../../api/destinations';
import { formatDuration } from '../../format';
import { platformWords } from './platform-words';
import { Notice } from './states';

export function TestResult({ name, result }: { readonly name: string; readonly result: ConnectionTest }) {
  return result.ok ? (
    <Notice tone="info">
      {name} accepted the test in {formatDuration(result.duration_ms)}.
    </Notice>
  ) : (
    <Notice tone="bad">
      The test failed after {formatDuration(result.duration_ms)}:{' '}
      <bdi>{platformWords(result.reason ?? '')}</bdi>
    </Notice>
  );
}
