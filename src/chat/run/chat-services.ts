// The services that chat calls share.
import { Injectable } from '@nestjs/common';
import { ChatPlanner } from '../../routing/chat/chat-planner.js';
import { ChatRouter } from '../../routing/chat/chat-router.js';
import { ChatExchange } from './chat-exchange.js';
import { AnswerEnds } from './executed-chat.js';
import { SpendLimiter } from '../../spend/spend-limiter.js';
import { ChatRecords } from './record-commits.js';
import { OpenChats } from './open-chats.js';
import { ChatMetrics } from '../chat-metrics.js';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import { YieldQueue } from '../../concurrency/yield-queue.js';

@Injectable()
export class ChatServices {
  constructor(
    readonly planner: ChatPlanner,
    readonly router: ChatRouter,
    readonly exchange: ChatExchange,
    readonly answerEnds: AnswerEnds,
    readonly spendLimiter: SpendLimiter,
    readonly records: ChatRecords,
    readonly openChats: OpenChats,
    readonly metrics: ChatMetrics,
    readonly config: AppConfig,
    readonly clock: Clock,
    readonly yieldQueue: YieldQueue,
  ) {}
}
