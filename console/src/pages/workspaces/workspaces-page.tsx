import { Page } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';

export function WorkspacesPage() {
  return (
    <Page title="Workspaces and budgets">
      <EmptyState title="This page is not built yet" />
    </Page>
  );
}
