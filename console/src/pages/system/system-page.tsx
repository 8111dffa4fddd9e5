import { Page } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';

export function SystemPage() {
  return (
    <Page title="System">
      <EmptyState title="This page is not built yet" />
    </Page>
  );
}
