// A call of a tool as a model asks for it, in an answer and in a stored one.
import { ObjectField } from '../fields/compound-fields.js';
import { EnumField, TextField } from '../fields/scalar-fields.js';

class CalledFunctionDto {
  @TextField() name: string;
  @TextField({ description: 'JSON as the model wrote it.' }) arguments: string;
}

export class ToolCallDto {
  @TextField() id: string;
  @EnumField(['function']) type: string;
  @ObjectField(CalledFunctionDto) function: CalledFunctionDto;
}
