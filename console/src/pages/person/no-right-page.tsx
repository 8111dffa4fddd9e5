// Instead of a page that the role of the person does not allow.
import { Link } from '@tanstack/react-router';
import { NEEDED_ROLES, ROLE_WORDS } from '../../api/rights';
import type { Right } from '../../api/rights';
import { buttonClass } from '../../components/actions/button';
import { Page } from '../../components/display/section';
import { EmptyState } from '../../components/feedback/states';

export function NoRightPage({ right }: { readonly right: Right }) {
  return (
    <Page title="Your role does not allow this page">
      <EmptyState
        title={`It needs the role ${ROLE_WORDS[NEEDED_ROLES[right]]}`}
        action={
          <Link to="/" className={buttonClass('primary')}>
            Go to the overview
          </Link>
        }
      >
        An owner or admin of the account gives roles.
      </EmptyState>
    </Page>
  );
}
