// Chats with a model: the settings of the call on one side, the conversation and what it costs on the other.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ChatBody } from '../../../api/chat';
import { ApiError } from '../../../api/client';
import { exampleModel, modelChoicesQuery } from '../../../api/models';
import { useUnloadQuestion } from '../../../app/page-hold';
import { Button } from '../../../components/actions/button';
import { CodeSamples } from '../../../components/data/code-samples';
import { Section } from '../../../components/display/section';
import { Placeholder } from '../../../components/feedback/states';
import { FieldRow, Form, TextAreaField, TextField } from '../../../components/form/form';
import { readNumber, readWholeNumber } from '../../../components/form/read-number';
import { ModelField } from '../model-field';
import { PayerField, WithPayer } from '../payer';
import type { Payer } from '../payer';
import { chatSamples } from './chat-samples';
import { Composer } from './composer';
import { Conversation } from './conversation';
import { LastCall } from './last-call';
import { EXAMPLE_TOOLS, readTools } from './tools';
import { messagesOf, openCalls } from './turns';
import type { Turn } from './turns';
import { useChat } from './use-chat';
import styles from './chat.module.css';

const EXAMPLE = 'Write two sentences about gateways.';
const BAD_REQUEST = 400;

export function ChatPlayground() {
  return <WithPayer title="Chat">{(payer) => <ChatCalls payer={payer} />}</WithPayer>;
}

function ChatCalls({ payer }: { readonly payer: Payer }) {
  const models = useQuery(modelChoicesQuery('text'));
  const chat = useChat();
  const [chosenModel, setModel] = useState<string>();
  const [system, setSystem] = useState('');
  const [temperature, setTemperature] = useState('');
  const [maxTokens, setMaxTokens] = useState('');
  const [toolsText, setTools] = useState('');
  const [draft, setDraft] = useState(EXAMPLE);
  const model = chosenModel ?? exampleModel(models.data, 'text');
  const tools = readTools(toolsText);
  const heat = readNumber(temperature);
  const most = readWholeNumber(maxTokens);
  const isSendable = [tools, heat, most].every(({ problem }) => problem === undefined);
  const { turns, live } = chat;
  // The answer, which is paid for, would end with the page.
  useUnloadQuestion(live !== null);
  const bodyOf = (sent: readonly Turn[]): ChatBody => ({
    model,
    messages: messagesOf(system, sent),
    temperature: heat.value,
    max_tokens: most.value,
    tools: tools.tools,
  });
  const send = (sent: readonly Turn[]): boolean => {
    if (isSendable) chat.send(sent, { keyHash: payer.hash, body: bodyOf(sent) });
    return isSendable;
  };
  const next: readonly Turn[] = draft.trim() === '' ? turns : [...turns, { kind: 'user', text: draft }];
  return (
    <div className={styles.columns}>
      <Section title="Request">
        <Form
          fields={['model', 'temperature', 'max_tokens', 'tools']}
          error={chat.error instanceof ApiError && chat.error.status === BAD_REQUEST ? chat.error : null}
          onSubmit={() => undefined}
        >
          <ModelField kind="text" value={model} onChange={setModel} />
          <TextAreaField
            name="system"
            label="System message"
            rows={3}
            dir="auto"
            placeholder="None"
            value={system}
            onChange={({ target }) => setSystem(target.value)}
          />
          <FieldRow>
            <TextField
              name="temperature"
              label="Temperature"
              inputMode="decimal"
              placeholder="The provider's own"
              problem={heat.problem}
              value={temperature}
              onChange={({ target }) => setTemperature(target.value)}
            />
            <TextField
              name="max_tokens"
              label="Tokens at most"
              inputMode="numeric"
              placeholder="The model's own"
              problem={most.problem}
              value={maxTokens}
              onChange={({ target }) => setMaxTokens(target.value)}
            />
          </FieldRow>
          <TextAreaField
            name="tools"
            label="Tools"
            rows={toolsText === '' ? 2 : 8}
            isCode
            spellCheck={false}
            placeholder="None"
            hint="Functions that the model may call, as JSON."
            problem={tools.problem}
            value={toolsText}
            onChange={({ target }) => setTools(target.value)}
          />
          {toolsText === '' && (
            <div>
              <Button onClick={() => setTools(EXAMPLE_TOOLS)}>Insert an example</Button>
            </div>
          )}
          <PayerField payer={payer} />
        </Form>
      </Section>
      <div className={styles.column}>
        <Section
          title="Conversation"
          actions={
            turns.length > 0 && (
              <Button icon="plus" onClick={chat.clear}>
                New conversation
              </Button>
            )
          }
        >
          <Conversation turns={turns} live={live} onRetry={() => send(turns.slice(0, -1))} />
          <Composer
            draft={draft}
            onDraft={setDraft}
            calls={openCalls(turns.at(-1))}
            isRunning={live !== null}
            onSend={(turn) => send([...turns, turn])}
            onStop={chat.stop}
          />
        </Section>
        <Section title="Last call">
          {live === null ? (
            <LastCall turn={turns.findLast((turn) => turn.kind === 'answer')} />
          ) : (
            <Placeholder lines={4} />
          )}
        </Section>
        <Section title="The same call from your code">
          <CodeSamples
            label="Languages"
            samples={chatSamples('YOUR_KEY', bodyOf(live === null ? next : turns))}
          />
        </Section>
      </div>
    </div>
  );
}
