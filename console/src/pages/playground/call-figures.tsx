// Figures of a call that every operation has.
import { Link } from '@tanstack/react-router';
import { useSession } from '../../app/workspace';
import { Absent, Code, Money } from '../../components/display/values';

interface CallCostProps {
  /** Undefined: no price is known. */
  readonly usd: number | undefined;
  readonly isByok: boolean;
}

export function CallCost({ usd, isByok }: CallCostProps) {
  if (usd === undefined) return <Absent />;
  return (
    <>
      <Money usd={usd} />
      {isByok && ', paid by your own provider key'}
    </>
  );
}

/** A session of an inference key has no page of a generation. */
export function GenerationRecord({ id }: { readonly id: string }) {
  return useSession().kind !== 'inference' ? (
    <Link to="/generations/$id" params={{ id }}>
      View its record
    </Link>
  ) : (
    <Code text={id} what="generation id" />
  );
}
