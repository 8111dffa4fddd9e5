import { Page } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';

export function KeysPage() {
  return (
    <Page title="Keys">
      <EmptyState title="This page is not built yet" />
    </Page>
  );
}
