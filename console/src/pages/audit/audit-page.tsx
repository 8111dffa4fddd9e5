import { Page } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';

export function AuditPage() {
  return (
    <Page title="Audit log">
      <EmptyState title="This page is not built yet" />
    </Page>
  );
}
