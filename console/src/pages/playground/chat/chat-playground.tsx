// Chats with one model, or with two side by side: the settings of the call, and the conversations.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../../api/client';
import { exampleModel, LOCAL_MODELS, modelChoicesQuery } from '../../../api/models';
import { useUnloadQuestion } from '../../../app/page-hold';
import { Button } from '../../../components/actions/button';
import { CodeSamples } from '../../../components/data/code-samples';
import { Section } from '../../../components/display/section';
import { Form, SelectField } from '../../../components/form/form';
import { TextFormChoice, TextFormContext } from '../../../components/message/message';
import type { TextForm } from '../../../components/message/message';
import { ModelField, useTakesImages } from '../model-field';
import { PayerField, WithPayer } from '../payer';
import type { Payer } from '../payer';
import { chatSamples } from './chat-samples';
import { Composer } from './composer';
import type { Draft } from './composer';
import { Conversation } from './conversation';
import { NO_SETTINGS, readSettings, SettingsFields } from './settings';
import { openCalls, withoutImageData } from './wires/turns';
import type { Turn } from './wires/turns';
import { useChat } from './use-chat';
import type { Chat } from './use-chat';
import { WIRE_NAMES } from './wires/chat-wire';
import type { WireBody, WireName } from './wires/chat-wire';
import { WIRES } from './wires/wires';
import styles from './chat.module.css';

const EXAMPLE: Draft = { text: 'Write two sentences about gateways.', images: [] };
const NO_DRAFT: Draft = { text: '', images: [] };
const BAD_REQUEST = 400;
const API_CHOICES = WIRE_NAMES.map((name) => ({ value: name, label: WIRES[name].label }));

interface Side {
  readonly model: string;
  readonly chat: Chat;
}

export function ChatPlayground() {
  return <WithPayer title="Chat">{(payer) => <ChatCalls payer={payer} />}</WithPayer>;
}

function ChatCalls({ payer }: { readonly payer: Payer }) {
  const models = useQuery(modelChoicesQuery('text'));
  const [firstChat, secondChat] = [useChat(), useChat()];
  const [wireName, setWireName] = useState<WireName>('chat');
  const [chosenModel, setModel] = useState<string>();
  /** Null: one model answers. */
  const [secondModel, setSecondModel] = useState<string | null>(null);
  const [settings, setSettings] = useState(NO_SETTINGS);
  const [draft, setDraft] = useState(EXAMPLE);
  const [form, setForm] = useState<TextForm>('formatted');
  const model = chosenModel ?? exampleModel(models.data, 'text');
  const takesImages = [useTakesImages(model), useTakesImages(secondModel ?? model)].every(Boolean);
  const first: Side = { model, chat: firstChat };
  const sides = secondModel === null ? [first] : [first, { model: secondModel, chat: secondChat }];
  const isRunning = sides.some(({ chat }) => chat.live !== null);
  const wire = WIRES[wireName];
  const { call: settled, problems, isValid } = readSettings(settings);
  // The answer, which is paid for, would end with the page.
  useUnloadQuestion(isRunning);
  const bodyOf = (sideModel: string, turns: readonly Turn[]): WireBody =>
    wire.bodyOf({ model: sideModel, turns, ...settled });
  const send = ({ model: sideModel, chat }: Side, turns: readonly Turn[]): void =>
    chat.send(turns, { keyHash: payer.hash, wire, body: bodyOf(sideModel, turns) });
  const calls = sides.flatMap(({ chat }, side) =>
    openCalls(chat.turns.at(-1)).map((call) => ({ key: `${side} ${call.id}`, side, call })),
  );
  const isEmpty = draft.text.trim() === '' && draft.images.length === 0;
  const next: readonly Turn[] = isEmpty
    ? first.chat.turns
    : [...first.chat.turns, { kind: 'user', ...draft }];
  const { error } = first.chat;
  const badRequest = error instanceof ApiError && error.status === BAD_REQUEST ? error : null;
  return (
    <div className={sides.length > 1 ? styles.compared : styles.columns}>
      <Section title="Request">
        <Form
          fields={['model', 'temperature', wire.limitMember, 'tools']}
          error={badRequest}
          onSubmit={() => undefined}
        >
          <SelectField
            name="api"
            label="API"
            choices={API_CHOICES}
            value={wireName}
            onChange={({ target }) => setWireName(WIRE_NAMES.find((name) => name === target.value) ?? 'chat')}
          />
          <ModelField kind="text" value={model} onChange={setModel} />
          {secondModel !== null && (
            <ModelField
              name="second_model"
              label="Second model"
              kind="text"
              value={secondModel}
              onChange={setSecondModel}
            />
          )}
          <div>
            <Button
              aria-disabled={isRunning}
              onClick={() => {
                // Both go on from the same conversation.
                secondChat.start(firstChat.turns);
                const other = models.data?.find(({ id }) => id !== model)?.id ?? LOCAL_MODELS.text;
                setSecondModel(secondModel === null ? other : null);
              }}
            >
              {secondModel === null ? 'Compare with a second model' : 'Remove the second model'}
            </Button>
          </div>
          <PayerField payer={payer} />
          <SettingsFields
            wire={wire}
            texts={settings}
            problems={problems}
            hasProblem={!isValid || badRequest !== null}
            onChange={setSettings}
          />
        </Form>
      </Section>
      <div className={styles.column}>
        <Section
          title="Conversation"
          actions={
            first.chat.turns.length > 0 && (
              <>
                <TextFormChoice chosen={form} onChoose={setForm} />
                <Button icon="plus" onClick={() => sides.forEach(({ chat }) => chat.start([]))}>
                  New conversation
                </Button>
              </>
            )
          }
        >
          <TextFormContext value={form}>
            <div className={styles.sides}>
              {sides.map((side, index) => (
                <Conversation
                  // Sides have no id; the second comes and goes.
                  key={index}
                  label={sides.length === 1 ? 'Conversation' : `Conversation with model ${index + 1}`}
                  turns={side.chat.turns}
                  live={side.chat.live}
                  onRetry={() => isValid && send(side, side.chat.turns.slice(0, -1))}
                  payerHash={payer.hash}
                  onTokenLimit={(tokens) => setSettings({ ...settings, maxTokens: String(tokens) })}
                />
              ))}
            </div>
          </TextFormContext>
          <Composer
            draft={draft}
            onDraft={setDraft}
            takesImages={takesImages}
            calls={calls.map(({ key, call: { name } }) => ({ key, name }))}
            isRunning={isRunning}
            onSend={() => {
              if (!isValid) return false;
              for (const side of sides) send(side, [...side.chat.turns, { kind: 'user', ...draft }]);
              setDraft(NO_DRAFT);
              return true;
            }}
            onSendResults={(results) => {
              if (!isValid) return false;
              sides.forEach((side, index) => {
                const answered = calls.filter((open) => open.side === index);
                if (answered.length === 0) return;
                const texts = answered.map(({ key, call }) => ({
                  callId: call.id,
                  text: results[key] ?? '',
                }));
                send(side, [...side.chat.turns, { kind: 'tools', results: texts }]);
              });
              return true;
            }}
            onStop={() => sides.forEach(({ chat }) => chat.stop())}
          />
        </Section>
        <Section title="The same call from your code">
          <CodeSamples
            label="Languages"
            samples={chatSamples(
              'YOUR_KEY',
              wire,
              bodyOf(model, withoutImageData(isRunning ? first.chat.turns : next)),
            )}
          />
        </Section>
      </div>
    </div>
  );
}
