// The number of models on the wire. Source: contract section 6.
import { ApiProperty } from '@nestjs/swagger';

class ModelCountDto {
  @ApiProperty({ type: 'integer', example: 42 })
  count: number;
}

export class ModelCountResponseDto {
  @ApiProperty()
  data: ModelCountDto;
}
