import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** What an error with a code says, as the source writes it; what is put in at run time is `…`. */
export interface CodeWords {
  readonly code: string;
  readonly message: string;
  /** The first thing that is safe to do; undefined where the hints are made at run time. */
  readonly hint: string | undefined;
}

/** Names of colours look like codes. */
const CODE = /^(?!(?:text|status)\.)[a-z][a-z-]*\.[a-z][a-z-]*$/u;

/**
 * Every code of an error in the source with its words, sorted by code: a text that looks like a code, with a
 * sentence after it, among the arguments of a call or the items of a list. Of several places with one code
 * the first one with a hint counts.
 */
export function errorCodes(root: string): readonly CodeWords[] {
  const found = new Map<string, CodeWords>();
  for (const file of globSync(['src/**/*.ts', 'src/**/*.tsx', 'machines/**/*.ts'], {
    cwd: root,
  }).toSorted()) {
    const { program } = parseSync(file, readFileSync(join(root, file), 'utf8'));
    const take = (items: readonly unknown[]) => {
      const words = wordsIn(items as readonly Node[]);
      if (words === undefined) return;
      const before = found.get(words.code);
      if (before === undefined || worthOf(before) < worthOf(words)) found.set(words.code, words);
    };
    new Visitor({
      CallExpression: ({ arguments: items }) => take(items),
      NewExpression: ({ arguments: items }) => take(items),
      ArrayExpression: ({ elements }) => take(elements),
      ObjectExpression: ({ properties }) => take(failureParts(properties as unknown as readonly Node[])),
    }).visit(program);
  }
  return [...found.values()].toSorted((one, other) => (one.code < other.code ? -1 : 1));
}

/** A message of its own tells most, then a hint. */
function worthOf({ message, hint }: CodeWords): number {
  return (message === MADE_AT_RUN_TIME.value ? 0 : 2) + (hint === undefined ? 0 : 1);
}

interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly key?: { readonly name?: string };
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
  readonly left?: Node;
  readonly right?: Node;
  readonly operator?: string;
  readonly properties?: readonly Node[];
  readonly elements?: readonly Node[];
  readonly consequent?: Node;
}

function wordsIn([first, second, third]: readonly Node[]): CodeWords | undefined {
  const code = textOf(first);
  const message = textOf(second);
  if (code === undefined || !CODE.test(code) || message === undefined || !/[a-z] [a-z…]/u.test(message))
    return undefined;
  return { code, message, hint: textOf(third) ?? hintIn(third) };
}

/** The parts of `{ code, shortMessage, hints }` in the order of the arguments of an error. */
function failureParts(properties: readonly Node[]): readonly Node[] {
  const part = (name: string) => properties.find(({ key }) => key?.name === name)?.value as Node | undefined;
  const [code, message] = [part('code'), part('shortMessage') ?? part('words')];
  if (code === undefined) return [];
  return [code, message ?? MADE_AT_RUN_TIME, { type: 'ObjectExpression', properties }];
}

/** What is wrong is put into words where the code is used. */
const MADE_AT_RUN_TIME: Node = { type: 'Literal', value: 'it depends on the case' };

function hintIn(node: Node | undefined): string | undefined {
  const hints = node?.properties?.find(({ key }) => key?.name === 'hints')?.value as Node | undefined;
  return hints?.elements?.map(textOf).find((text) => text !== undefined);
}

/** A text of the source, with `…` for what is put in at run time. */
function textOf(node: Node | null | undefined): string | undefined {
  if (node === null || node === undefined) return undefined;
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type === 'TemplateLiteral') return node.quasis?.map(({ value }) => value.cooked).join('…');
  if (node.type === 'ConditionalExpression') return textOf(node.consequent);
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

/** The page of all codes. */
export function errorCodesPage(root: string): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  const rows = errorCodes(root).map(
    ({ code, message, hint }) =>
      `| \`${code}\` | ${cell(message)} | ${hint === undefined ? '' : cell(hint)} |`,
  );
  return `# Error codes

Each error has a code, which programs can rely on: the last line of an error for people, \`code\` in JSON.
A code may have several messages; this table shows one of them, with its first hint, and \`…\` for what depends on the case.
\`audit verify\` and \`status\` use the same form for their findings and reasons.
What to do about the most common ones: [Troubleshooting](troubleshooting.md).

| code | what it says | what is safe to do next |
|---|---|---|
${rows.join('\n')}
`;
}
