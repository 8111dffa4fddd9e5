import { Page } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';

export function ProviderKeysPage() {
  return (
    <Page title="Provider keys">
      <EmptyState title="This page is not built yet" />
    </Page>
  );
}
