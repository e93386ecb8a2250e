import { EXIT } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult, printTable } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { loadConfig } from '../../config/load.ts';
import type { NotifyConfig } from '../../config/loaded.ts';
import { bodyOf, testNotification } from '../../notify/notice.ts';
import { send } from '../../notify/send.ts';
import { sentWords, targetsOf } from './targets.ts';

/** `lifeboat notify test [TARGET]`: a test to each target. Exit 0 when each took it, 1 otherwise. */
export async function notifyTest(context: CommandContext, [name]: readonly string[]): Promise<number> {
  const targets = targetsOf(await loadConfig(context.env, context.configPath), name);
  const body = bodyOf(testNotification(new Date()));
  const stop = stopSignal();
  try {
    const items = await Promise.all(targets.map((target) => tried(target, body, stop.signal)));
    await printResult(context, 'notify-test', { items }, () => {
      const rows = items.map(({ target, said = '', ...sent }) => [target, sentWords(sent), said]);
      printTable(
        context,
        [{ title: 'target' }, { title: 'outcome' }, { title: 'answer', gives: true }],
        rows,
      );
    });
    return items.every(({ outcome }) => outcome === 'delivered') ? EXIT.closed : EXIT.failed;
  } finally {
    stop.release();
  }
}

async function tried(target: NotifyConfig, body: string, signal: AbortSignal) {
  const { said = '', ...sent } = await send(target, body, signal);
  const words = show(said.trim(), 200);
  return { target: target.name, ...sent, ...(words === '' ? {} : { said: words }) };
}
