// The server's part of the web console: sessions, the playground, and the pages.
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { SessionController } from './session.controller.js';
import { SessionsService } from './sessions.service.js';

@Module({
  imports: [AuthModule],
  controllers: [SessionController],
  providers: [SessionsService],
})
export class ConsoleModule {}
