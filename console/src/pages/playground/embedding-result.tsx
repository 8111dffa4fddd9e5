// The answer of one embeddings call: figures, vectors, and how similar they are.
import type { EmbeddingAnswer } from '../../api/playground';
import { CopyButton } from '../../components/actions/copy-button';
import { DescriptionList } from '../../components/display/section';
import { Name } from '../../components/display/values';
import { formatCount, formatDuration } from '../../format';
import { CallCost, GenerationRecord } from './call-figures';
import { SimilarityMatrix } from './similarity-matrix';
import styles from './playground.module.css';

// Wider vectors show their beginning.
const BARS = 96;
const NUMBERS = 6;
// More would not be read.
const MAX_SHOWN = 12;

export function EmbeddingResult({ answer }: { readonly answer: EmbeddingAnswer }) {
  const { call, vectors, model, provider, usage, latency, generationId } = answer;
  return (
    <div className={styles.result}>
      <DescriptionList
        items={[
          ['Provider', provider],
          ['Model', <Name key="model" text={model} />],
          ['Latency', formatDuration(latency)],
          ['Tokens', formatCount(usage.total_tokens)],
          ['Cost', <CallCost key="cost" usd={usage.cost} isByok={usage.is_byok} />],
          ['Width', `${formatCount(vectors[0]?.length ?? 0)} dimensions`],
          ...(generationId === null
            ? []
            : [['Generation', <GenerationRecord key="generation" id={generationId} />] as const]),
        ]}
      />
      <ol className={styles.vectors}>
        {vectors.slice(0, MAX_SHOWN).map((vector, index) => (
          <li key={keyOf(index)} className={styles.vector}>
            <div className={styles.vectorHead}>
              <span className={styles.number}>{index + 1}</span>
              <Name text={call.texts[index] ?? ''} />
              <CopyButton text={JSON.stringify(vector)} what={`vector ${index + 1}`} />
            </div>
            <VectorBars vector={vector} />
            <code className={styles.numbers}>
              [{vector.slice(0, NUMBERS).map(short).join(', ')}
              {vector.length > NUMBERS && ', …'}]
            </code>
          </li>
        ))}
      </ol>
      {vectors.length > 1 && <SimilarityMatrix vectors={vectors.slice(0, MAX_SHOWN)} texts={call.texts} />}
      {vectors.length > MAX_SHOWN && (
        <p className={styles.hint}>
          The first {MAX_SHOWN} of {formatCount(vectors.length)} vectors are shown.
        </p>
      )}
    </div>
  );
}

/** Texts and dimensions have no other identity than their position. */
const keyOf = (position: number): string => String(position);
const short = (value: number): string => value.toFixed(4);

/** The first dimensions, from the middle up or down. */
function VectorBars({ vector }: { readonly vector: readonly number[] }) {
  const shown = vector.slice(0, BARS);
  const largest = Math.max(...shown.map(Math.abs), Number.MIN_VALUE);
  return (
    <svg
      className={styles.bars}
      viewBox={`0 0 ${shown.length} 2`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`The first ${shown.length} of ${vector.length} dimensions`}
    >
      {shown.map((value, index) => {
        const height = Math.abs(value) / largest;
        return (
          <rect
            key={keyOf(index)}
            className={value < 0 ? styles.negative : styles.positive}
            x={index + 0.1}
            width={0.8}
            y={value < 0 ? 1 : 1 - height}
            height={height}
          />
        );
      })}
    </svg>
  );
}
