import { Module } from '@nestjs/common';
import { CurrentKeyController } from './current-key.controller.js';
import { KeysController } from './keys.controller.js';
import { KeyUsageService } from './key-usage.service.js';
import { KeysService } from './keys.service.js';

@Module({ controllers: [KeysController, CurrentKeyController], providers: [KeysService, KeyUsageService] })
export class KeysModule {}
