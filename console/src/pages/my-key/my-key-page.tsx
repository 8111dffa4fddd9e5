import { Page } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';

export function MyKeyPage() {
  return (
    <Page title="My key">
      <EmptyState title="This page is not built yet" />
    </Page>
  );
}
