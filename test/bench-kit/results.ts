import { SCHEMAS, type SchemaName } from '../../src/cli/schemas/index.ts';

/** The elements of a list that a command printed with `-o json`. */
export function itemsIn<Item>(stdout: string): readonly Item[] {
  return (JSON.parse(stdout) as { readonly items: readonly Item[] }).items;
}

/** What the service answered, in what a command printed with `-o json`. */
// biome-ignore lint/suspicious/noExplicitAny: each service spells its answers in its own way.
export function answerIn(stdout: string): any {
  return (JSON.parse(stdout) as { readonly answer: unknown }).answer;
}

/**
 * Holds every whole line that names a schema of lifeboat against that schema, and gives the names. Throws for
 * one that does not fit, or that has a field which its schema does not name.
 */
export function schemasIn(output: string): readonly SchemaName[] {
  return output
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      const [, name] = /^\{"schema":"lifeboat\.([a-z-]+)\/1"/u.exec(line) ?? [];
      if (name === undefined || !Object.hasOwn(SCHEMAS, name)) return [];
      hold(name as SchemaName, JSON.parse(line));
      return [name as SchemaName];
    });
}

function hold(name: SchemaName, value: unknown): void {
  const read = SCHEMAS[name].type.safeParse(value);
  if (!read.success) throw new Error(`not lifeboat.${name}/1: ${read.error.message}`);
  const unnamed = fieldsBeyond(value, read.data);
  if (unnamed.length > 0) throw new Error(`lifeboat.${name}/1 does not name ${unnamed.join(', ')}`);
}

/** The paths of fields that a schema has dropped when it read a value. */
function fieldsBeyond(value: unknown, read: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const kept = (read ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(value).flatMap(([key, inner]) =>
    Object.hasOwn(kept, key) ? fieldsBeyond(inner, kept[key], `${path}/${key}`) : [`${path}/${key}`],
  );
}
