import { Page } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';

export function OverviewPage() {
  return (
    <Page title="Overview">
      <EmptyState title="This page is not built yet" />
    </Page>
  );
}
