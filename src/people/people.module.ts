// People: their roles, and their sign-in by an identity provider.
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { GroupMappingsService } from './group-mappings.service.js';
import { PeopleController } from './people.controller.js';
import { PeopleService } from './people.service.js';
import { SignInProviders } from './sign-in-providers.js';
import { SignInService } from './sign-in.service.js';

@Module({
  imports: [AuthModule],
  controllers: [PeopleController],
  providers: [GroupMappingsService, PeopleService, SignInProviders, SignInService],
  exports: [SignInProviders, SignInService],
})
export class PeopleModule {}
