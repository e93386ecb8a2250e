import * as z from 'zod';
import { schemaId } from '../base/schema-id.ts';
import { Config } from './schema.ts';

export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly [field: string]: unknown;
}

export const CONFIG_SCHEMA = schemaId('config');

/**
 * lifeboat.yaml as JSON Schema, draft 7, for editors (yaml-language-server). It accepts everything that
 * `parseConfig` accepts, and more: properties of a text, such as an address, are checked only there.
 */
export function configJsonSchema(): JsonSchema {
  made ??= makeSchema();
  return made;
}

/** Created once: each misspelled key is looked up in it. */
let made: JsonSchema | undefined;

function makeSchema(): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(Config, { io: 'input', target: 'draft-7' });
  return { $schema, $id: CONFIG_SCHEMA, title: 'lifeboat.yaml', ...rest } as JsonSchema;
}
