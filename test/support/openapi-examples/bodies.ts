// The request bodies behind the examples of openapi.json, by operationId.

export interface ExampleBody {
  /** Distinguishes several requests of an operation. */
  readonly name: string;
  readonly summary: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The only one of its operation. */
export const only = (body: ExampleBody['body']): readonly ExampleBody[] => [
  { name: 'default', summary: '', body },
];

/** `{name}` stands for an object that the journey has created; `{hook}` for the receiver of its webhook. */
export const EXAMPLE_BODIES: Readonly<Record<string, readonly ExampleBody[]>> = {
  createWorkspace: only({
    name: 'Production',
    slug: 'production',
    description: 'Search and recommendations',
  }),
  updateWorkspace: only({ description: 'Search, recommendations and support' }),
  putOwnKeyPolicy: only({
    enabled: true,
    max_keys: 5,
    default_limit: 5,
    max_limit: 20,
    limit_reset: 'monthly',
    max_days: 90,
    include_byok_in_limit: true,
  }),
  createKeys: only({
    name: 'Search service',
    limit: 50,
    limit_reset: 'monthly',
    expires_at: '2027-06-30T00:00:00Z',
    workspace_id: '{workspace}',
  }),
  updateKeys: only({ name: 'Search service', limit: 100, limit_reset: 'monthly' }),
  // The verifier and the challenge of RFC 7636, appendix B.
  createAuthKeysCode: only({
    callback_url: 'http://localhost:8976/callback',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    key_label: 'Laptop of Ann',
    limit: 20,
    usage_limit_type: 'monthly',
  }),
  exchangeAuthCodeForAPIKey: only({
    code: '{code}',
    code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    code_challenge_method: 'S256',
  }),
  putCatalogueModel: [
    {
      name: 'new',
      summary: 'A new chat model',
      body: {
        kind: 'chat_models',
        model: {
          name: 'Acme Chat 1',
          created_at: '2026-11-01',
          context_length: 128_000,
          endpoints: [
            {
              provider: 'openai',
              upstream_model: 'chat-1',
              prices: [
                {
                  effective_from: '2026-11-01',
                  source: 'https://example.com/prices, 2026-11-01',
                  usd_per_million_tokens: { prompt: 1.25, completion: 10, cache_read: 0.125 },
                },
              ],
            },
          ],
        },
        reason: 'A new model of our provider',
      },
    },
    {
      name: 'disabled',
      summary: 'A model without calls',
      body: {
        model: {
          disabled: true,
          created_at: '2026-11-01',
          context_length: 128_000,
          endpoints: [{ provider: 'openai', upstream_model: 'chat-1', prices: [] }],
        },
        reason: 'Not yet',
      },
    },
  ],
  createCatalogueImport: only({
    lists: ['models.dev, read 2026-11-01', 'genai-prices, read 2026-11-01'],
    proposals: [
      {
        group: 'dearer',
        kind: 'models',
        id: 'openai/text-embedding-3-large',
        provider: 'openai',
        upstream_model: 'text-embedding-3-large',
        prices: [
          {
            member: 'prompt',
            own: '0.13',
            values: [
              { list: 'models.dev', value: '0.14' },
              { list: 'genai-prices', value: '0.14' },
            ],
          },
        ],
        holds: [],
        summary: 'openai text-embedding-3-large: prompt 0.14',
        choices: [
          {
            lists: ['models.dev', 'genai-prices'],
            model: {
              id: 'openai/text-embedding-3-large',
              endpoints: [
                {
                  provider: 'openai',
                  prices: [
                    {
                      effective_from: '2024-01-25',
                      usd_per_million_tokens: 0.13,
                      source: 'https://openai.com/api/pricing',
                    },
                    {
                      effective_from: '2026-11-01',
                      usd_per_million_tokens: 0.14,
                      source: 'models.dev, genai-prices, read 2026-11-01',
                    },
                  ],
                },
              ],
            },
          },
        ],
      },
    ],
  }),
  applyCatalogueImport: only({ entries: [{ number: 0 }] }),
  revertCatalogueChange: only({ reason: 'Disabled by mistake' }),
  testProvider: only({ model: 'local/hashing' }),
  rotateKey: only({ grace_period_seconds: 604_800 }),
  testDestinationSettings: only({ type: 'webhook', config: { url: '{hook}/traces' } }),
  previewDestinationSelection: only({
    workspace_id: '{workspace}',
    filter_rules: {
      groups: [{ logic: 'and', rules: [{ field: 'model', operator: 'starts_with', value: 'local/' }] }],
    },
  }),
  createObservabilityDestination: [
    {
      name: 'webhook',
      summary: 'A handler of your own',
      body: {
        type: 'webhook',
        name: 'Production traces',
        config: { url: '{hook}/traces', headers: { 'X-Team': 'search' } },
        workspace_id: '{workspace}',
        broadcast_generation_cost: true,
      },
    },
    {
      name: 'otel-collector',
      summary: 'An OpenTelemetry Collector, with a tenth of the calls of one model',
      body: {
        type: 'otel-collector',
        name: 'Collector',
        config: { endpoint: 'https://collector.example.com:4318/v1/traces' },
        workspace_id: '{workspace}',
        privacy_mode: true,
        sampling_rate: 0.1,
        filter_rules: {
          enabled: true,
          groups: [
            {
              logic: 'and',
              rules: [{ field: 'model', operator: 'equals', value: 'openai/text-embedding-3-small' }],
            },
          ],
        },
      },
    },
    {
      name: 's3',
      summary: 'A bucket; its secrets are masked in every answer',
      body: {
        type: 's3',
        name: 'Archive',
        config: {
          bucketName: 'my-traces',
          accessKeyId: 'an-access-key-id',
          secretAccessKey: 'a-secret-access-key',
          region: 'eu-central-1',
        },
        workspace_id: '{workspace}',
        api_key_hashes: ['{hash}'],
      },
    },
  ],
  updateObservabilityDestination: only({ name: 'Search traces', sampling_rate: 0.5 }),
  replayDeliveries: [
    {
      name: 'dead-letters',
      summary: 'Dead letters',
      body: { dead_letters: 'all' },
    },
    { name: 'from', summary: 'Everything since a time', body: { from: '2026-11-18T06:00:00Z' } },
  ],
  sendChatCompletionRequest: [
    {
      name: 'local',
      summary: 'One message, to the embedded model that needs no provider',
      body: { model: 'local/echo', messages: [{ role: 'user', content: 'Say hello' }] },
    },
  ],
  createRerank: only({
    model: 'cohere/rerank-v3.5',
    query: 'capital of the United States',
    documents: ['0.1 Carson City is the capital of Nevada.', '0.9 Washington, D.C. is the capital.'],
    top_n: 1,
  }),
  createMessages: [
    {
      name: 'local',
      summary: 'One message, to the embedded model that needs no provider',
      body: { model: 'local/echo', max_tokens: 100, messages: [{ role: 'user', content: 'Say hello' }] },
    },
  ],
  countMessagesTokens: only({ model: 'local/echo', messages: [{ role: 'user', content: 'Say hello' }] }),
  createResponses: [
    {
      name: 'local',
      summary: 'One text, to the embedded model that needs no provider',
      body: { model: 'local/echo', input: 'Say hello' },
    },
  ],
  createEmbeddings: [
    // First, because the page of the document tries the first one, and this model needs no provider.
    {
      name: 'local',
      summary: 'Two texts, by the embedded model that needs no provider',
      body: {
        model: 'local/hashing',
        input: ['The quick brown fox', 'jumps over the lazy dog'],
        dimensions: 8,
      },
    },
    {
      name: 'float',
      summary: 'Two texts, with facts about the caller',
      body: {
        model: 'openai/text-embedding-3-small',
        input: ['The quick brown fox', 'jumps over the lazy dog'],
        dimensions: 4,
        user: 'user_1',
        session_id: 'session-42',
        trace: { trace_name: 'index documents', environment: 'production' },
      },
    },
    {
      name: 'base64',
      summary: 'Vectors as base64 of little-endian 32-bit floats',
      body: {
        model: 'openai/text-embedding-3-small',
        input: ['The quick brown fox'],
        dimensions: 4,
        encoding_format: 'base64',
      },
    },
  ],
  createBYOKKey: only({
    provider: 'openai',
    key: 'a-key-of-your-own-at-the-provider',
    name: 'Production',
    workspace_id: '{workspace}',
    allowed_models: ['openai/text-embedding-3-small'],
  }),
  updateBYOKKey: only({ name: 'Production, fallback', is_fallback: true }),
  upsertWorkspaceBudget: only({ limit_usd: 100 }),
  bulkAddWorkspaceMembers: only({ user_ids: ['user_1', 'user_2'] }),
  bulkRemoveWorkspaceMembers: only({ user_ids: ['user_2'] }),
  // Its key makes the calls of the other examples.
  testGuardrailFilters: only({
    content_filter_builtins: [{ slug: 'email', action: 'redact' }],
    text: 'Write to ann@example.com',
  }),
  createGuardrail: only({
    name: 'Nothing retained at xAI',
    workspace_id: '{workspace}',
    ignored_providers: ['azure'],
    enforce_zdr_xai: true,
  }),
  updateGuardrail: only({ enforce_zdr_other: null, description: 'For search' }),
  bulkAssignKeysToGuardrail: only({ key_hashes: ['{hash}'] }),
  bulkUnassignKeysFromGuardrail: only({ key_hashes: ['{hash}'] }),
  bulkAssignMembersToGuardrail: only({ member_user_ids: ['user_1'] }),
  bulkUnassignMembersFromGuardrail: only({ member_user_ids: ['user_1'] }),
  updateOrganizationMember: only({ account_role: 'developer' }),
  createGroupMapping: only({
    issuer: 'https://id.example.com',
    group: 'search-team',
    workspace_id: '{workspace}',
    role: 'admin',
  }),
  // The holes stand for a key of the journey, and for a token that it has signed.
  createFederationPolicy: only({
    name: 'Deployments of the shop',
    issuer: 'https://token.actions.githubusercontent.com',
    audience: 'https://signalbox.example.com',
    subject: 'repo:acme/shop:ref:refs/heads/main',
    claims: { repository_visibility: 'private' },
    api_key_hash: '{hash}',
    jwks: { keys: [{ kty: 'EC', kid: 'key-1', alg: 'ES256', crv: 'P-256', x: '{key_x}', y: '{key_y}' }] },
  }),
  updateFederationPolicy: only({ max_ttl_seconds: 300 }),
  createOauthToken: only({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: '{subject_token}',
    federation_policy_id: '{policy}',
  }),
  createNotification: only({
    name: 'Budget alerts',
    config: { url: '{hook}/alerts', headers: { 'X-Team': 'search' } },
    thresholds: [50, 80, 100],
  }),
  updateNotification: only({ thresholds: [80, 100] }),
  createPresetsChatCompletions: only({
    model: 'local/echo',
    temperature: 0.2,
    max_completion_tokens: 500,
    messages: [{ role: 'system', content: 'Answer in one sentence.' }],
  }),
  createPresetsMessages: only({
    model: 'local/echo',
    max_tokens: 500,
    system: 'Answer in one sentence.',
    messages: [{ role: 'user', content: 'words' }],
  }),
  createPresetsResponses: only({
    model: 'local/echo',
    instructions: 'Answer in one sentence.',
    input: 'words',
  }),
  updatePreset: only({ designated_version: 1 }),
  queryAnalytics: only({
    metrics: ['request_count', 'total_usage'],
    dimensions: ['model'],
    granularity: 'day',
    time_range: { start: '2026-11-17T00:00:00Z', end: '2026-11-20T00:00:00Z' },
    order_by: { field: 'date', direction: 'asc' },
  }),
};
