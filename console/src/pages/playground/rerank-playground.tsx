// Orders documents by a query: the request on one side, the order and what it cost on the other.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { exampleModel, modelChoicesQuery } from '../../api/models';
import { rerank } from '../../api/playground';
import type { RerankAnswer } from '../../api/playground';
import { Button } from '../../components/actions/button';
import { CodeSamples } from '../../components/data/code-samples';
import { baseUrl, curlSample } from '../../components/data/samples';
import { DescriptionList, Section } from '../../components/display/section';
import { Name } from '../../components/display/values';
import { EmptyState, ErrorState, Placeholder } from '../../components/feedback/states';
import { FieldRow, Form, TextAreaField, TextField } from '../../components/form/form';
import { readWholeNumber } from '../../components/form/read-number';
import { formatCount, formatCountOf, formatDuration } from '../../format';
import { CallCost, GenerationRecord } from './call-figures';
import { ModelField } from './model-field';
import { PayerField, WithPayer } from './payer';
import type { Payer } from './payer';
import styles from './playground.module.css';

const QUERY = 'Which animal jumps?';
const DOCUMENTS =
  'Quarterly revenue grew by nine percent\nThe quick brown fox jumps over the lazy dog\nFoxes sleep during the day';

const textsOf = (area: string): string[] => area.split('\n').filter((line) => line.trim() !== '');

export function RerankPlayground() {
  return <WithPayer title="Rerank">{(payer) => <RerankCalls payer={payer} />}</WithPayer>;
}

function RerankCalls({ payer }: { readonly payer: Payer }) {
  const client = useQueryClient();
  const models = useQuery(modelChoicesQuery('rerank'));
  const [chosenModel, setModel] = useState<string>();
  const [query, setQuery] = useState(QUERY);
  const [area, setArea] = useState(DOCUMENTS);
  const [most, setMost] = useState('');
  const run = useMutation({
    mutationFn: rerank,
    onSettled: () => client.invalidateQueries({ queryKey: ['generations'] }),
  });
  const model = chosenModel ?? exampleModel(models.data, 'rerank');
  const documents = textsOf(area);
  const topN = readWholeNumber(most);
  const send = () => {
    if (topN.problem === undefined)
      run.mutate({ keyHash: payer.hash, model, query, documents, topN: topN.value });
  };
  return (
    <div className={styles.columns}>
      <Section title="Rerank">
        <Form fields={['model', 'query', 'documents', 'top_n']} error={run.error} onSubmit={send}>
          <ModelField kind="rerank" value={model} onChange={setModel} />
          <TextField
            name="query"
            label="Query"
            dir="auto"
            value={query}
            onChange={({ target }) => setQuery(target.value)}
          />
          <TextAreaField
            name="documents"
            label="Documents, one on each line"
            rows={6}
            dir="auto"
            value={area}
            onChange={({ target }) => setArea(target.value)}
          />
          <FieldRow>
            <TextField
              name="top_n"
              label="Results at most"
              inputMode="numeric"
              placeholder="All documents"
              problem={topN.problem}
              value={most}
              onChange={({ target }) => setMost(target.value)}
            />
          </FieldRow>
          <PayerField payer={payer} />
          <div>
            <Button type="submit" variant="primary" isBusy={run.isPending}>
              {run.isPending ? 'Ranking…' : `Rank ${formatCountOf(documents.length, 'document')}`}
            </Button>
          </div>
        </Form>
      </Section>
      <div className={styles.column}>
        <Section title="Result">
          <div aria-live="polite">
            {run.isPending ? (
              <Placeholder lines={8} />
            ) : run.error !== null ? (
              <ErrorState error={run.error} onRetry={send} />
            ) : run.data !== undefined ? (
              <RerankResult answer={run.data} count={run.variables.documents.length} />
            ) : (
              <EmptyState title="No call yet">
                The order of the documents, their scores, search units, cost and latency show here.
              </EmptyState>
            )}
          </div>
        </Section>
        <Section title="The same call from your code">
          <CodeSamples
            label="Languages"
            samples={rerankSamples({ model, query, documents, top_n: topN.value })}
          />
        </Section>
      </div>
    </div>
  );
}

function RerankResult({ answer, count }: { readonly answer: RerankAnswer; readonly count: number }) {
  const { results, model, provider, usage, latency, generationId } = answer;
  const { search_units: units, total_tokens: tokens } = usage;
  return (
    <div className={styles.result}>
      <DescriptionList
        items={[
          ['Provider', provider],
          ['Model', <Name key="model" text={model} />],
          ['Latency', formatDuration(latency)],
          ...(units === undefined
            ? []
            : [['Search units', `${formatCount(units)}, ${usage.source}`] as const]),
          ...(tokens === undefined ? [] : [['Tokens', formatCount(tokens)] as const]),
          ['Cost', <CallCost key="cost" usd={usage.cost} isByok={usage.is_byok} />],
          ...(generationId === null
            ? []
            : [['Generation', <GenerationRecord key="generation" id={generationId} />] as const]),
        ]}
      />
      <ol className={styles.vectors} aria-label="Documents, the best first">
        {results.map(({ index, relevance_score: score, document }, place) => (
          <li key={index} className={styles.vector}>
            <div className={styles.vectorHead}>
              <span className={styles.number}>{place + 1}</span>
              <Name text={document.text ?? 'An image'} />
              <span className={styles.hint}>line {index + 1}</span>
            </div>
            <code className={styles.numbers}>{score}</code>
          </li>
        ))}
      </ol>
      <p className={styles.hint}>
        {results.length < count && `The best ${results.length} of ${formatCountOf(count, 'document')}. `}
        Scores of different models cannot be compared.
      </p>
    </div>
  );
}

interface RerankBody {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  readonly top_n: number | undefined;
}

function rerankSamples(body: RerankBody) {
  const json = JSON.stringify(body, null, 2);
  return [
    { language: 'curl', code: curlSample('/rerank', 'YOUR_KEY', json) },
    {
      language: 'TypeScript',
      code: `const response = await fetch('${baseUrl()}/rerank', {
  method: 'POST',
  headers: { Authorization: 'Bearer YOUR_KEY', 'Content-Type': 'application/json' },
  body: JSON.stringify(${json.replaceAll('\n', '\n  ')}),
});
const { results } = await response.json();
console.log(results[0].document.text);`,
    },
    {
      language: 'Python',
      code: `import requests

answer = requests.post(
    "${baseUrl()}/rerank",
    headers={"Authorization": "Bearer YOUR_KEY"},
    json=${json.replaceAll('\n', '\n    ')},
).json()
print(answer["results"][0]["document"]["text"])`,
    },
  ];
}
