import { EXIT, errorCode, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { homeFolder } from '../../config/find.ts';
import { drillsFolder } from './drill-homes.ts';
import { beyond, finishRemovals, removeDrill } from './keep-drills.ts';

/** Removes the oldest drills in this folder until `keep` stay, and says on stderr which ones. */
export function keepNewest(context: CommandContext, parent: string, keep: number): void {
  const links = drillsFolder(homeFolder(context.env));
  finishRemovals(parent);
  for (const old of beyond(parent, keep)) {
    try {
      removeDrill(old, links);
    } catch (cause) {
      throw new LifeboatError('output.file', `the drill ${show(old.path, 200)} cannot be removed`, {
        hints: [`${errorCode(cause) ?? 'the system does not say why'}: remove it by hand`],
        cause,
        exitCode: EXIT.failed,
      });
    }
    context.stderr.write(`removed the drill of ${old.record.begunAt}: ${show(old.path, 200)}\n`);
  }
}
