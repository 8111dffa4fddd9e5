// The ways from the list of models to changes of the catalogue.
import { Link } from '@tanstack/react-router';
import { useSession } from '../../../app/workspace';
import { buttonClass } from '../../../components/actions/button';

export function CatalogueActions() {
  const { can_change_catalogue: canChange } = useSession();
  if (!canChange) return null;
  return (
    <>
      <Link to="/imports" className={buttonClass()}>
        Price imports
      </Link>
      <Link to="/models/new" className={buttonClass('primary')}>
        Add model
      </Link>
    </>
  );
}
