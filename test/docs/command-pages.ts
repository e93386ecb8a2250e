import type { Command, Option } from 'commander';
import { COMMON_OPTIONS, detailsOf } from '../../src/cli/define.ts';
import { HELP, pathOf } from '../../src/cli/help-texts.ts';

/** A command as the documents show it. */
interface Page {
  readonly path: string;
  readonly usage: string;
  readonly summary: string;
  /** Paragraphs of whole sentences. */
  readonly about: readonly string[];
  readonly options: readonly { readonly flags: string; readonly words: string }[];
  readonly notes: readonly string[];
  readonly examples: readonly string[];
}

/** Every command that the help shows, each before those below it. */
function pagesOf(command: Command): readonly Page[] {
  const help = command.createHelp();
  const { about = '', notes = [], examples = [] } = detailsOf(command);
  const isCommon = ({ helpGroupHeading, long }: Option) =>
    helpGroupHeading === COMMON_OPTIONS || long === '--help';
  const page: Page = {
    path: pathOf(command),
    usage: `${pathOf(command)} ${command.usage()}`,
    summary: `${command.summary().charAt(0).toUpperCase()}${command.summary().slice(1)}.`,
    about: about === '' ? [] : about.split('\n\n').map((text) => text.replaceAll('\n', ' ')),
    options: help
      .visibleOptions(command)
      .filter((option) => !isCommon(option))
      .map((option) => ({ flags: option.flags, words: help.optionDescription(option) })),
    notes,
    examples,
  };
  return [page, ...help.visibleCommands(command).flatMap(pagesOf)];
}

/** What stands in front of both documents: the flags that every command takes. */
function commonOf(program: Command): Page['options'] {
  const help = program.createHelp();
  return program.options
    .filter(({ helpGroupHeading }) => helpGroupHeading === COMMON_OPTIONS)
    .map((option) => ({ flags: option.flags, words: help.optionDescription(option) }));
}

/** The reference of all commands, Markdown. */
export function commandsPage(program: Command): string {
  const [root, ...pages] = pagesOf(program);
  const contents = pages.map(
    ({ path, summary }) => `| [\`${path}\`](#${anchorOf(path)}) | ${cell(summary)} |`,
  );
  return `${[
    '# Commands',
    '<!-- Made by `npm run docs` from what the program says in its help. -->',
    `${root?.summary}\n\`lifeboat help COMMAND\` prints any of this.\n\`man lifeboat\` has all of it where the package is installed.`,
    ['| command | what it does |', '|---|---|', ...contents].join('\n'),
    '## Common options',
    'Put them before or after the command.',
    tableOf(commonOf(program)),
    ...(HELP.notes ?? []).flatMap(noteOf),
    ...pages.flatMap(({ path, usage, summary, about, options, notes, examples }) => [
      `## ${path}`,
      fence(usage),
      [summary, ...about].map(sentences).join('\n\n'),
      ...(options.length === 0 ? [] : [tableOf(options)]),
      ...notes.flatMap(noteOf),
      ...(examples.length === 0 ? [] : [`Examples:\n\n${fence(examples.join('\n'))}`]),
    ]),
  ].join('\n\n')}\n`;
}

function anchorOf(path: string): string {
  return path.replaceAll(' ', '-');
}

function fence(text: string): string {
  return `\`\`\`text\n${text}\n\`\`\``;
}

/** A note begins with its heading. */
function noteOf(note: string): readonly string[] {
  const [heading = '', ...lines] = note.split('\n');
  return [heading, fence(lines.join('\n'))];
}

/** One sentence a line. */
function sentences(paragraph: string): string {
  return paragraph.replaceAll(/(?<=[.:]) (?=[A-Z`])/gu, '\n');
}

function tableOf(options: Page['options']): string {
  const rows = options.map(({ flags, words }) => `| \`${cell(flags)}\` | ${cell(words)} |`);
  return ['| flag | what it does |', '|---|---|', ...rows].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** The manual page of section 1, in the macros of man(7). */
export function manPage(program: Command, version: string): string {
  const [root, ...pages] = pagesOf(program);
  const lines = [
    '.\\" Made by `npm run docs` from what the program says in its help.',
    `.TH LIFEBOAT 1 "" "lifeboat ${version}" "User Commands"`,
    // What is to be typed must not be broken at a hyphen.
    '.nh',
    '.ad l',
    '.SH NAME',
    `lifeboat \\- ${roff(program.summary())}`,
    '.SH SYNOPSIS',
    '.B lifeboat',
    roff('[options] command'),
    '.SH DESCRIPTION',
    roff(root?.summary ?? ''),
    '.PP',
    roff(
      'An instance is named as an argument or with -i. A run, a follow-up or a call is named by its id, by',
    ),
    roff('a beginning of it that no other has, or by the word last.'),
    '.SH COMMON OPTIONS',
    roff('Put them before or after the command.'),
    ...commonOf(program).flatMap(optionLines),
    '.SH COMMANDS',
    ...pages.flatMap(({ usage, summary, about, options, notes, examples }) => [
      `.SS ${roff(usage)}`,
      roff(summary),
      ...about.flatMap((paragraph) => ['.PP', roff(paragraph)]),
      ...options.flatMap(optionLines),
      ...notes.flatMap(noteLines),
      ...(examples.length === 0 ? [] : ['.PP', 'Examples:', '.PP', ...literal(examples)]),
    ]),
    ...(HELP.notes ?? []).flatMap((note) => {
      const [heading = '', ...rest] = note.split('\n');
      return [`.SH ${heading.replace(':', '').toUpperCase()}`, ...literal(rest)];
    }),
    '.SH EXAMPLES',
    ...literal(HELP.examples ?? []),
  ];
  return `${lines.join('\n')}\n`;
}

function optionLines({ flags, words }: Page['options'][number]): readonly string[] {
  return ['.TP', `.B ${roff(flags)}`, roff(words)];
}

function noteLines(note: string): readonly string[] {
  const [heading = '', ...lines] = note.split('\n');
  return ['.PP', roff(heading), '.PP', ...literal(lines)];
}

/** Lines as they are. */
function literal(lines: readonly string[]): readonly string[] {
  return ['.nf', ...lines.map((line) => roff(line)), '.fi'];
}

/** Text in which nothing is a request or an escape, and a dash can be copied as one. */
function roff(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('·', ',');
  return /^[.']/u.test(escaped) ? `\\&${escaped}` : escaped;
}
