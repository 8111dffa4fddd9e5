import { Module } from '@nestjs/common';
import { CurrentKeyController } from './current-key.controller.js';
import { KeysController } from './keys.controller.js';
import { KeysService } from './keys.service.js';

@Module({ controllers: [KeysController, CurrentKeyController], providers: [KeysService] })
export class KeysModule {}
