import type { CommandContext } from '../../cli/context.ts';
import type { Workspace } from '../../compose/workspace.ts';
import { anchorOfHead } from '../../store/log/anchor.ts';

/**
 * Says what to write into the ticket about a call that destroys something: no run closes behind it, so
 * nothing else would betray a store that was rolled back to before it.
 */
export async function tellAnchor(
  { stderr }: Pick<CommandContext, 'stderr'>,
  { journal }: Pick<Workspace, 'journal'>,
): Promise<void> {
  stderr.write(`anchor for the ticket: ${await anchorOfHead(journal.log)}\n`);
}
