import { Module } from '@nestjs/common';
import { CurrentKeyController } from './current-key.controller.js';
import { KeysController } from './keys.controller.js';
import { AuthModule } from '../auth/auth.module.js';
import { AuthCodesController } from './login/auth-codes.controller.js';
import { AuthCodesService } from './login/auth-codes.service.js';
import { KeyUsageService } from './key-usage.service.js';
import { OwnMemberController } from './own-member.controller.js';
import { OwnKeys } from './own-keys.js';
import { KeysService } from './keys.service.js';

@Module({
  imports: [AuthModule],
  controllers: [KeysController, CurrentKeyController, AuthCodesController, OwnMemberController],
  providers: [AuthCodesService, KeysService, KeyUsageService, OwnKeys],
})
export class KeysModule {}
