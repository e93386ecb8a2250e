import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { describeWith } from '../keys/programs.ts';

type Schema = Readonly<Record<string, unknown>>;

const FOLDER = join(import.meta.dirname, '../../schemas');
const SCHEMAS = readdirSync(FOLDER).map((file): readonly [string, Schema] => [
  file,
  JSON.parse(readFileSync(join(FOLDER, file), 'utf8')),
]);

/** Validates each instance as Debian's validator does; throws where it cannot make anything of a schema. */
const IN_PYTHON = `
import json, sys, warnings
warnings.simplefilter('ignore')
import jsonschema
verdicts = []
for schema, instance in json.load(sys.stdin):
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    verdicts.append(not list(kind(schema).iter_errors(instance)))
print(json.dumps(verdicts))
`;

describeWith(['jsonschema'], 'the schemas of the package, in validators of others', () => {
  test('resolve, and two validators agree on what is valid', () => {
    const pairs = SCHEMAS.flatMap(([file, schema]) =>
      [sampleOf(schema, schema), {}, null].map((instance) => ({ file, schema, instance })),
    );
    const input = JSON.stringify(pairs.map(({ schema, instance }) => [schema, instance]));
    const debian: readonly boolean[] = JSON.parse(
      execFileSync('/usr/bin/python3', ['-c', IN_PYTHON], { input, encoding: 'utf8' }),
    );
    const ajv = pairs.map(({ schema, instance }) => validatorOf(schema).validate(schema, instance));
    const named = (verdicts: readonly boolean[]) => pairs.map(({ file }, at) => [file, verdicts[at]]);
    expect(named(debian)).toEqual(named(ajv));
    expect(ajv).toContain(true);
    expect(ajv).toContain(false);
  });
});

function validatorOf({ $schema }: Schema) {
  const options = { strict: false, validateFormats: false };
  return String($schema).includes('draft-07') ? new Ajv(options) : new Ajv2020(options);
}

/** Something of the shape of a schema, so that all of it is looked at, whatever the verdict is. */
function sampleOf(schema: Schema | boolean, root: Schema, depth = 0): unknown {
  if (depth > 12 || typeof schema === 'boolean') return null;
  const below = (part: unknown) => sampleOf(part as Schema | boolean, root, depth + 1);
  if (typeof schema['$ref'] === 'string') {
    const path = schema['$ref'].replace(/^#\//u, '').split('/');
    return below(path.reduce<unknown>((at, name) => (at as Schema)[name], root));
  }
  if ('const' in schema) return schema['const'];
  const several = (schema['enum'] ?? schema['anyOf'] ?? schema['oneOf']) as readonly unknown[] | undefined;
  if (several !== undefined) return 'enum' in schema ? several[0] : below(several.at(-1));
  if (schema['type'] === 'array') return schema['items'] === undefined ? [] : [below(schema['items'])];
  if (schema['type'] === 'number' || schema['type'] === 'integer') return 1;
  if (schema['type'] === 'boolean') return true;
  if (schema['type'] === 'string') return '2026-03-01T02:00:00Z';
  return Object.fromEntries(
    Object.entries((schema['properties'] ?? {}) as Schema).map(([name, part]) => [name, below(part)]),
  );
}
