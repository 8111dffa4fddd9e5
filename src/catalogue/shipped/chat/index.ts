// The shipped chat models, one file for each vendor.
import type { ChatModel } from '../../../domain/chat/chat-model.js';
import { COHERE_CHAT_MODELS } from './cohere.js';
import { GOOGLE_CHAT_MODELS } from './google.js';
import { MISTRAL_CHAT_MODELS } from './mistral.js';
import { OPEN_CHAT_MODELS } from './open-models.js';
import { OPENAI_CHAT_MODELS } from './openai.js';

export const SHIPPED_CHAT_MODELS: readonly ChatModel[] = [
  ...OPENAI_CHAT_MODELS,
  ...GOOGLE_CHAT_MODELS,
  ...MISTRAL_CHAT_MODELS,
  ...COHERE_CHAT_MODELS,
  ...OPEN_CHAT_MODELS,
];
