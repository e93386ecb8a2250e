import { failureOf } from '../../base/errors.ts';
import { counted, formatBytes, formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { openQueueReader } from '../../compose/queue-of.ts';
import { GROWN_DAYS, type Volume } from '../../store/volume.ts';
import type { QueueHolds } from '../../view/fleet/workers-schema.ts';
import { shownDepth } from '../worker/workers-seen.ts';

/** `trouble`: why that is unknown. */
export type QueueStatus = QueueHolds | { readonly trouble: string };

/** The lines about how much a store holds and what waits in it: a name, and what is said. */
export function volumeLines({
  bytes,
  streams,
  days,
  vacuum,
  queue,
}: Partial<Volume> & { readonly queue?: QueueStatus }): readonly (readonly [string, string])[] {
  const lines: (readonly [string, string])[] = [];
  if (streams !== undefined) lines.push(['streams', String(streams)]);
  if (bytes !== undefined) lines.push(['on disk', formatBytes(bytes)]);
  if (days !== undefined) {
    const total = (of: 'entries' | 'bytes') => days.reduce((sum, day) => sum + day[of], 0) / GROWN_DAYS;
    const entries = counted(Math.round(total('entries')), 'entry', 'entries');
    lines.push([
      'growth',
      `${entries} and ${formatBytes(Math.round(total('bytes')))} of text a day, over ${GROWN_DAYS} days`,
    ]);
  }
  if (vacuum !== undefined) {
    const last = vacuum.lastAt === undefined ? 'never' : `last at ${formatTime(vacuum.lastAt)} UTC`;
    lines.push(['vacuum', `${last}; ${counted(vacuum.deadRows, 'dead row')}`]);
  }
  if (queue !== undefined) lines.push(['queue', queueWords(queue)]);
  return lines;
}

function queueWords(queue: QueueStatus): string {
  if ('trouble' in queue) return show(queue.trouble, 200);
  const { ready, later, active, oldest } = queue;
  const since = oldest === undefined ? '' : `, the oldest since ${formatTime(oldest)} UTC`;
  return `${counted(ready, 'wake-up')} to be delivered${since}, ${later} for later, ${active} under way`;
}

/** Only a team's store has a queue that others see; one that is missing hides nothing else. */
export async function queueOf(context: CommandContext): Promise<{ readonly queue?: QueueStatus }> {
  const reader = await openQueueReader(context, { report: () => undefined });
  try {
    const depth = await reader?.depth();
    return depth === undefined ? {} : { queue: shownDepth(depth) };
  } catch (thrown) {
    return { queue: { trouble: failureOf(thrown).shortMessage } };
  } finally {
    await reader?.stop(0);
  }
}
