// The server's part of the web console: its sessions and its playground.
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ChatModule } from '../chat/chat.module.js';
import { EmbeddingsModule } from '../embeddings/embeddings.module.js';
import { PeopleModule } from '../people/people.module.js';
import { RerankModule } from '../rerank/rerank.module.js';
import { PlaygroundController } from './playground.controller.js';
import { PlaygroundService } from './playground.service.js';
import { SessionController } from './session.controller.js';
import { SignInController } from './sign-in.controller.js';
import { SessionsService } from './sessions.service.js';

@Module({
  imports: [AuthModule, ChatModule, EmbeddingsModule, PeopleModule, RerankModule],
  controllers: [SessionController, SignInController, PlaygroundController],
  providers: [SessionsService, PlaygroundService],
})
export class ConsoleModule {}
