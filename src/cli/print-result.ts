import type { z } from 'zod';
import type { DeepReadonly } from '../base/deep-readonly.ts';
import { printableJson } from '../base/text.ts';
import { type Column, tableLines } from '../plain/table.ts';
import { columnsOf, wantsColour } from '../plain/terminal.ts';
import type { CommandContext } from './context.ts';
import { inLots } from './in-lots.ts';
import type { SCHEMAS, SchemaName } from './schemas/index.ts';

/** The output of a command under a schema, without its name. */
export type ResultOf<Name extends SchemaName> = Readonly<
  Omit<DeepReadonly<z.input<(typeof SCHEMAS)[Name]['type']>>, 'schema'>
>;

type Output = Pick<CommandContext, 'stdout' | 'output'>;

export function isForPeople({ output = 'table' }: Pick<CommandContext, 'output'>): boolean {
  return output === 'table';
}

/**
 * Prints the result of a command to stdout: in words by `inWords`; with `-o json` as one line without
 * terminal control codes, and with `-o yaml` as one document, both with the schema's name.
 */
export async function printResult<Name extends SchemaName>(
  context: Output,
  name: Name,
  result: ResultOf<Name>,
  inWords: () => void,
): Promise<void> {
  if (isForPeople(context)) inWords();
  else await printRecord(context, name, result);
}

/** Prints one of many results to stdout at once: a line of JSON, or a YAML document. */
export async function printRecord<Name extends SchemaName>(
  context: Output,
  name: Name,
  result: ResultOf<Name>,
): Promise<void> {
  const value = { schema: `lifeboat.${name}/1`, ...result };
  if (context.output === 'yaml') {
    const { printableYaml } = await import('./printable-yaml.ts');
    context.stdout.write(`---\n${printableYaml(value)}`);
  } else context.stdout.write(`${printableJson(value)}\n`);
}

export interface ItemsPrinter<Item, Rest> {
  item(item: Item): void;
  /** Ends the document; `rest` is what the result has beside its items. */
  end(rest: Rest): Promise<void>;
}

/** For thousands of items: `-o json` prints each as it comes and keeps none. Only `end` makes it whole. */
export function printItems<Name extends SchemaName>(
  context: Output,
  name: Name,
): ResultOf<Name> extends { readonly items: readonly (infer Item)[] }
  ? ItemsPrinter<Item, Omit<ResultOf<Name>, 'items'>>
  : never;
export function printItems(context: Output, name: SchemaName): ItemsPrinter<object, object> {
  const { stdout, output } = context;
  if (output === 'yaml') {
    const items: object[] = [];
    const end = (rest: object) => printRecord(context, name, { ...rest, items } as never);
    return { item: (item) => void items.push(item), end };
  }
  let before = `${printableJson({ schema: `lifeboat.${name}/1` }).slice(0, -1)},"items":[`;
  return {
    item: (item) => {
      stdout.write(`${before}${printableJson(item)}`);
      before = ',';
    },
    end: async (rest) => {
      stdout.write(`${before === ',' ? '' : before}],${printableJson(rest).slice(1)}\n`);
    },
  };
}

/** Prints a table to stdout: cut to the terminal's width, whole in a pipe. */
export function printTable(
  { stdout, env }: CommandContext,
  columns: readonly Column[],
  rows: Iterable<readonly string[]>,
): void {
  const width = stdout.isTTY === true ? { width: columnsOf(stdout) } : {};
  const options = { ...width, colour: wantsColour(stdout, env) };
  for (const lot of inLots(ended(tableLines(columns, rows, options)))) stdout.write(lot);
}

function* ended(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}
