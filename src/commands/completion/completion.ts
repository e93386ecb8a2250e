import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { SCRIPTS, type Shell } from './scripts.ts';

/** `lifeboat completion SHELL`: the script that a shell sources. */
export async function completion(context: CommandContext, [shell]: readonly string[]): Promise<number> {
  context.stdout.write(SCRIPTS[shell as Shell]);
  return EXIT.closed;
}
