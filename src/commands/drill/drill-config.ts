import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { loadConfig } from '../../config/load.ts';
import type { DrillRecord } from '../../report/drill/drill-report.ts';

/**
 * How often the config asks for a drill, in milliseconds; undefined where it does not, or there is none. A
 * drill needs no config: one that cannot be read is said on stderr and changes nothing else.
 */
export async function drillInterval(context: CommandContext): Promise<number | undefined> {
  try {
    return (await loadConfig(context.env, context.configPath)).drills?.every;
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError)) throw thrown;
    if (thrown.code !== 'config.missing' || context.configPath !== undefined)
      context.stderr.write(`note: when the next drill is due is unknown: ${show(thrown.shortMessage)}\n`);
    return undefined;
  }
}

/**
 * Notifies that a drill failed, where the config names somebody and no person looks on: whoever sits at a
 * terminal is not asked for the passphrase of the vault for it. Never rejects; what cannot be sent now is
 * left for the next `lifeboat notify send`.
 */
export async function notifyFailure(context: CommandContext, { outcome }: DrillRecord): Promise<void> {
  if (outcome === 'proven' || outcome === 'left' || context.stdin.isTTY === true) return;
  try {
    if ((await loadConfig(context.env, context.configPath)).notify.length === 0) return;
    const { sendNow } = await import('../notify/send.ts');
    await sendNow(context);
  } catch (thrown) {
    // `drillInterval` has said already what is wrong with the config.
    if (thrown instanceof LifeboatError && thrown.code.startsWith('config.')) return;
    const why = thrown instanceof Error ? thrown.message : 'for an unknown reason';
    context.stderr.write(`warning: the notification of the failed drill was not sent: ${show(why, 200)}\n`);
  }
}
