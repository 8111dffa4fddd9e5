import { Page } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';

export function GenerationsPage() {
  return (
    <Page title="Generations">
      <EmptyState title="This page is not built yet" />
    </Page>
  );
}
