// The page that changes a model of the catalogue.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { CATALOGUE, catalogueModelQuery, pathOf } from '../../api/catalogue';
import type { CatalogueModel } from '../../api/catalogue';
import { providersQuery } from '../../api/providers';
import type { Provider } from '../../api/providers';
import { useSession } from '../../app/workspace';
import { buttonClass } from '../../components/actions/button';
import { Page } from '../../components/display/section';
import { Notice, ObjectError, Placeholder } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { NOT_AN_OPERATOR, OF_FILE } from './catalogue/change-problem';
import { endpointViews, isBelow } from './catalogue/documents';
import { changedLayer, problemInForm } from './catalogue/model-fields';
import type { EndpointDraft } from './catalogue/model-fields';
import { ModelForm } from './catalogue/model-form';
import { useLayerChange } from './catalogue/use-layer-change';

const editRoute = getRouteApi('/app/management/models/$author/$slug/edit');

export function EditModelPage() {
  const { author, slug } = editRoute.useParams();
  const id = `${author}/${slug}`;
  const model = useQuery({ ...catalogueModelQuery(id), retry: false });
  const providers = useQuery(providersQuery);
  const { can_change_catalogue: isOperator } = useSession();
  const error = model.error ?? providers.error;
  return (
    <Page title={`Edit ${model.data?.name ?? id}`}>
      {model.data !== undefined && providers.data !== undefined ? (
        model.data.can_change ? (
          <EditModel key={id} entry={model.data} providers={providers.data} />
        ) : (
          <Notice tone="info">{isOperator ? OF_FILE : NOT_AN_OPERATOR}</Notice>
        )
      ) : error === null ? (
        <Placeholder lines={12} />
      ) : (
        <ObjectError
          error={error}
          onRetry={() => void Promise.all([model.refetch(), providers.refetch()])}
          what="model"
          back={<Link to="/models">All models</Link>}
        />
      )}
    </Page>
  );
}

interface EditModelProps {
  readonly entry: CatalogueModel;
  readonly providers: readonly Provider[];
}

function EditModel({ providers, ...props }: EditModelProps) {
  // The revision that the form began with: a save from an older one than the newest is a conflict, not a loss.
  const [entry] = useState(props.entry);
  const navigate = editRoute.useNavigate();
  const client = useQueryClient();
  const views = endpointViews(entry);
  const drafts = views.map(({ tag, endpoint }, key): EndpointDraft => ({
    key,
    tag,
    begun: endpoint,
    prices: endpoint.prices ?? [],
  }));
  const params = pathOf(entry.id);
  const form = { kind: entry.kind, isNew: false };
  const change = useLayerChange(entry, async () => {
    showToast({
      tone: 'good',
      text: `${entry.name ?? entry.id} was saved. Every replica has it within 2 seconds.`,
    });
    await client.invalidateQueries({ queryKey: CATALOGUE, refetchType: 'none' });
    await navigate({ to: '/models/$author/$slug', params, ignoreBlocker: true });
  });
  const removalLabelOf = (tag: string): string | null => {
    const isChanged = Object.values(views.find((view) => view.tag === tag)?.sources ?? {}).includes(
      'operator',
    );
    if (!isChanged) return null;
    return isBelow(entry, tag) ? 'Undo our changes' : 'Remove endpoint';
  };
  return (
    <ModelForm
      title={entry.name ?? entry.id}
      kind={entry.kind}
      isNew={false}
      model={entry.model}
      begun={drafts}
      providers={providers}
      removalLabelOf={removalLabelOf}
      error={change.error}
      saveOverNewest={change.saveOverNewest}
      isBusy={change.isPending}
      action="Save"
      cancel={
        <Link to="/models/$author/$slug" params={params} ignoreBlocker className={buttonClass('ghost')}>
          Cancel
        </Link>
      }
      onSubmit={(values, initial, state) =>
        change.save({
          make: (from) => changedLayer(from, { ...form, values, initial, ...state }),
          reason: values.textOrNull('reason'),
          inForm: (problem, layer) =>
            problemInForm(problem, { ...form, values, layer, drafts: state.drafts }),
        })
      }
    />
  );
}
