import { Page } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';

export function ModelsPage() {
  return (
    <Page title="Models and providers">
      <EmptyState title="This page is not built yet" />
    </Page>
  );
}
