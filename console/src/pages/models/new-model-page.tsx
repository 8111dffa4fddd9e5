// The page that adds a model: as a copy of one that is like it, and where a provider lists it, with what the list says.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { catalogueModelQuery, changeLayer, pathOf, readCatalogueModel } from '../../api/catalogue';
import type { CatalogueModel } from '../../api/catalogue';
import { ApiError } from '../../api/client';
import { memberProblem, messageOf, renameProblems } from '../../api/problems';
import { askForModels, providerModelsQuery, providersQuery } from '../../api/providers';
import type { Provider, ProviderModels } from '../../api/providers';
import { useSession } from '../../app/workspace';
import { Button, buttonClass } from '../../components/actions/button';
import { Page, Section } from '../../components/display/section';
import { Time } from '../../components/display/values';
import { Notice, ObjectError, Placeholder } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { Form, SelectField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { ModelOptions } from '../../components/form/model-options';
import { NOT_AN_OPERATOR } from './catalogue/change-problem';
import { beginningOf } from './catalogue/new-model';
import type { DiscoveredModel } from './catalogue/new-model';
import { newModel, problemInForm } from './catalogue/model-fields';
import type { EndpointDraft } from './catalogue/model-fields';
import { ModelForm } from './catalogue/model-form';
import { refreshCatalogue } from './catalogue/use-layer-change';

const newRoute = getRouteApi('/app/management/models/new');

export function NewModelPage() {
  const { copy, provider, name } = newRoute.useSearch();
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
    <CopyPage key={`${copy} ${provider} ${name}`} copy={copy} provider={provider} name={name} />
  );
}

function CopyChoice() {
  const navigate = newRoute.useNavigate();
  return (
    <>
      <Section title="Start from a copy">
        <Form
          fields={['copy']}
          error={null}
          onSubmit={(values) => void navigate({ search: { copy: values.text('copy') } })}
        >
          <CopyField label="Copy of" />
          <Continue />
        </Form>
      </Section>
      <ListedChoice />
    </>
  );
}

const Continue = () => (
  <div>
    <Button type="submit" variant="primary">
      Continue
    </Button>
  </div>
);

function CopyField({ label }: { readonly label: string }) {
  const [id, setId] = useState('');
  const list = `models-${label}`;
  return (
    <>
      <TextField
        name="copy"
        label={label}
        list={list}
        value={id}
        placeholder="openai/gpt-4.1-mini"
        spellCheck={false}
        onChange={({ target }) => setId(target.value)}
      />
      <ModelOptions id={list} part={id} />
    </>
  );
}

const LISTED = 'listed-names';

/** A list has names, and rarely limits: a model of the catalogue that is like it gives the rest. */
function ListedChoice() {
  const navigate = newRoute.useNavigate();
  const client = useQueryClient();
  const { data: providers } = useQuery(providersQuery);
  const [provider, setProvider] = useState('');
  const { data, error } = useQuery({ ...providerModelsQuery(provider), enabled: provider !== '' });
  const ask = useMutation({
    mutationFn: () => askForModels(provider),
    onSuccess: (models) => client.setQueryData(providerModelsQuery(provider).queryKey, models),
  });
  const names = data?.models.filter(({ ids }) => ids.length === 0).map(({ name }) => name) ?? [];
  const problem = ask.error ?? error;
  return (
    <Section
      title="Start from a name that a provider lists"
      description="Configured providers are asked every six hours. A name that is listed is not served before it has a price."
    >
      <Form
        fields={['provider', 'name', 'copy']}
        error={null}
        onSubmit={(values) =>
          void navigate({ search: { copy: values.text('copy'), provider, name: values.text('name') } })
        }
      >
        <SelectField
          name="provider"
          label="Provider"
          value={provider}
          onChange={({ target }) => setProvider(target.value)}
          choices={[
            { value: '', label: 'Choose a provider' },
            ...(providers ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
          ]}
        />
        {data !== undefined && (
          <>
            <ListState models={data} isBusy={ask.isPending} onAsk={() => ask.mutate()} />
            <TextField name="name" label="Name at the provider" list={LISTED} spellCheck={false} />
            <datalist id={LISTED}>
              {names.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
            <CopyField label="A model that is like it" />
            <Continue />
          </>
        )}
        {problem !== null && <Notice tone="bad">{messageOf(problem)}</Notice>}
      </Form>
    </Section>
  );
}

interface ListStateProps {
  readonly models: ProviderModels;
  readonly isBusy: boolean;
  readonly onAsk: () => void;
}

function ListState({ models, isBusy, onAsk }: ListStateProps) {
  const { can_ask: canAsk, answered_at: answered, problem, models: listed } = models;
  if (!canAsk)
    return <Notice tone="info">The service has no credential of this provider, or it has no list.</Notice>;
  return (
    <Notice tone={problem === null ? 'info' : 'warning'}>
      {problem ?? (
        <>
          Names that are not in the catalogue: {listed.filter(({ ids }) => ids.length === 0).length}. Answered{' '}
          <Time at={answered} isRelative absent="never" />.
        </>
      )}{' '}
      <Button isBusy={isBusy} onClick={onAsk}>
        {isBusy ? 'Asking…' : 'Ask now'}
      </Button>
    </Notice>
  );
}

interface CopyPageProps {
  readonly copy: string;
  readonly provider: string | undefined;
  readonly name: string | undefined;
}

function CopyPage({ copy, provider, name }: CopyPageProps) {
  const listed = useQuery({ ...providerModelsQuery(provider ?? ''), enabled: provider !== undefined });
  const source = useQuery({ ...catalogueModelQuery(copy), retry: false });
  const providers = useQuery(providersQuery);
  const error = source.error ?? providers.error ?? listed.error;
  const discovered: DiscoveredModel | null =
    provider === undefined || name === undefined
      ? null
      : { provider, name, facts: listed.data?.models.find((model) => model.name === name) };
  const isReady = discovered === null || listed.data !== undefined;
  return (
    <Page
      title="Add model"
      description={
        <>
          {discovered === null ? 'A copy of' : `${discovered.name}, like`} {source.data?.name ?? copy}.{' '}
          <Link to="/models/new">Choose another model</Link>
        </>
      }
    >
      {source.data !== undefined && providers.data !== undefined && isReady ? (
        <NewModel source={source.data} discovered={discovered} providers={providers.data} />
      ) : error === null ? (
        <Placeholder lines={12} />
      ) : (
        <ObjectError
          error={error}
          onRetry={() => void Promise.all([source.refetch(), providers.refetch(), listed.refetch()])}
          what="model"
          back={<Link to="/models/new">Choose another model</Link>}
        />
      )}
    </Page>
  );
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
  discovered,
  providers,
}: {
  readonly source: CatalogueModel;
  readonly discovered: DiscoveredModel | null;
  readonly providers: readonly Provider[];
}) {
  const client = useQueryClient();
  const navigate = newRoute.useNavigate();
  const [begun] = useState(() => beginningOf(source, discovered));
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
      model={begun.model}
      begun={begun.drafts}
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
