// Cosine similarities of all pairs.
import styles from './playground.module.css';

/** Texts have no other identity than their position. */
const keyOf = (position: number): string => String(position);

function cosine(left: readonly number[], right: readonly number[]): number {
  let product = 0;
  let leftSquares = 0;
  let rightSquares = 0;
  left.forEach((value, index) => {
    const other = right[index] ?? 0;
    product += value * other;
    leftSquares += value * value;
    rightSquares += other * other;
  });
  const length = Math.sqrt(leftSquares * rightSquares);
  return length === 0 ? 0 : product / length;
}

interface SimilarityMatrixProps {
  readonly vectors: readonly (readonly number[])[];
  readonly texts: readonly string[];
}

export function SimilarityMatrix({ vectors, texts }: SimilarityMatrixProps) {
  return (
    <div className={styles.scroller} role="region" aria-label="Similarity" tabIndex={0}>
      <table className={styles.matrix}>
        <caption className={styles.caption}>Cosine similarity</caption>
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">Text</span>
            </th>
            {vectors.map((_vector, column) => (
              <th key={keyOf(column)} scope="col" title={texts[column]}>
                {column + 1}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {vectors.map((left, row) => (
            <tr key={keyOf(row)}>
              <th scope="row" title={texts[row]}>
                {row + 1}
              </th>
              {vectors.map((right, column) => {
                const similarity = cosine(left, right);
                return (
                  <td
                    key={keyOf(column)}
                    style={{ '--share': `${Math.max(0, similarity) * 35}%` } as React.CSSProperties}
                  >
                    {/* No minus before a zero. */}
                    {similarity.toFixed(3).replace(/^-(0\.0+)$/, '$1')}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
