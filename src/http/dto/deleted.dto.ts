// What a deletion answers. Source: contract sections 2, 3 and 6.
import { ApiProperty } from '@nestjs/swagger';

export class DeletedDto {
  @ApiProperty({ enum: [true] })
  deleted: boolean;
}
