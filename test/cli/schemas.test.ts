import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jsonSchemaOf, OF_FILES, SCHEMAS, type SchemaName } from '../../src/cli/schemas/index.ts';
import { configJsonSchema } from '../../src/config/schema.ts';
import { planJsonSchema } from '../../src/plans/plan-file.ts';

const FILES = join(import.meta.dirname, '../../schemas');

describe('a schema', () => {
  test.each(Object.keys(SCHEMAS) as SchemaName[])(
    'lifeboat.%s/1 is in the package as JSON Schema',
    (name) => {
      const file = join(FILES, `${name}.json`);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(jsonSchemaOf(name));
    },
  );

  test.each([
    ['config', configJsonSchema()],
    ['plan', planJsonSchema()],
  ])('lifeboat.%s/1, of a file that people write, is in the package as JSON Schema', (name, wanted) => {
    expect(JSON.parse(readFileSync(join(FILES, `${name}.json`), 'utf8'))).toEqual(wanted);
  });

  test('is in the package only for what is printed or read', () => {
    const files = readdirSync(FILES);
    expect(files.toSorted()).toEqual(
      [...Object.keys(SCHEMAS), ...Object.keys(OF_FILES)].map((name) => `${name}.json`).toSorted(),
    );
  });
});
