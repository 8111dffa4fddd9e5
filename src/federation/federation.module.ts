import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { FederationPoliciesController } from './federation-policies.controller.js';
import { FederationPoliciesService } from './federation-policies.service.js';
import { IssuerKeys } from './issuer-keys.js';
import { SubjectTokens } from './subject-tokens.js';
import { TokenController } from './token.controller.js';
import { TokenExchangeService } from './token-exchange.service.js';

@Module({
  imports: [AuthModule],
  controllers: [FederationPoliciesController, TokenController],
  providers: [FederationPoliciesService, IssuerKeys, SubjectTokens, TokenExchangeService],
})
export class FederationModule {}
