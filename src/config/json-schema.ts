import * as z from 'zod';
import { schemaId } from '../base/schema-id.ts';
import { Config } from './schema.ts';

/** A JSON Schema, as far as it is read here. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly [field: string]: unknown;
}

/** The `$id` of the schema of lifeboat.yaml. */
export const CONFIG_SCHEMA = schemaId('config');

/**
 * lifeboat.yaml as JSON Schema, draft 7: what editors read (yaml-language-server). It takes what
 * `parseConfig` takes, and more: what depends on several characters of a text, such as an address, is checked
 * there only.
 */
export function configJsonSchema(): JsonSchema {
  made ??= makeSchema();
  return made;
}

/** Made once: each key that is misspelt is looked up in it. */
let made: JsonSchema | undefined;

function makeSchema(): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(Config, { io: 'input', target: 'draft-7' });
  return { $schema, $id: CONFIG_SCHEMA, title: 'lifeboat.yaml', ...rest } as JsonSchema;
}
