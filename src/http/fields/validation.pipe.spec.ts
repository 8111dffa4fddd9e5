// The error detail for a body that breaks its rules.
import { describe, expect, it } from '@jest/globals';
import { Type } from 'class-transformer';
import { IsArray, IsString, ValidateNested } from 'class-validator';
import { RequestValidationPipe } from './validation.pipe.js';

class LeafDto {
  @IsString({ message: 'must be a string' })
  text: string;
}

class BodyDto {
  @IsString({ message: 'must be a string' })
  name: string;

  @IsArray({ message: 'must be an array' })
  @ValidateNested({ each: true })
  @Type(() => LeafDto)
  leaves: LeafDto[];
}

const SECRET = 'do-not-show-this-secret';
const GOOD = { name: 'x', leaves: [{ text: 'y' }] };

function validate(body: unknown): Promise<unknown> {
  return new RequestValidationPipe().transform(body, { type: 'body', metatype: BodyDto });
}

/** The text behind the standard text of a 400. */
async function detailOf(body: unknown): Promise<string> {
  const error = await validate(body).then(
    () => new Error('nothing was refused'),
    (thrown: Error) => thrown,
  );
  expect(error).toMatchObject({ status: 400 });
  return error.message.replace('Invalid request parameters: ', '');
}

function nested(depth: number): unknown {
  let value: unknown = 'end';
  for (let level = 0; level < depth; level++) value = { inner: [value] };
  return value;
}

describe('RequestValidationPipe', () => {
  it('returns a valid body as an instance of its class', async () => {
    const dto = await validate(GOOD);
    expect(dto).toBeInstanceOf(BodyDto);
    expect((dto as BodyDto).leaves[0]).toBeInstanceOf(LeafDto);
    expect(dto).toEqual(GOOD);
  });

  it('names every member at fault by its path, and no value', async () => {
    const body = { name: [SECRET], leaves: [{ text: 'y' }, { text: 7, [SECRET.slice(0, 6)]: SECRET }] };
    const detail = await detailOf(body);
    expect(detail.split('; ').toSorted()).toEqual([
      'leaves[1].do-not: is not a member of this object',
      'leaves[1].text: must be a string',
      'name: must be a string',
    ]);
    expect(detail).not.toContain(SECRET);
  });

  it('reports five problems and the number of further ones', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 7 }, (_value, index) => [`extra${index}`, 1]));
    const detail = await detailOf({ ...GOOD, ...unknown });
    expect(detail).toMatch(/extra4: is not a member of this object; and 2 more$/);
    expect(detail).not.toContain('extra5');
  });

  it('cuts long names and replaces line breaks', async () => {
    expect(await detailOf({ ...GOOD, ['x'.repeat(65)]: 1 })).toBe(
      `${'x'.repeat(64)}...: is not a member of this object`,
    );
    expect(await detailOf({ ...GOOD, 'a\r\nb\u2028': 1 })).toBe('a??b?: is not a member of this object');
  });

  it.each(['__proto__', 'constructor', 'toString', 'valueOf'])(
    'rejects the name %s at any depth',
    async (name) => {
      const hostile = JSON.parse(`{"${name}":{"polluted":true}}`) as object;
      // JSON.parse makes `__proto__` a member; spreading keeps it one.
      expect(await detailOf(JSON.parse(JSON.stringify(GOOD).replace('{', `{"${name}":1,`)))).toBe(
        `${name}: is not a name that a member may have`,
      );
      expect(await detailOf({ ...GOOD, leaves: [{ text: 'y' }, hostile] })).toBe(
        `leaves[1].${name}: is not a name that a member may have`,
      );
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );

  it('rejects bodies of endless nesting before any code recurses into them', async () => {
    expect(await detailOf({ ...GOOD, leaves: nested(100_000) })).toBe('leaves: is nested too deeply');
    expect(await detailOf({ ...GOOD, unknown: nested(10) })).toBe('unknown: is not a member of this object');
  });
});
