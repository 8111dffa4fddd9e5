// The chat models.
import { AppError } from '../domain/errors.js';
import type { ChatModel } from '../domain/chat/chat-model.js';
import { ModelLookup } from './model-lookup.js';
import type { FoundModel } from './model-lookup.js';

export class ChatCatalogue extends ModelLookup<ChatModel> {
  override find(name: string): FoundModel<ChatModel> | undefined {
    const found = super.find(name);
    // It stands for a plugin that would put other text into the prompt.
    if (!found && name.endsWith(':online'))
      throw new AppError('invalid_request', {
        detail: 'model: the variant :online is not supported; this service never edits a prompt',
      });
    return found;
  }
}
