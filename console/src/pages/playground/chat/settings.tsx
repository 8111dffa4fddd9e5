// The settings of a call beside its model and messages, as fields hold them and as the call takes them.
import { useState } from 'react';
import { Button } from '../../../components/actions/button';
import { FieldRow, SelectField, TextAreaField, TextField } from '../../../components/form/form';
import { readNumber, readWholeNumber } from '../../../components/form/read-number';
import { EXAMPLE_TOOLS, readTools } from './wires/tools';
import { EFFORTS } from './wires/chat-wire';
import type { ChatCall, ChatWire } from './wires/chat-wire';
import { formatCount } from '../../../format';
import styles from './chat.module.css';

/** As they are typed. */
export interface SettingsTexts {
  readonly system: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly effort: string;
  readonly tools: string;
}

export const NO_SETTINGS: SettingsTexts = {
  system: '',
  temperature: '',
  maxTokens: '',
  effort: '',
  tools: '',
};

const EFFORT_CHOICES = [
  { value: '', label: "The model's own" },
  { value: 'none', label: 'None' },
  { value: 'low', label: 'Low' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High' },
];

interface ReadSettings {
  readonly call: Omit<ChatCall, 'model' | 'turns'>;
  readonly problems: Readonly<Record<'temperature' | 'maxTokens' | 'tools', string | undefined>>;
  readonly isValid: boolean;
}

export function readSettings(texts: SettingsTexts): ReadSettings {
  const temperature = readNumber(texts.temperature);
  const maxTokens = readWholeNumber(texts.maxTokens);
  const tools = readTools(texts.tools);
  return {
    call: {
      system: texts.system,
      temperature: temperature.value,
      maxTokens: maxTokens.value,
      effort: EFFORTS.find((effort) => effort === texts.effort),
      tools: tools.tools,
    },
    problems: { temperature: temperature.problem, maxTokens: maxTokens.problem, tools: tools.problem },
    isValid: [temperature, maxTokens, tools].every(({ problem }) => problem === undefined),
  };
}

interface SettingsFieldsProps {
  readonly wire: ChatWire;
  readonly texts: SettingsTexts;
  /** A field has a problem of the page or of the service. */
  readonly hasProblem: boolean;
  readonly problems: ReadSettings['problems'];
  readonly onChange: (texts: SettingsTexts) => void;
}

// Where the conversation stands beside the settings.
const WIDE = '(min-width: 64rem)';

/** Folded on narrow screens, where they would push the conversation away. */
export function SettingsFields({ wire, texts, hasProblem, problems, onChange }: SettingsFieldsProps) {
  const [isOpen, setOpen] = useState(() => matchMedia(WIDE).matches);
  const change = (changed: Partial<SettingsTexts>) => onChange({ ...texts, ...changed });
  return (
    <details
      className={styles.settings}
      open={isOpen || hasProblem}
      onToggle={({ currentTarget: { open } }) => setOpen(open)}
    >
      <summary>Settings</summary>
      <div className={styles.fields}>
        <TextAreaField
          name="system"
          label="System message"
          rows={3}
          dir="auto"
          placeholder="None"
          value={texts.system}
          onChange={({ target }) => change({ system: target.value })}
        />
        <FieldRow>
          <TextField
            name="temperature"
            label="Temperature"
            inputMode="decimal"
            placeholder="The provider's own"
            problem={problems.temperature}
            value={texts.temperature}
            onChange={({ target }) => change({ temperature: target.value })}
          />
          <TextField
            name={wire.limitMember}
            label="Tokens at most"
            inputMode="numeric"
            placeholder={wire.defaultLimit === null ? "The model's own" : formatCount(wire.defaultLimit)}
            problem={problems.maxTokens}
            value={texts.maxTokens}
            onChange={({ target }) => change({ maxTokens: target.value })}
          />
        </FieldRow>
        <SelectField
          name="effort"
          label="Reasoning"
          choices={EFFORT_CHOICES}
          value={texts.effort}
          onChange={({ target }) => change({ effort: target.value })}
        />
        <TextAreaField
          name="tools"
          label="Tools"
          rows={texts.tools === '' ? 2 : 8}
          isCode
          spellCheck={false}
          placeholder="None"
          hint="Functions that the model may call, as JSON in the form of any of the three APIs."
          problem={problems.tools}
          value={texts.tools}
          onChange={({ target }) => change({ tools: target.value })}
        />
        {texts.tools === '' && (
          <div>
            <Button onClick={() => change({ tools: EXAMPLE_TOOLS })}>Insert an example</Button>
          </div>
        )}
      </div>
    </details>
  );
}
