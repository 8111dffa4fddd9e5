// The pages that add a model, from a copy of another, and that change one.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { CATALOGUE, catalogueModelQuery, changeLayer, pathOf, readCatalogueModel } from '../../api/catalogue';
import { ApiError } from '../../api/client';
import { memberProblem, renameProblems } from '../../api/problems';
import type { CatalogueModel, ModelDocument } from '../../api/catalogue';
import { providersQuery } from '../../api/providers';
import type { Provider } from '../../api/providers';
import { useSession } from '../../app/workspace';
import { Button, buttonClass } from '../../components/actions/button';
import { Page, Section } from '../../components/display/section';
import { Notice, ObjectError, Placeholder } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { Form, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { ModelOptions } from '../../components/form/model-options';
import { NOT_AN_OPERATOR, OF_FILE } from './catalogue/change-problem';
import { endpointViews, isBelow } from './catalogue/documents';
import { changedLayer, newModel, problemInForm } from './catalogue/model-fields';
import type { EndpointDraft } from './catalogue/model-fields';
import { ModelForm } from './catalogue/model-form';
import { refreshCatalogue, useLayerChange } from './catalogue/use-layer-change';

const newRoute = getRouteApi('/app/management/models/new');
const editRoute = getRouteApi('/app/management/models/$author/$slug/edit');

export function NewModelPage() {
  const { copy } = newRoute.useSearch();
  const { can_change_catalogue: canChange } = useSession();
  if (!canChange)
    return (
      <Page title="Add model">
        <Notice tone="info">{NOT_AN_OPERATOR}</Notice>
      </Page>
    );
  return copy === undefined ? (
    <Page
      title="Add model"
      description="A model begins as a copy of one that is like it: the same provider, limits and parameters."
    >
      <CopyChoice />
    </Page>
  ) : (
    <CopyPage key={copy} copy={copy} />
  );
}

const LIST = 'models-to-copy';

function CopyChoice() {
  const navigate = newRoute.useNavigate();
  const [id, setId] = useState('');
  return (
    <Section title="Start from a copy">
      <Form
        fields={['copy']}
        error={null}
        onSubmit={(values) => void navigate({ search: { copy: values.text('copy') } })}
      >
        <TextField
          name="copy"
          label="Copy of"
          list={LIST}
          value={id}
          placeholder="openai/gpt-4.1-mini"
          spellCheck={false}
          onChange={({ target }) => setId(target.value)}
        />
        <ModelOptions id={LIST} part={id} />
        <div>
          <Button type="submit" variant="primary">
            Continue
          </Button>
        </div>
      </Form>
    </Section>
  );
}

function CopyPage({ copy }: { readonly copy: string }) {
  const source = useQuery({ ...catalogueModelQuery(copy), retry: false });
  const providers = useQuery(providersQuery);
  const error = source.error ?? providers.error;
  return (
    <Page
      title="Add model"
      description={
        <>
          A copy of {source.data?.name ?? copy}. <Link to="/models/new">Choose another model</Link>
        </>
      }
    >
      {source.data !== undefined && providers.data !== undefined ? (
        <NewModel source={source.data} providers={providers.data} />
      ) : error === null ? (
        <Placeholder lines={12} />
      ) : (
        <ObjectError
          error={error}
          onRetry={() => void Promise.all([source.refetch(), providers.refetch()])}
          what="model"
          back={<Link to="/models/new">Choose another model</Link>}
        />
      )}
    </Page>
  );
}

/** Members that belong to one model alone. */
const OWN = new Set([
  'id',
  'name',
  'canonical_slug',
  'aliases',
  'disabled',
  'expires_on',
  'successor',
  'endpoints',
]);

function copyOf({ model }: CatalogueModel): ModelDocument {
  return Object.fromEntries(Object.entries(model).filter(([name]) => !OWN.has(name)));
}

interface NewForm {
  readonly values: FormValues;
  readonly drafts: readonly EndpointDraft[];
}

/** The revision to add a model over: an earlier model of this id may have ended. Throws where one exists. */
async function versionOfNew(id: string): Promise<number> {
  if (!/^[\w.-]+\/[\w.:-]+$/.test(id))
    throw idProblem('must be of the form vendor/model, such as acme/chat-2');
  try {
    const { layers, version } = await readCatalogueModel(id);
    if (layers.length > 0) throw idProblem(`${id} exists already. Edit it, or choose another id`);
    return version;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return 0;
    throw error;
  }
}

const idProblem = (problem: string): Error => memberProblem('id', problem);

function NewModel({
  source,
  providers,
}: {
  readonly source: CatalogueModel;
  readonly providers: readonly Provider[];
}) {
  const client = useQueryClient();
  const navigate = newRoute.useNavigate();
  const create = useMutation({
    mutationFn: async ({ values, drafts }: NewForm) => {
      const form = { values, kind: source.kind, isNew: true };
      const [id, layer] = [values.text('id'), newModel(drafts, form)];
      const version = await versionOfNew(id);
      const change = { id, kind: source.kind, layer, version, reason: values.textOrNull('reason') };
      await changeLayer(change).catch((error: unknown) => {
        throw renameProblems(error, (problem) => problemInForm(problem, { ...form, layer, drafts }));
      });
      return id;
    },
    onSuccess: async (id) => {
      showToast({ tone: 'good', text: `${id} was added. Every replica serves it within 2 seconds.` });
      await navigate({ to: '/models/$author/$slug', params: pathOf(id), ignoreBlocker: true });
      await refreshCatalogue(client);
    },
  });
  return (
    <ModelForm
      title="New model"
      kind={source.kind}
      isNew
      model={copyOf(source)}
      begun={endpointViews(source).map(({ tag, endpoint }, key) => {
        const begun = tag === endpoint.provider ? endpoint : { ...endpoint, tag };
        return { key, tag: null, begun, prices: endpoint.prices ?? [] };
      })}
      providers={providers}
      removalLabelOf={() => null}
      error={create.error}
      isBusy={create.isPending}
      action="Add model"
      cancel={
        <Link to="/models" ignoreBlocker className={buttonClass('ghost')}>
          Cancel
        </Link>
      }
      onSubmit={(values, _initial, { drafts }) => create.mutate({ values, drafts })}
    />
  );
}

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
