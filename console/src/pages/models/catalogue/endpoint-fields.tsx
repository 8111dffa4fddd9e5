// The fields of one endpoint in the form of a model.
import type { CatalogueKind, PriceRow } from '../../../api/catalogue';
import type { Provider } from '../../../api/providers';
import { Button, IconButton } from '../../../components/actions/button';
import { Section } from '../../../components/display/section';
import { FieldRow, SelectField, TextAreaField, TextField } from '../../../components/form/form';
import { formatUtcDay } from '../../../format';
import { Amount } from '../price';
import { amountsOf, byDay, isSame } from './documents';
import { endpointFields, fieldName, furtherOfEndpoint } from './model-fields';
import type { EndpointDraft, FieldOf } from './model-fields';
import { FURTHER } from './price-fields';
import styles from '../models.module.css';

interface EndpointFieldsProps {
  readonly draft: EndpointDraft;
  readonly kind: CatalogueKind;
  readonly providers: readonly Provider[];
  /** A text that cannot be sent. */
  readonly furtherProblem: string | undefined;
  readonly tagProblem: string | undefined;
  readonly onPrices: (rows: readonly PriceRow[]) => void;
  readonly onAddPrice: () => void;
  /** Its label, and what it does; null: the endpoint stays. */
  readonly removal: { readonly label: string; readonly remove: () => void } | null;
}

export function EndpointFields(props: EndpointFieldsProps) {
  const { draft, kind, providers, furtherProblem, tagProblem, onPrices, onAddPrice, removal } = props;
  const { tag, begun } = draft;
  const further = furtherOfEndpoint(begun, kind);
  const title = tag === null ? `New endpoint ${draft.key + 1}` : `Endpoint ${tag}`;
  return (
    <Section
      title={title}
      description={
        removal === null ? 'Shipped or imported: its members can be changed, and it stays.' : undefined
      }
      actions={removal && <Button onClick={removal.remove}>{removal.label}</Button>}
    >
      <div className={styles.stack}>
        {tag === null && (
          <FieldRow>
            <SelectField
              name={fieldName(draft, 'provider')}
              label="Provider"
              defaultValue={begun.provider}
              choices={providers.map(({ slug, name }) => ({ value: slug, label: name }))}
            />
            <TextField
              name={fieldName(draft, 'tag')}
              label="Tag"
              defaultValue={begun.tag}
              placeholder="The provider's slug"
              problem={tagProblem}
              spellCheck={false}
              hint="Only for a second endpoint of one provider: azure/eu."
            />
          </FieldRow>
        )}
        <FieldRow>
          {endpointFields(kind).map((field) => (
            <MemberField
              key={field.name}
              field={field}
              name={fieldName(draft, field.name)}
              value={begun[field.name]}
            />
          ))}
        </FieldRow>
        <TextAreaField
          name={fieldName(draft, FURTHER)}
          label="Further members"
          isCode
          rows={further === '' ? 2 : 6}
          defaultValue={further}
          problem={furtherProblem ?? undefined}
          spellCheck={false}
          hint="JSON, by docs/catalogue.example.yaml: parameters, modalities, data_policy and others. An absent one is the default of the provider."
        />
        {tag === null && <DraftPrices prices={draft.prices} onPrices={onPrices} onAddPrice={onAddPrice} />}
      </div>
    </Section>
  );
}

interface MemberFieldProps {
  readonly field: FieldOf;
  readonly name: string;
  readonly value: unknown;
}

export function MemberField({ field: { label, type, hint }, name, value }: MemberFieldProps) {
  return (
    <TextField
      name={name}
      label={label}
      type={type === 'date' ? 'date' : 'text'}
      inputMode={type === 'number' ? 'numeric' : undefined}
      defaultValue={typeof value === 'string' || typeof value === 'number' ? value : undefined}
      spellCheck={false}
      {...(hint === undefined ? {} : { hint })}
    />
  );
}

interface DraftPricesProps {
  readonly prices: readonly PriceRow[];
  readonly onPrices: (rows: readonly PriceRow[]) => void;
  readonly onAddPrice: () => void;
}

function DraftPrices({ prices, onPrices, onAddPrice }: DraftPricesProps) {
  return (
    <>
      {prices.length === 0 && (
        <p className={styles.muted}>No price: calls of keys with a limit will be refused.</p>
      )}
      <ul>
        {byDay(prices).map((row) => (
          <li key={row.effective_from} className={styles.badges}>
            <span>
              From {formatUtcDay(row.effective_from)}:{' '}
              {amountsOf(row).map(({ label, usd }) => (
                <span key={label}>
                  <span className={styles.muted}>{label}</span> <Amount usd={usd} />{' '}
                </span>
              ))}
            </span>
            <IconButton
              icon="close"
              label={`Remove the price from ${formatUtcDay(row.effective_from)}`}
              onClick={() => onPrices(prices.filter((one) => !isSame(one, row)))}
            />
          </li>
        ))}
      </ul>
      <div>
        <Button icon="plus" onClick={onAddPrice}>
          Add a price
        </Button>
      </div>
    </>
  );
}
