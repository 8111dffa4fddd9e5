// Chat completions: from a request to an answer or a stream, with its cost and its record.
import { Module } from '@nestjs/common';
import { GenerationEventsModule } from '../deliveries/generation-events.module.js';
import { HttpModule } from '../http/http.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { SpendModule } from '../spend/spend.module.js';
import { ChatMetrics } from './chat-metrics.js';
import { ChatResponder } from './chat-responder.js';
import { ChatController } from './chat.controller.js';
import { ChatService } from './chat.service.js';
import { AnswerEnds } from './run/answer-end.js';
import { ChatExchange } from './run/chat-exchange.js';
import { ChatRuns } from './run/chat-run.js';
import { OpenChats } from './run/open-chats.js';

@Module({
  imports: [GenerationEventsModule, HttpModule, RoutingModule, SpendModule],
  controllers: [ChatController],
  providers: [AnswerEnds, ChatExchange, ChatMetrics, ChatResponder, ChatRuns, ChatService, OpenChats],
  exports: [ChatResponder],
})
export class ChatModule {}
