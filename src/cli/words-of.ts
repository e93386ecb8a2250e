import type { Command } from 'commander';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { FormFlags } from './output-form.ts';

/** The flags that every command takes, and every group before it. */
export interface CommonFlags extends FormFlags {
  readonly config?: string;
  readonly alone?: string;
}

/** What somebody typed for a command. */
interface Words {
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  /** The common flags as they stand before the command and after it, outermost first. */
  readonly levels: readonly CommonFlags[];
}

/**
 * The arguments and flags of a command that was parsed. Its argument `instance` becomes the flag of that
 * name; where it takes several, all of both. Throws `usage.instance` (exit 2) where one is meant and they
 * differ, `usage.output` where a form is asked for that the command does not have.
 */
export function wordsOf(command: Command): Words {
  const values: unknown[] = [...command.processedArgs];
  const at = command.registeredArguments.findIndex((argument) => argument.name() === 'instance');
  const [positional] = at === -1 ? [] : values.splice(at, 1);
  const flags = command.opts();
  const args = values.flat().filter((arg): arg is string => typeof arg === 'string');
  return { args, flags: { ...flags, ...instancesOf(positional, flags) }, levels: levelsOf(command) };
}

/** What argument and flag say together; of a command that takes several instances, all of them. */
function instancesOf(positional: unknown, flags: Readonly<Record<string, unknown>>) {
  if (Array.isArray(positional)) return { instance: [...positional, ...[flags['instance'] ?? []].flat()] };
  return typeof positional === 'string' ? { instance: theOne(positional, flags) } : {};
}

function theOne(positional: string, { instance }: Readonly<Record<string, unknown>>): string {
  if (instance === undefined || instance === positional) return positional;
  throw new LifeboatError(
    'usage.instance',
    `two instances are named: ${show(positional, 80)} and ${show(String(instance), 80)}`,
    { hints: ['name it once, as an argument or with -i', 'nothing was done'], exitCode: EXIT.usage },
  );
}

function levelsOf(command: Command): readonly CommonFlags[] {
  const outer = command.parent === null ? [] : levelsOf(command.parent);
  const own = command.opts<CommonFlags>();
  const levels = [...outer, own];
  const takesForm = command.options.some(({ long }) => long === '--output');
  if (takesForm || levels.every(({ output, json }) => output === undefined && json !== true)) return levels;
  throw new LifeboatError('usage.output', `\`${command.name()}\` has no other form of output`, {
    hints: ['leave out -o and --json'],
    exitCode: EXIT.usage,
  });
}
