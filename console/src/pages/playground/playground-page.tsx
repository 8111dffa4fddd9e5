import { Page } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';

export function PlaygroundPage() {
  return (
    <Page title="Playground">
      <EmptyState title="This page is not built yet" />
    </Page>
  );
}
