// Embeds texts: the request on one side, the vectors and what they cost on the other.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { exampleModel, modelsQuery } from '../../api/models';
import { embed } from '../../api/playground';
import type { EmbeddingCall } from '../../api/playground';
import { Button } from '../../components/actions/button';
import { CodeSamples } from '../../components/data/code-samples';
import { embeddingSamples } from '../../components/data/samples';
import { Section } from '../../components/display/section';
import { EmptyState, ErrorState, Placeholder } from '../../components/feedback/states';
import { FieldRow, Form, TextAreaField, TextField } from '../../components/form/form';
import { readWholeNumber } from '../../components/form/read-number';
import { EmbeddingResult } from './embedding-result';
import { ModelField } from './model-field';
import { PayerField, WithPayer } from './payer';
import type { Payer } from './payer';
import styles from './playground.module.css';

const EXAMPLE =
  'The quick brown fox jumps over the lazy dog\nA fast auburn fox leaps over a sleepy hound\nQuarterly revenue grew by nine percent';
const INPUT_TYPES = ['search_document', 'search_query', 'classification', 'clustering'];

const textsOf = (area: string): string[] => area.split('\n').filter((line) => line.trim() !== '');

export function EmbeddingPlayground() {
  return <WithPayer title="Embeddings">{(payer) => <EmbeddingCalls payer={payer} />}</WithPayer>;
}

function EmbeddingCalls({ payer }: { readonly payer: Payer }) {
  const client = useQueryClient();
  const models = useQuery(modelsQuery);
  const [chosenModel, setModel] = useState<string>();
  const [area, setArea] = useState(EXAMPLE);
  const [width, setWidth] = useState('');
  const [inputType, setInputType] = useState('');
  const run = useMutation({
    mutationFn: embed,
    onSettled: () => client.invalidateQueries({ queryKey: ['generations'] }),
  });
  const model = chosenModel ?? exampleModel(models.data);
  const texts = textsOf(area);
  const dimensions = readWholeNumber(width);
  const call: EmbeddingCall = {
    keyHash: payer.hash,
    model,
    texts,
    dimensions: dimensions.value,
    inputType: inputType === '' ? undefined : inputType,
  };
  const send = () => {
    if (dimensions.problem === undefined) run.mutate(call);
  };
  return (
    <div className={styles.columns}>
      <Section title="Embeddings">
        <Form fields={['model', 'input', 'dimensions', 'input_type']} error={run.error} onSubmit={send}>
          <ModelField kind="embeddings" value={model} onChange={setModel} />
          <TextAreaField
            name="input"
            label="Texts, one on each line"
            rows={6}
            dir="auto"
            value={area}
            onChange={({ target }) => setArea(target.value)}
          />
          <FieldRow>
            <TextField
              name="dimensions"
              label="Dimensions"
              inputMode="numeric"
              placeholder="The model's own"
              problem={dimensions.problem}
              value={width}
              onChange={({ target }) => setWidth(target.value)}
            />
            <TextField
              name="input_type"
              label="Input type"
              list="playground-input-types"
              placeholder="None"
              value={inputType}
              onChange={({ target }) => setInputType(target.value)}
            />
            <datalist id="playground-input-types">
              {INPUT_TYPES.map((type) => (
                <option key={type} value={type} />
              ))}
            </datalist>
          </FieldRow>
          <PayerField payer={payer} />
          <div>
            <Button type="submit" variant="primary" isBusy={run.isPending}>
              {run.isPending
                ? 'Embedding…'
                : texts.length === 1
                  ? 'Embed 1 text'
                  : `Embed ${texts.length} texts`}
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
              <EmbeddingResult answer={run.data} />
            ) : (
              <EmptyState title="No call yet">
                Vectors, their similarity, usage, cost and latency show here.
              </EmptyState>
            )}
          </div>
        </Section>
        <Section title="The same call from your code">
          <CodeSamples
            label="Languages"
            samples={embeddingSamples({
              key: 'YOUR_KEY',
              model,
              input: texts.length === 1 ? (texts[0] ?? '') : texts,
              dimensions: call.dimensions,
              inputType: call.inputType,
            })}
          />
        </Section>
      </div>
    </div>
  );
}
