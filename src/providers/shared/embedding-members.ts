// Members of the embeddings routes of servers that operators run themselves. All other unknown members are dropped, because
// servers read files, other models, addresses and the slots of other calls from theirs, and no list of those is complete
// (docs/contract.md#embeddings-request).

export interface EmbeddingMembers {
  /** They change only how the caller's own inputs are read, cut, prompted and scaled. */
  readonly sent: readonly string[];
  /** They change the vector as well as the server: without them it would be another than the caller wants. */
  readonly refused: readonly string[];
}

/** https://docs.vllm.ai/en/latest/serving/openai_compatible_server/ without `priority`, which moves other calls. */
export const VLLM_MEMBERS: EmbeddingMembers = {
  sent: ['truncate_prompt_tokens', 'add_special_tokens', 'normalize', 'embed_dtype', 'endianness'],
  refused: ['messages', 'chat_template', 'chat_template_kwargs', 'mm_processor_kwargs'],
};

/** https://huggingface.github.io/text-embeddings-inference/ */
export const TEI_MEMBERS: EmbeddingMembers = {
  sent: ['prompt_name', 'truncate', 'truncation_direction', 'normalize'],
  refused: [],
};

/** Of rerank: others cut the query out of a long prompt, or change the server. */
export const SERVER_RERANK_MEMBERS: EmbeddingMembers = {
  sent: ['max_tokens_per_doc'],
  refused: ['truncate_prompt_tokens', 'chat_template', 'chat_template_kwargs', 'mm_processor_kwargs'],
};

export const TEI_RERANK_MEMBERS: EmbeddingMembers = {
  sent: ['truncate', 'raw_scores'],
  refused: ['truncation_direction'],
};

/**
 * https://docs.ollama.com/api/embed without `keep_alive`, which keeps the model in memory. `options` has the context that a
 * long input is cut to, beside the threads and the memory of the server.
 */
export const OLLAMA_MEMBERS: EmbeddingMembers = { sent: ['truncate'], refused: ['options'] };

/**
 * Those of the servers above; `task` as in Jina's API (https://api.jina.ai/redoc); `embd_normalize` of llama.cpp
 * (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md).
 */
export const COMPATIBLE_MEMBERS: EmbeddingMembers = {
  sent: ['truncate_prompt_tokens', 'add_special_tokens', 'embd_normalize', 'task', ...TEI_MEMBERS.sent],
  refused: VLLM_MEMBERS.refused,
};
