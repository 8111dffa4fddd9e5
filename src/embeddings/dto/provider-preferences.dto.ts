// The `provider` object of an embeddings request: a closed object, every member optional. Source: contract 4.4.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean, IsString, ValidateIf } from 'class-validator';

const MAX_SLUGS = 100;

const IfGiven = (): PropertyDecorator =>
  ValidateIf((_object, value: unknown) => value !== undefined && value !== null);

function SlugList(description: string): PropertyDecorator {
  return (target, name) => {
    ApiPropertyOptional({ type: [String], nullable: true, description })(target, name);
    IfGiven()(target, name);
    IsArray({ message: 'must be an array' })(target, name);
    ArrayMaxSize(MAX_SLUGS, { message: `must have at most ${MAX_SLUGS} elements` })(target, name);
    IsString({ each: true, message: 'must hold provider slugs' })(target, name);
  };
}

export class ProviderPreferencesDto {
  @SlugList('Providers to try, in this order.')
  order?: string[] | null;

  @SlugList('The only providers that may serve.')
  only?: string[] | null;

  @SlugList('Providers that must not serve.')
  ignore?: string[] | null;

  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    default: true,
    description: 'False: only the first endpoint is tried and its error is returned.',
  })
  @IfGiven()
  @IsBoolean({ message: 'must be a boolean' })
  allow_fallbacks?: boolean | null;
}
