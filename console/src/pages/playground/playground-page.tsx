import { Page } from '../../components/display/section';
import { EmbeddingPlayground } from './embedding-playground';

export function PlaygroundPage() {
  return (
    <Page
      title="Playground"
      description="Embed texts with any model, and see what the call returns and costs. The call is a real one."
    >
      <EmbeddingPlayground />
    </Page>
  );
}
