import { Page } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';

export function DestinationsPage() {
  return (
    <Page title="Destinations">
      <EmptyState title="This page is not built yet" />
    </Page>
  );
}
