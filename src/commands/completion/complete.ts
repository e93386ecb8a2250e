import type { Argument, Command, Option } from 'commander';
import { EXIT } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { FILES } from './completion.ts';

/**
 * `lifeboat complete SHELL -- WORDS`: the completions of the last word, one per line, or the line `:files`.
 * For the scripts of `lifeboat completion`. Reads neither config nor journal, and never prompts. On any error
 * it prints nothing and exits with 0.
 */
export function completeOn(program: Command) {
  return async (context: CommandContext, [shell = '', ...words]: readonly string[]): Promise<number> => {
    try {
      const typed = shell === 'bash' ? joined(words) : words;
      const offer = offerFor(program, typed);
      const found = offer.source === undefined ? [] : await WORDS[offer.source]();
      for (const line of linesFor(shell, typed.at(-1) ?? '', offer, found)) context.stdout.write(`${line}\n`);
    } catch {
      // The user is typing: an error message would corrupt the line.
    }
    return EXIT.closed;
  };
}

/** Bash passes `--output=json` as three words. */
function joined(words: readonly string[]): readonly string[] {
  const all: string[] = [];
  for (const word of words) {
    const before = all.at(-1) ?? '';
    const isEnd = word === '=' && /^--[\w-]+$/u.test(before);
    if (isEnd || /^--[\w-]+=$/u.test(before)) all[all.length - 1] = `${before}${word}`;
    else all.push(word);
  }
  return all;
}

const WORDS: Readonly<Record<Source, () => Promise<readonly Candidate[]>>> = {
  runbooks: async () => {
    const { RUNBOOKS } = await import('../../cli/help-texts.ts');
    return RUNBOOKS.map(([value, about]) => ({ value, about }));
  },
  scenarios: async () => {
    const { SCENARIOS } = await import('../../lab/scenarios/scenario.ts');
    return SCENARIOS.map(({ name, summary }) => ({ value: name, about: summary }));
  },
  schemas: async () => {
    const { listSchemas } = await import('../../cli/schemas/index.ts');
    return listSchemas().map(({ name, about }) => ({ value: name, about }));
  },
};

interface Candidate {
  readonly value: string;
  readonly about: string;
}

type Source = 'runbooks' | 'scenarios' | 'schemas';

/** What completion offers for the last word of a line. */
interface Offer {
  readonly fixed: readonly Candidate[];
  /** Its words are read only when needed. */
  readonly source: Source | undefined;
  readonly files: boolean;
  /** The part of the last word before the value: `--output=`. */
  readonly before: string;
}

/** What completes a line: its words without the program, the last one as typed so far. Pure. */
export function offerFor(program: Command, words: readonly string[]): Offer {
  const { command, pending, positionals, isOver } = walk(program, words.slice(0, -1));
  const last = words.at(-1) ?? '';
  const none = { fixed: [], source: undefined, files: false, before: '' };
  if (pending === 'unknown' && !last.startsWith('-')) return none;
  if (pending !== undefined && pending !== 'unknown') return { ...none, ...valuesOf(pending) };
  const [, flag = '', attached] = /^(--[^=]+)(=)/u.exec(last) ?? [];
  if (!isOver && attached !== undefined) {
    const option = optionOf(command, flag);
    return option === undefined ? none : { ...none, ...valuesOf(option), before: `${flag}=` };
  }
  if (!isOver && last.startsWith('-')) return { ...none, fixed: flagsOf(command) };
  const explained = command.name() === 'help' ? commandNamed(program, positionals) : undefined;
  const fixed = [...(positionals.length === 0 ? commandsOf(command) : []), ...commandsOf(explained)];
  const argument = argumentAt(command, positionals.length);
  const wanted = argument === undefined ? none : { ...none, ...valuesOf(argument, command) };
  return { ...wanted, fixed: [...fixed, ...wanted.fixed] };
}

function commandNamed(program: Command, words: readonly string[]): Command | undefined {
  return words.reduce<Command | undefined>(
    (command, word) => command?.commands.find((one) => one.name() === word),
    program,
  );
}

function commandsOf(command: Command | undefined): readonly Candidate[] {
  const below = command?.createHelp().visibleCommands(command) ?? [];
  return below.map((one) => ({ value: one.name(), about: one.summary() }));
}

interface Walked {
  readonly command: Command;
  /** A flag that waits for its value; an unknown flag may be waiting for one. */
  readonly pending: Option | 'unknown' | undefined;
  readonly positionals: readonly string[];
  /** After `--` nothing is a flag. */
  readonly isOver: boolean;
}

/** Reads a line from its beginning, as the parser does. */
function walk(program: Command, words: readonly string[]): Walked {
  let walked: Walked = { command: program, pending: undefined, positionals: [], isOver: false };
  for (const word of words) walked = step(walked, word);
  return walked;
}

function step(walked: Walked, word: string): Walked {
  const { command, pending, positionals, isOver } = walked;
  const rest = { ...walked, pending: undefined };
  if (pending !== undefined && pending !== 'unknown') return rest;
  if (isOver || !word.startsWith('-') || word === '-') {
    const below =
      positionals.length === 0 && !isOver ? command.commands.find((one) => one.name() === word) : undefined;
    if (below !== undefined) return { ...rest, command: below };
    // A word after an unknown flag may be its value.
    return pending === 'unknown' ? rest : { ...rest, positionals: [...positionals, word] };
  }
  if (word === '--') return { ...rest, isOver: true };
  if (/^--[^=]+=/u.test(word)) return rest;
  const option = optionOf(command, word);
  if (option !== undefined) return option.required ? { ...rest, pending: option } : rest;
  // A short flag may include its value: `-ojson`.
  return /^-\w./u.test(word) ? rest : { ...rest, pending: 'unknown' };
}

function optionOf(command: Command, flag: string): Option | undefined {
  return command.options.find(({ short, long }) => short === flag || long === flag);
}

function flagsOf(command: Command): readonly Candidate[] {
  const help = command.createHelp();
  return help
    .visibleOptions(command)
    .flatMap(({ short, long, description }) =>
      [long, short].flatMap((value) => (value === undefined ? [] : [{ value, about: description }])),
    );
}

function argumentAt(command: Command, at: number): Argument | undefined {
  const all = command.registeredArguments;
  const last = all.at(-1);
  return all[at] ?? (last?.variadic === true ? last : undefined);
}

/** The values of a flag or an argument: its choices, or those that its name implies. */
function valuesOf(taken: Option | Argument, command?: Command): Pick<Offer, 'fixed' | 'source' | 'files'> {
  const choices = taken.argChoices ?? [];
  if (choices.length > 0)
    return { fixed: choices.map((value) => ({ value, about: '' })), source: undefined, files: false };
  const name =
    'flags' in taken
      ? (taken.long ?? '')
      : `${command?.parent?.name() ?? ''} ${command?.name() ?? ''} ${taken.name()}`;
  const placeholder = 'flags' in taken ? taken.flags : `<${taken.name()}>`;
  return {
    fixed: [],
    source: SOURCES.find(([pattern]) => pattern.test(name))?.[1],
    files: /<(?:file|dir|request|signature)>/u.test(placeholder) || placeholder.includes('bundle'),
  };
}

/** By the name of a flag, or by the names of command and argument. */
const SOURCES: readonly (readonly [RegExp, Source])[] = [
  [/^--scenario$/u, 'scenarios'],
  [/ runbook$/u, 'runbooks'],
  [/ schema name$/u, 'schemas'],
];

/** Text that is safe to hand to a shell: it contains nothing to expand, split or run. */
const PLAIN = /^[\w@%+:,./-]+$/u;

/** The shell's lines for the candidates that continue the last word. */
export function linesFor(shell: string, last: string, offer: Offer, found: readonly Candidate[]): string[] {
  const { before, files } = offer;
  const begun = last.slice(before.length);
  const fitting = [...offer.fixed, ...found].filter(
    ({ value }) => value.startsWith(begun) && PLAIN.test(value),
  );
  if (fitting.length === 0) return files ? [FILES] : [];
  return fitting.map(({ value, about }) => LINES[shell]?.(value, show(about, 80), before) ?? value);
}

const LINES: Readonly<Record<string, (value: string, about: string, before: string) => string>> = {
  zsh: (value, about) => [value.replaceAll(':', '\\:'), ...(about === '' ? [] : [about])].join(':'),
  fish: (value, about, before) => [`${before}${value}`, ...(about === '' ? [] : [about])].join('\t'),
};
