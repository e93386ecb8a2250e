import { EXIT, LifeboatError } from '../base/errors.ts';
import { mostSimilar } from '../base/similar.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import { printResult, printTable } from '../cli/print-result.ts';

/**
 * `lifeboat schema [NAME]`: lists the schemas of `-o json`, of lifeboat.yaml (`config`) and plan files
 * (`plan`), or prints one as JSON Schema. Also accepts `lifeboat.NAME/1`.
 */
export async function schema(context: CommandContext, [word]: readonly string[]): Promise<number> {
  const { jsonSchemaOf, listSchemas } = await import('../cli/schemas/index.ts');
  const all = listSchemas();
  if (word === undefined) {
    const items = all.map(({ name, about }) => ({ name: `lifeboat.${name}/1`, about }));
    await printResult(context, 'schemas', { items }, () =>
      printTable(
        context,
        [{ title: 'schema' }, { title: 'what it is', gives: true }],
        items.map((item) => [item.name, item.about]),
      ),
    );
    return EXIT.closed;
  }
  const wanted = /^(?:lifeboat\.)?([\w-]+?)(?:\/1)?$/u.exec(word)?.[1];
  const found = all.find(({ name }) => name === wanted)?.name;
  const names = all.map(({ name }) => name);
  if (found === undefined) throw unknown(word, wanted, names);
  const made =
    found === 'config'
      ? (await import('../config/schema.ts')).configJsonSchema()
      : found === 'plan'
        ? (await import('../plans/plan-file.ts')).planJsonSchema()
        : jsonSchemaOf(found);
  const text = JSON.stringify(made, undefined, 2);
  if (context.output !== 'yaml') context.stdout.write(`${text}\n`);
  else {
    const { printableYaml } = await import('../cli/printable-yaml.ts');
    context.stdout.write(printableYaml(JSON.parse(text)));
  }
  return EXIT.closed;
}

function unknown(word: string, wanted: string | undefined, names: readonly string[]): LifeboatError {
  const near = mostSimilar(wanted ?? word, names);
  return new LifeboatError('usage.schema', `there is no schema ${show(word, 60)}`, {
    hints: [...near, '`lifeboat schema` lists them'],
    exitCode: EXIT.usage,
  });
}
