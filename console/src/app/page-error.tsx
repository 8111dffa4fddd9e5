// Instead of a page: one that failed to load or to draw, and one that does not exist.
import { Link, useRouter } from '@tanstack/react-router';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { buttonClass } from '../components/actions/button';
import { Page } from '../components/display/section';
import { EmptyState, ErrorState } from '../components/feedback/states';

export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Page title="Error">
      <ErrorState error={error} onRetry={retry} />
    </Page>
  );
}

export function NotFoundPage() {
  return (
    <Page title="There is no such page">
      <EmptyState
        title="Nothing is at this address"
        action={
          <Link to="/" className={buttonClass('primary')}>
            Go to the overview
          </Link>
        }
      />
    </Page>
  );
}
