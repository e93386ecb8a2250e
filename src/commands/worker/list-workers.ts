import { EXIT } from '../../base/errors.ts';
import { counted, formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import { isForPeople, printResult, printTable } from '../../cli/print-result.ts';
import { openQueueReader } from '../../compose/queue-of.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import type { JournalReader } from '../../store/journal.ts';
import { holdsOf, keyOf, leftRunsIn } from './workers-seen.ts';

/** Open runs looked at for their holders, newest first. */
const MOST = 500;

/**
 * `lifeboat workers`: the workers of the team, what each holds, what waits in the queue, and how many runs
 * that may go on nobody has. Sends nothing. Exit 0; 1 when such runs are there and no worker is live.
 */
export const workers: Action<object> = async (context) => {
  const journal = await openJournalIfAny(context);
  const queue = await openQueueReader(context, { report: () => undefined });
  try {
    const [rows, depth, { held, nobody }] = await Promise.all([
      queue?.workers() ?? [],
      queue?.depth(),
      heldBy(journal),
    ]);
    const items = rows.map(({ host, pid, label, since, seen, state }) => ({
      ...{ host, pid, state, holds: held.get(keyOf({ host, pid })) ?? 0 },
      ...(label === '' || label === 'worker' ? {} : { label }),
      since: since.toISOString(),
      seen: seen.toISOString(),
    }));
    const oldest = depth?.oldest?.toISOString();
    const waiting = {
      ...(depth === undefined ? {} : { ready: depth.ready, later: depth.later }),
      ...(oldest === undefined ? {} : { oldest }),
      nobody,
    };
    await printResult(context, 'workers', { items, waiting }, () => {
      if (queue === undefined) context.stdout.write('workers of a home are known to themselves alone\n');
      else if (items.length === 0) context.stdout.write('no worker has ever begun\n');
      else
        printTable(
          context,
          [
            { title: 'host' },
            { title: 'process', align: 'right' },
            { title: 'state' },
            { title: 'runs', align: 'right' },
            { title: 'since (UTC)' },
            { title: 'last seen (UTC)' },
            { title: 'label', gives: true },
          ],
          items.map(({ host, pid, state, holds, since, seen, label = '' }) => [
            show(host, 60),
            String(pid),
            state,
            String(holds),
            formatTime(since),
            formatTime(seen),
            show(label, 100),
          ]),
        );
      if (depth !== undefined)
        context.stdout.write(
          `${counted(depth.ready, 'wake-up')} to be delivered${oldest === undefined ? '' : `, the oldest since ${formatTime(oldest)} UTC`}, ${depth.later} for later\n`,
        );
      if (nobody > 0)
        context.stdout.write(`${counted(nobody, 'run')} left to the workers may go on, and nobody has it\n`);
    });
    const isIdle = nobody > 0 && !items.some(({ state }) => state === 'live');
    if (isIdle && isForPeople(context)) context.stderr.write('to go on: lifeboat worker\n');
    return isIdle ? EXIT.failed : EXIT.closed;
  } finally {
    await queue?.stop(0);
    await journal?.close();
  }
};

/** How many runs each process holds, and how many that may go on nobody does. */
async function heldBy(journal: JournalReader | undefined) {
  const left = journal === undefined ? { count: 0, looked: [] } : await leftRunsIn(journal, MOST);
  const free = left.looked.filter(({ run, holder }) => holder === undefined && run.awaits === undefined);
  return { held: holdsOf(left), nobody: free.length };
}
