// The origin of models and prices, and how an operator adds their own.
import { useQuery } from '@tanstack/react-query';
import { useCan } from '../../app/rights';
import { systemQuery } from '../../api/system';
import { CodeBlock } from '../../components/data/code-block';
import { Section } from '../../components/display/section';
import { Time } from '../../components/display/values';
import { Notice } from '../../components/feedback/states';
import { formatCountOf } from '../../format';
import styles from './models.module.css';

const EXAMPLE = `models:
  # Another price for a shipped model, from a day on.
  - id: openai/text-embedding-3-small
    endpoints:
      - provider: openai
        prices:
          - { effective_from: 2026-10-01, usd_per_million_tokens: 0.018, source: our contract }
`;

export function CatalogueNote() {
  const { data } = useQuery({ ...systemQuery, enabled: useCan()('system.read') });
  // The models show without it.
  if (data === undefined) return null;
  const {
    file,
    loaded_at: loadedAt,
    problem,
    embedding_models: embeddings,
    chat_models: chats,
  } = data.catalogue;
  return (
    <Section title="Catalogue">
      <div className={styles.stack}>
        <p>
          {file === null ? (
            'The models and prices that this version brings along'
          ) : (
            <>
              <code>{file}</code> over the models that this version brings along
            </>
          )}
          : {formatCountOf(embeddings, 'embedding model')} and {formatCountOf(chats, 'chat model')}, loaded{' '}
          <Time at={loadedAt} isRelative isPast />.
        </p>
        {problem !== null && (
          <Notice tone="bad">
            The changed file is not in force, and the former catalogue stays: {problem}
          </Notice>
        )}
        <details>
          <summary>Add models or prices with a file</summary>
          <p>
            Set <code>CATALOGUE_FILE</code> of the service to a YAML file. The service reads it at the start
            and after every change; <code>docs/catalogue.example.yaml</code> describes all members. The models
            that it defines cannot be changed here.
          </p>
          <CodeBlock code={EXAMPLE} what="catalogue example" />
        </details>
      </div>
    </Section>
  );
}
