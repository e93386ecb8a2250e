import { vi } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import { parse } from '../../src/cli/program.ts';
import type { NamedCommand } from './commands-in.ts';

/** The commands that lifeboat does not have, and each flag or runbook that a command of it does not know. */
export async function wrongAmong(commands: readonly NamedCommand[]): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { words, flags, text } of commands) {
    const help = await helpOf(words);
    if (help === undefined) wrong.push(text);
    wrong.push(
      ...flags
        .filter((flag) => help?.match(new RegExp(`${flag}(?![\\w-])`)) === null)
        .map((flag) => `${flag} in ${text}`),
    );
    const [command, runbook = ''] = words;
    const isOfRunbook = command === 'run' || command === 'drill';
    if (isOfRunbook && /^[a-z]/.test(runbook) && !Object.hasOwn(runbooks, runbook)) wrong.push(text);
  }
  return wrong;
}

/** The help of a command, as its user sees it; undefined when there is no such command. */
export async function helpOf(words: readonly string[]): Promise<string | undefined> {
  const help = await printedBy([...words, '--help']);
  const [, path = '', rest = ''] = /^Usage: lifeboat ?([a-z -]*?) ?\[options\](.*)$/m.exec(help) ?? [];
  const known = path.split(' ').filter((word) => word !== '');
  const takesMore = /<|\[(?!command)/.test(rest);
  const fits = words.length === known.length || (words.length > known.length && takesMore);
  return fits && known.every((word, at) => word === words[at]) ? help : undefined;
}

async function printedBy(argv: readonly string[]): Promise<string> {
  let printed = '';
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((chunk) => {
      printed += String(chunk);
      return true;
    }),
  );
  try {
    await parse(argv, '0.0.0', process, {});
    return printed;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
