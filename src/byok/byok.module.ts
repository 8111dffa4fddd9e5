import { Module } from '@nestjs/common';
import { ByokController } from './byok.controller.js';
import { ByokService } from './byok.service.js';

@Module({ controllers: [ByokController], providers: [ByokService] })
export class ByokModule {}
