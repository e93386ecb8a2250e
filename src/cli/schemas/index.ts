import * as z from 'zod';
import { schemaId } from '../../base/schema-id.ts';
import { custody } from './custody.ts';
import { general, notify } from './general.ts';
import { proof } from './proof.ts';
import { runs } from './runs.ts';
import { service } from './service.ts';
import { status } from './status.ts';

/**
 * The output of commands with `-o json` and `-o yaml`, by name: `lifeboat.NAME/1`. Both the types and the
 * JSON Schemas (`lifeboat schema`, `schemas/`) come from here.
 */
export const SCHEMAS = {
  ...general,
  ...runs,
  ...proof,
  ...service,
  ...status,
  ...custody,
  ...notify,
} as const;
export type SchemaName = keyof typeof SCHEMAS;

/** A schema as JSON Schema, draft 2020-12. Fields that it does not name may be added later. */
export function jsonSchemaOf(name: SchemaName): Readonly<Record<string, unknown>> {
  const { about, type } = SCHEMAS[name];
  const { $schema, ...rest } = z.toJSONSchema(type, { io: 'input' });
  return { $schema, $id: schemaId(name), title: about, ...rest };
}

/** The name of the one schema that describes a file, not output (config/json-schema.ts). */
export const OF_CONFIG = 'config';

export function listSchemas(): { readonly name: SchemaName | typeof OF_CONFIG; readonly about: string }[] {
  const printed = (Object.keys(SCHEMAS) as SchemaName[]).map((name) => ({
    name,
    about: SCHEMAS[name].about,
  }));
  const all = [...printed, { name: OF_CONFIG, about: 'lifeboat.yaml itself, for editors' } as const];
  return all.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
