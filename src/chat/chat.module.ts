// Chat completions: from a request to an answer or a stream, with its cost and its record.
import { Module } from '@nestjs/common';
import { GenerationEventsModule } from '../deliveries/generation-events.module.js';
import { HttpModule } from '../http/http.module.js';
import { GenerationLog } from '../persistence/generations/generation-log.js';
import { RoutingModule } from '../routing/routing.module.js';
import { SpendModule } from '../spend/spend.module.js';
import { ChatMetrics } from './chat-metrics.js';
import { ChatResponder } from './chat-responder.js';
import { ChatController } from './chat.controller.js';
import { MessagesController } from './messages.controller.js';
import { ResponsesController } from './responses.controller.js';
import { ChatService } from './chat.service.js';
import { PresetRequests } from './presets/preset-requests.js';
import { PresetsController } from './presets/presets.controller.js';
import { PresetsService } from './presets/presets.service.js';
import { ChatExchange } from './run/chat-exchange.js';
import { ChatServices } from './run/chat-services.js';
import { AnswerEnds } from './run/executed-chat.js';
import { OpenChats } from './run/open-chats.js';
import { ChatRecords, RecordCommits } from './run/record-commits.js';
import { TokenCounts } from './token-counts.js';
import { systemScheduler } from '../concurrency/scheduler.js';

@Module({
  imports: [GenerationEventsModule, HttpModule, RoutingModule, SpendModule],
  controllers: [ChatController, MessagesController, ResponsesController, PresetsController],
  providers: [
    AnswerEnds,
    ChatExchange,
    ChatMetrics,
    ChatRecords,
    ChatResponder,
    ChatServices,
    ChatService,
    OpenChats,
    PresetRequests,
    PresetsService,
    TokenCounts,
    {
      provide: RecordCommits,
      inject: [GenerationLog, ChatMetrics],
      useFactory: (log: GenerationLog, metrics: ChatMetrics) =>
        new RecordCommits(log, metrics, systemScheduler),
    },
  ],
  exports: [ChatResponder],
})
export class ChatModule {}
