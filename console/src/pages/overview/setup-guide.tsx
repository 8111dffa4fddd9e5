// From an empty installation to the first call: it watches the steps, and reports why a call failed.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { deliveriesOfWorkspaceQuery, destinationsQuery } from '../../api/destinations';
import type { Destination, DestinationDeliveries } from '../../api/destinations';
import type { GenerationRow } from '../../api/generations';
import { payingKeysQuery } from '../../api/keys';
import { exampleModel, isEmbedded, LOCAL_MODELS, modelChoicesQuery, modelsQuery } from '../../api/models';
import { refusalsQuery } from '../../api/refusals';
import type { Refusal } from '../../api/refusals';
import { Button, buttonClass } from '../../components/actions/button';
import { CodeSamples } from '../../components/data/code-samples';
import { embeddingSamples } from '../../components/data/samples';
import { Icon } from '../../components/display/icon';
import { Section } from '../../components/display/section';
import { Name } from '../../components/display/values';
import { Notice, Waiting } from '../../components/feedback/states';
import { formatCount } from '../../format';
import { causeOf } from '../generations/failure-causes';
import { REASONS } from '../refusals/refusal-words';
import { hasSucceeded, WATCH_MS } from './first-calls';
import styles from './overview.module.css';

const CreateKeyDialog = lazy(async () => ({
  default: (await import('../keys/create-key-dialog')).CreateKeyDialog,
}));

interface SetupGuideProps {
  readonly workspaceId: string;
  readonly calls: readonly GenerationRow[];
}

export function SetupGuide({ workspaceId, calls }: SetupGuideProps) {
  const { data: models } = useQuery(modelsQuery);
  const { data: allModels } = useQuery(modelChoicesQuery(undefined));
  const { data: keys } = useQuery(payingKeysQuery(workspaceId, ''));
  const { data: destinations } = useQuery(destinationsQuery(workspaceId));
  const { data: deliveries } = useQuery({
    ...deliveriesOfWorkspaceQuery(workspaceId),
    enabled: (destinations?.length ?? 0) > 0,
  });
  const [isCreating, setCreating] = useState(false);
  // Of the key that was created here. It leaves the page with the reader.
  const [secret, setSecret] = useState<string | null>(null);
  const known = keys?.keys[0];
  const hasProvider = allModels?.some((model) => !isEmbedded(model)) ?? false;
  const hasKey = (keys?.keys.length ?? 0) > 0;
  const first = calls.find(hasSucceeded);
  const { data: refusals } = useQuery({
    ...refusalsQuery({ workspace_id: workspaceId }),
    refetchInterval: WATCH_MS,
    enabled: first === undefined,
  });
  const hasTrace = [...(deliveries?.values() ?? [])].some(({ delivered }) => delivered > 0);
  return (
    <Section title="Set up" description="Four steps to the first traced call. This list follows what you do.">
      <ol className={styles.steps}>
        <Step number={1} title="Configure a provider" isDone={hasProvider} isOptional>
          <p className={styles.stepText}>
            Set the key of a provider when the service starts, such as <code>OPENAI_API_KEY</code>, or store
            one here. Without one, the models <code>{LOCAL_MODELS.embeddings}</code> and{' '}
            <code>{LOCAL_MODELS.text}</code> answer: enough to try everything out, free of charge.
          </p>
          {!hasProvider && (
            <div>
              <Link to="/provider-keys" className={buttonClass('secondary')}>
                Add a provider key
              </Link>
            </div>
          )}
        </Step>
        <Step number={2} title="Create a key" isDone={hasKey}>
          <p className={styles.stepText}>
            Applications call the service with a key of their own. It can have a limit.
            {secret === null && known !== undefined && (
              <>
                {' '}
                There is one already: <Name text={known.name} />. Use it if you have its secret, or create
                another.
              </>
            )}
          </p>
          <div>
            <Button icon="plus" variant={hasKey ? 'secondary' : 'primary'} onClick={() => setCreating(true)}>
              Create key
            </Button>
          </div>
          {isCreating && (
            <Suspense>
              <CreateKeyDialog isOpen onClose={() => setCreating(false)} onCreated={setSecret} />
            </Suspense>
          )}
        </Step>
        <Step number={3} title="Make the first call" isDone={first !== undefined}>
          <CodeSamples
            label="The first call"
            samples={embeddingSamples({
              key: secret ?? 'YOUR_KEY',
              model: exampleModel(models),
              input: 'Hello, world',
            })}
          />
          <FirstCall first={first} latest={calls[0]} refused={refusals?.[0]} />
        </Step>
        <Step number={4} title="Add a destination" isDone={hasTrace}>
          <p className={styles.stepText}>
            Send a trace of every call to Langfuse, Datadog, a webhook, or one of 14 others.
          </p>
          {destinations === undefined || destinations.length === 0 ? (
            <div>
              <Link to="/destinations" className={buttonClass('secondary')}>
                Add a destination
              </Link>
            </div>
          ) : (
            <FirstTrace destinations={destinations} deliveries={deliveries} />
          )}
        </Step>
      </ol>
    </Section>
  );
}

interface FirstCallProps {
  readonly first: GenerationRow | undefined;
  readonly latest: GenerationRow | undefined;
  /** The newest refused call. */
  readonly refused: Refusal | undefined;
}

function FirstCall({ first, latest, refused }: FirstCallProps) {
  if (first !== undefined) {
    return (
      <Notice tone="info">
        The first call has arrived: <Name text={first.model} /> answered.{' '}
        <Link to="/generations/$id" params={{ id: first.id }}>
          See what happened
        </Link>
      </Notice>
    );
  }
  if (refused !== undefined && refused.created_at > (latest?.created_at ?? '')) {
    return (
      <Notice tone="bad">
        The last call was refused. {REASONS[refused.reason].name}: “<bdi>{refused.message}</bdi>”{' '}
        <Link to="/refusals">See the refused calls</Link>
      </Notice>
    );
  }
  if (latest !== undefined) {
    const { cause, advice } = causeOf(latest, latest.attempts > 0 ? null : []);
    return (
      <Notice tone="bad">
        The last call failed with status {latest.status}. {cause} {advice}{' '}
        <Link to="/generations/$id" params={{ id: latest.id }}>
          See its attempts
        </Link>
      </Notice>
    );
  }
  return <Waiting>Waiting for the first call</Waiting>;
}

interface FirstTraceProps {
  readonly destinations: readonly Destination[];
  readonly deliveries: ReadonlyMap<string, DestinationDeliveries> | undefined;
}

/** The destination that has taken a trace, else the one that fails, with its words. */
function FirstTrace({ destinations, deliveries }: FirstTraceProps) {
  const states = destinations.map((destination) => ({ destination, state: deliveries?.get(destination.id) }));
  const arrived = states.find(({ state }) => (state?.delivered ?? 0) > 0);
  if (arrived !== undefined) {
    return (
      <Notice tone="info">
        A trace has arrived: <DestinationLink destination={arrived.destination} /> has taken{' '}
        {formatCount(arrived.state?.delivered ?? 0)}.
      </Notice>
    );
  }
  const failing = states.find(({ state }) => state?.status === 'retrying' || state?.status === 'paused');
  if (failing !== undefined) {
    return (
      <Notice tone="bad">
        <DestinationLink destination={failing.destination} /> did not take the trace:{' '}
        <bdi>{failing.state?.last_error?.message}</bdi>
      </Notice>
    );
  }
  return <Waiting>Waiting for the first trace</Waiting>;
}

function DestinationLink({ destination: { id, name, type } }: { readonly destination: Destination }) {
  return (
    <Link to="/destinations/$id" params={{ id }}>
      <Name text={name ?? type} />
    </Link>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  /** The next ones do not need it. */
  readonly isOptional?: boolean;
  readonly children: ReactNode;
}

function Step({ number, title, isDone, isOptional = false, children }: StepProps) {
  return (
    <li className={styles.step}>
      <span className={`${styles.mark} ${isDone ? styles.done : ''}`} aria-hidden="true">
        {isDone ? <Icon name="check" /> : number}
      </span>
      <div className={styles.stepBody}>
        <h3 className={styles.stepTitle}>
          {title}
          {isDone ? (
            <span className="visually-hidden">, done</span>
          ) : (
            isOptional && <span className={styles.optional}> optional</span>
          )}
        </h3>
        {children}
      </div>
    </li>
  );
}
