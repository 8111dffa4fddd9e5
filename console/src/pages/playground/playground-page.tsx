import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { ChoiceLinks } from '../../components/actions/choice-links';
import { Page } from '../../components/display/section';
import { Placeholder } from '../../components/feedback/states';
import { EmbeddingPlayground } from './embedding-playground';
import { OPERATIONS } from './playground-search';

const ChatPlayground = lazy(async () => ({
  default: (await import('./chat/chat-playground')).ChatPlayground,
}));

const RerankPlayground = lazy(async () => ({
  default: (await import('./rerank-playground')).RerankPlayground,
}));

const route = getRouteApi('/app/playground');
const LABELS = { embed: 'Embed', chat: 'Chat', rerank: 'Rerank' } as const;
const DESCRIPTIONS = {
  embed: 'Embed texts with any model, and see what the call returns and costs. The call is a real one.',
  chat: 'Talk to any chat model, and see the answer as it comes and what it costs. The call is a real one.',
  rerank: 'Order documents by what they say about a query, and see what that costs. The call is a real one.',
} as const;

export function PlaygroundPage() {
  const { operation = 'embed' } = route.useSearch();
  return (
    <Page
      title="Playground"
      description={DESCRIPTIONS[operation]}
      actions={
        <ChoiceLinks label="Operation">
          {OPERATIONS.map((choice) => (
            <Link
              key={choice}
              to="."
              search={(search) => ({ ...search, operation: choice })}
              aria-current={choice === operation ? 'true' : undefined}
            >
              {LABELS[choice]}
            </Link>
          ))}
        </ChoiceLinks>
      }
    >
      {operation === 'embed' ? (
        <EmbeddingPlayground />
      ) : (
        <Suspense fallback={<Placeholder lines={12} />}>
          {operation === 'chat' ? <ChatPlayground /> : <RerankPlayground />}
        </Suspense>
      )}
    </Page>
  );
}
