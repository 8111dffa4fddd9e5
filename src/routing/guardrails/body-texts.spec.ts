import { describe, expect, it } from '@jest/globals';
import { memberPath } from '../../domain/text/member-path.js';
import { textsOfBody } from './body-texts.js';

const kindsOf = (body: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    textsOfBody(body).texts.map(({ path, text, kind }) => [`${memberPath(path)}=${text}`, kind]),
  );

describe('the texts of a body', () => {
  it('of Chat are those of messages, calls, tools and unknown members', () => {
    const body = {
      model: 'vendor/model',
      user: 'ann',
      messages: [
        { role: 'system', content: 'a' },
        { role: 'user', name: 'b', content: [{ type: 'text', text: 'c' }] },
        {
          role: 'assistant',
          reasoning: 'd',
          tool_calls: [{ id: 'call', type: 'function', function: { name: 'e', arguments: '{"f":1}' } }],
        },
        { role: 'tool', tool_call_id: 'call', content: 'g' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'h', parameters: { type: 'object', properties: { i: { type: 'string' } } } },
        },
      ],
      prediction: { type: 'content', content: 'j' },
      documents_of_mine: { k: ['l'] },
    };
    expect(kindsOf(body)).toEqual({
      'messages[0].content=a': 'text',
      'messages[1].name=b': 'fixed',
      'messages[1].content[0].text=c': 'text',
      'messages[2].reasoning=d': 'fixed',
      'messages[2].tool_calls[0].function.name=e': 'fixed',
      'messages[2].tool_calls[0].function.arguments={"f":1}': 'json',
      'messages[3].content=g': 'text',
      'tools[0].function.name=h': 'fixed',
      'tools[0].function.parameters.properties=i': 'fixed',
      'prediction.content=j': 'fixed',
      'documents_of_mine=k': 'fixed',
      'documents_of_mine.k[0]=l': 'fixed',
    });
  });

  it('of Messages are those of blocks, inputs of tools and results', () => {
    const body = {
      system: [{ type: 'text', text: 'a' }],
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'b', signature: 'signed' },
            { type: 'redacted_thinking', data: 'encrypted' },
            { type: 'tool_use', id: 'call', name: 'c', input: { d: 'e' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call', content: 'f' }] },
        { role: 'user', content: [{ type: 'document', source: { type: 'text', data: 'g' } }] },
      ],
    };
    expect(kindsOf(body)).toEqual({
      'system[0].text=a': 'text',
      'messages[0].content[0].thinking=b': 'fixed',
      'messages[0].content[2].name=c': 'fixed',
      'messages[0].content[2].input=d': 'fixed',
      'messages[0].content[2].input.d=e': 'text',
      'messages[1].content[0].content=f': 'text',
      'messages[2].content[0].source.data=g': 'text',
    });
  });

  it('of Responses are those of items, instructions and results', () => {
    const body = {
      instructions: 'a',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'b' }] },
        { type: 'function_call', call_id: 'call', name: 'c', arguments: 'd' },
        { type: 'function_call_output', call_id: 'call', output: 'e' },
      ],
      text: { format: { type: 'json_schema', name: 'f', schema: { properties: { g: {} } } } },
    };
    expect(kindsOf(body)).toEqual({
      'instructions=a': 'text',
      'input[0].content[0].text=b': 'text',
      'input[1].name=c': 'fixed',
      'input[1].arguments=d': 'json',
      'input[2].output=e': 'text',
      'text.format.name=f': 'fixed',
      'text.format.schema.properties=g': 'fixed',
    });
  });

  it('of embeddings and rerank are their inputs, queries and documents', () => {
    expect(kindsOf({ input: ['a', { content: [{ type: 'text', text: 'b' }] }] })).toEqual({
      'input[0]=a': 'text',
      'input[1].content[0].text=b': 'text',
    });
    expect(kindsOf({ query: 'a', documents: ['b', { text: 'c' }] })).toEqual({
      'query=a': 'text',
      'documents[0]=b': 'text',
      'documents[1].text=c': 'text',
    });
  });

  it('are what stands in labels, names of members and beside media, but for the words that belong there', () => {
    const schema = { type: 'secret 1', properties: { type: { type: 'string' } } };
    const body = {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', id: 'part-1', detail: 'secret 2' },
            { type: 'image', 'secret 3': 1, alt: 'b', source: { media_type: 'image/png', data: 'AAAA' } },
            { type: 'thinking', thinking: 'c', signature: 'secret 4' },
          ],
        },
        { role: 'tool', tool_call_id: 'secret 5', content: 'd' },
      ],
      output_config: { effort: 'high', format: { type: 'json_schema', schema } },
    };
    expect(Object.keys(kindsOf(body))).toEqual([
      'messages[0].content[0].text=a',
      'messages[0].content[0].detail=secret 2',
      'messages[0].content[1]=secret 3',
      'messages[0].content[1].alt=b',
      'messages[0].content[2].thinking=c',
      'messages[0].content[2].signature=secret 4',
      'messages[1].tool_call_id=secret 5',
      'messages[1].content=d',
      'output_config.format.schema.type=secret 1',
    ]);
  });

  it('name media and tokens, which patterns cannot read', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    expect(textsOfBody({ messages: [{ role: 'user', content: [image] }] })).toMatchObject({
      texts: [],
      unscannable: ['messages', 0, 'content', 0],
      tokens: null,
    });
    expect(textsOfBody({ input: [[1, 2]] })).toMatchObject({ texts: [], tokens: ['input', 0] });
    expect(textsOfBody({ input: [1, 2] })).toMatchObject({ texts: [], tokens: ['input'] });
  });
});
