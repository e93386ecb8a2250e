import { Command, type CommanderError } from 'commander';
import { common, type Define, type Details, describe, detailsOf } from '../../src/cli/define.ts';
import { defineAll } from '../../src/cli/define-all.ts';
import { isNode, type Node, nodesOf, type SourceFile } from '../architecture/source-files.ts';

/** A command line, as the definitions of the program read it. */
export interface ParsedLine {
  /** What the parser says against it. */
  readonly refusal?: string;
  readonly flags: Readonly<Record<string, unknown>>;
  /** The command takes the only instance of a config by default, and the line names none. */
  readonly lacksInstance: boolean;
}

/** Reads the words after `lifeboat` with the program's own definitions. Nothing is run. */
export function parsedLine(words: readonly string[]): ParsedLine {
  let parsed: ParsedLine = { refusal: 'no command is named', flags: {}, lacksInstance: false };
  const program = definitions((made) => {
    const at = made.registeredArguments.findIndex((argument) => argument.name() === 'instance');
    const flags = made.opts();
    const isOpen = made.options.some(({ description }) => description.endsWith('(default: the only one)'));
    const isNamed =
      flags['all'] === true ||
      flags['allDue'] === true ||
      flags['folder'] !== undefined ||
      flags['instance'] !== undefined ||
      made.args[at] !== undefined;
    parsed = { flags, lacksInstance: isOpen && !isNamed };
  });
  try {
    program.parse([...words], { from: 'user' });
  } catch (thrown) {
    return { refusal: (thrown as CommanderError).message, flags: {}, lacksInstance: false };
  }
  return parsed;
}

/** The examples of every help text, each without its remark. */
export function examplesOfHelp(): string[] {
  const below = (command: Command): Details[] => [detailsOf(command), ...command.commands.flatMap(below)];
  return below(definitions(() => undefined)).flatMap(({ examples = [] }) => examples);
}

/** The definitions of all commands, which do nothing but say that they were called. */
function definitions(called: (made: Command) => void): Command {
  const quiet = { outputError: () => undefined, writeErr: () => undefined, writeOut: () => undefined };
  const program = new Command('lifeboat').configureOutput(quiet).exitOverride().enablePositionalOptions();
  for (const option of common({})) program.addOption(option);
  program.option('-V, --version').action(() => called(program));
  const command: Define = (parent, nameAndArgs, summary, _load, options = [], manner = {}) => {
    const made = parent.command(nameAndArgs).helpCommand(false);
    describe(made, summary, manner);
    for (const option of [...options, ...common(manner)]) made.addOption(option);
    return made.action(() => called(made));
  };
  defineAll(program, command);
  return program;
}

/**
 * The words of a command line after `lifeboat`, without what the shell reads: remarks, pipes, redirections.
 */
export function wordsOfLine(line: string): string[] {
  const [own = ''] = line.split(/\s(?:#|>|\||&&)\s?|<\(/);
  return [...own.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)]
    .map(([, one, two, three]) => one ?? two ?? three ?? '')
    .slice(1);
}

export interface Hint {
  /** `src/store/sqlite/open.ts: lifeboat resume`. */
  readonly where: string;
  readonly words: readonly string[];
}

/**
 * Each command of lifeboat that a text of the source hands to a person: in backticks, or after a colon up to
 * the next comma, semicolon or end. What a program fills in stands as `X`.
 */
export function hintsIn(file: SourceFile, isCommand: (word: string) => boolean): Hint[] {
  return textsIn(file.tree).flatMap((text) =>
    [...text.matchAll(/`(lifeboat [^`]+)`|(?<![\w`])(lifeboat [^\n,;`()]+)/g)].flatMap(
      ([, quoted, bare = '']): Hint[] => {
        const line = (quoted ?? bare).trim();
        const words = wordsOfLine(line);
        // Without backticks, `lifeboat` is the subject of a sentence unless a command comes next.
        const isHint = quoted !== undefined || isCommand(words[0] ?? '');
        return isHint ? [{ where: `${file.path}: ${line}`, words }] : [];
      },
    ),
  );
}

/** Every text of a syntax tree, put together where it is written in parts. */
function textsIn(tree: Node): string[] {
  const parts = new Set<unknown>();
  return nodesOf(tree).flatMap((node) => {
    const text = parts.has(node) ? undefined : textOf(node);
    if (text === undefined) return [];
    for (const part of nodesOf(node)) if (isText(part)) parts.add(part);
    return [text];
  });
}

function isText({ type }: Node): boolean {
  return type === 'Literal' || type === 'TemplateLiteral' || type === 'BinaryExpression';
}

function textOf(node: Node): string | undefined {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined;
  if (node.type === 'TemplateLiteral') return textOfTemplate(node);
  if (node.type !== 'BinaryExpression' || node['operator'] !== '+') return undefined;
  const [left, right] = [node['left'], node['right']].map((side) =>
    isNode(side) ? textOf(side) : undefined,
  );
  return left === undefined && right === undefined ? undefined : `${left ?? 'X'}${right ?? 'X'}`;
}

/** What is filled in directly after a word is an ending of it, or further flags. */
function textOfTemplate({ quasis }: Node): string {
  const texts = (quasis as readonly { readonly value: { readonly cooked: string } }[]).map(
    ({ value }) => value.cooked,
  );
  return texts.reduce((text, next) => `${text}${/\w$/.test(text) ? '' : 'X'}${next}`);
}
