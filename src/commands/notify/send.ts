import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, printTable } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { openOutbox } from '../../compose/notifier.ts';
import { openWorkspace, workspaceFor } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import { beginTargets, type Delivery, deliver } from '../../notify/deliver.ts';
import { drillNotices } from './drill-notices.ts';
import { sentWords, targetsOf } from './targets.ts';

/** `lifeboat notify send`: delivers what is due. Exit 0 when nothing failed, 1 otherwise. */
export const notifySend: Action<{ readonly all?: boolean }> = async (context, _, { all = false }) => {
  const tried = await sendNow(context, all);
  const items = tried.map(({ notice: { id, event }, target, outcome, status, why }) => ({
    ...{ id, event, target, outcome },
    ...(status === undefined ? {} : { status }),
    ...(why === undefined ? {} : { why }),
  }));
  await printResult(context, 'notify-send', { items }, () => {
    if (items.length === 0) context.stdout.write('nothing to send now\n');
    const rows = items.map((item) => [item.id, item.target, sentWords(item)]);
    const columns = [{ title: 'notification' }, { title: 'target' }, { title: 'outcome', gives: true }];
    if (items.length > 0) printTable(context, columns, rows);
  });
  return items.every(({ outcome }) => outcome === 'delivered') ? EXIT.closed : EXIT.failed;
};

/**
 * Delivers what is due, of runs and of drills. Rejects with what the workspace and the journal reject with.
 */
export async function sendNow(context: CommandContext, all = false): Promise<readonly Delivery[]> {
  const config = await loadConfig(context.env, context.configPath);
  const targets = targetsOf(config);
  // Delivered here and not by the workspace, so that it can be said what became of it.
  const workspace = await openWorkspace(context, { ...workspaceFor(config), notify: [] });
  const stop = stopSignal();
  try {
    const outbox = await openOutbox(workspace.journal, targets, () => drillNotices(context.env, config));
    await beginTargets(outbox);
    return await deliver(outbox, stop.signal, { all });
  } finally {
    stop.release();
    await workspace.close();
  }
}
