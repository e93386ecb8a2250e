import type { CommandContext } from '../../cli/context.ts';
import { gatherFollowUps } from '../../compose/open-follow-ups.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { type FollowUpRow, mostUrgent } from '../../view/view-follow-ups.ts';
import { rowOf } from '../followups/row-of.ts';

/** Every open follow-up, as `lifeboat followups` lists them. Empty in a home without a journal. */
export async function loadFollowUps(context: CommandContext): Promise<readonly FollowUpRow[]> {
  const journal = await openJournalIfAny(context);
  if (journal === undefined) return [];
  try {
    const now = new Date();
    const found = await gatherFollowUps(journal);
    const rows = found.filter(({ followUp }) => followUp.closed === undefined).map((one) => rowOf(one, now));
    return mostUrgent(rows);
  } finally {
    await journal.close();
  }
}
