// For pages that change something: an address that is typed leads to them without the right.
import type { ReactNode } from 'react';
import type { Right } from '../../api/rights';
import { useCan } from '../../app/rights';
import { NoRightPage } from './no-right-page';

interface NeedsRightProps {
  readonly right: Right;
  /** Absent: any. */
  readonly workspaceId?: string | undefined;
  readonly children: ReactNode;
}

export function NeedsRight({ right, workspaceId, children }: NeedsRightProps) {
  return useCan()(right, workspaceId) ? children : <NoRightPage right={right} />;
}
