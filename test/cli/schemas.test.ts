import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jsonSchemaOf, SCHEMAS, type SchemaName } from '../../src/cli/schemas/index.ts';
import { configJsonSchema } from '../../src/config/schema.ts';

const FILES = join(import.meta.dirname, '../../schemas');

describe('a schema', () => {
  test.each(Object.keys(SCHEMAS) as SchemaName[])(
    'lifeboat.%s/1 is in the package as JSON Schema',
    (name) => {
      const file = join(FILES, `${name}.json`);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(jsonSchemaOf(name));
    },
  );

  test('lifeboat.config/1, of the config, is in the package as JSON Schema', () => {
    const file = join(FILES, 'config.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(configJsonSchema());
  });

  test('is in the package for nothing that is not printed or read', () => {
    const files = readdirSync(FILES);
    expect(files.toSorted()).toEqual(
      [...Object.keys(SCHEMAS), 'config'].map((name) => `${name}.json`).toSorted(),
    );
  });
});
