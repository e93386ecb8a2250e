import { EXIT, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { instanceNamed, loadConfig } from '../../config/load.ts';
import { readLedgers } from '../../store/projections/ledgers.ts';
import { rotationsOf } from '../../store/projections/rotation.ts';
import type { RunFlags } from './run.ts';

/**
 * `lifeboat run rotate-key --all-due`: rotates the key of each instance whose cryptoperiod is over, each in a
 * run of its own, in the order of the config. The first run that does not end well ends the command with its
 * exit code; what is left is said. `--confirm` lists the names, with commas; a name that the config lacks is
 * refused (`config.instance`, exit 2) before anything begins. Exit 0 when nothing is due.
 */
export async function rotateAllDue(
  context: CommandContext,
  runbook: string,
  { allDue, instance, confirm, ...flags }: RunFlags,
  run: Action<RunFlags>,
): Promise<number> {
  if (runbook !== 'rotate-key' || instance !== undefined)
    throw usage('--all-due goes with rotate-key alone, and names the instances itself');
  const config = await loadConfig(context.env, context.configPath);
  if (Object.values(config.instances).every(({ cryptoperiod }) => cryptoperiod === undefined))
    throw usage(`${show(config.path, 200)} names no cryptoperiod`, 'such as: keys: { cryptoperiod: 180d }');
  const confirmed = confirm?.split(',').map((name) => name.trim());
  // A misspelt name would leave its rotation waiting for it.
  for (const name of confirmed ?? []) instanceNamed(config, name);
  const rotations = rotationsOf(config.instances, await readLedgersIfAny(context), Date.now());
  for (const rotation of rotations)
    if (rotation.state === 'unknown')
      context.stderr.write(`${rotation.instance}: not known: ${rotation.why}\n`);
  const due = rotations.flatMap((rotation) => (rotation.state === 'due' ? [rotation] : []));
  if (due.length === 0) context.stderr.write('no key is due for rotation\n');
  let worst: number = EXIT.closed;
  for (const [at, { instance: name, key, dueAt }] of due.entries()) {
    context.stderr.write(
      `${at + 1} of ${due.length}: key ${key} of ${name}, due since ${formatTime(dueAt)} UTC\n`,
    );
    const word = confirmed?.includes(name) === true ? { confirm: name } : {};
    const rotate = run(context, [runbook], { ...flags, ...word, instance: name });
    // What keeps one from being left to the workers, such as an earlier rotation that waits, keeps no other.
    const code = flags.detach === true ? await rotate.catch(sayWhy(context, name)) : await rotate;
    if (code === EXIT.closed) continue;
    if (flags.detach === true) {
      worst = Math.max(worst, code);
      continue;
    }
    const left = due.slice(at + 1).map((one) => one.instance);
    if (left.length > 0) context.stderr.write(`stopped here; still due: ${left.join(', ')}\n`);
    return code;
  }
  return worst;
}

/** Says why a rotation was not begun; gives the exit code. */
function sayWhy({ stderr }: CommandContext, instance: string) {
  return (thrown: unknown): number => {
    if (!(thrown instanceof LifeboatError)) throw thrown;
    stderr.write(`${show(instance)}: ${thrown.shortMessage}\n`);
    return thrown.exitCode;
  };
}

async function readLedgersIfAny(context: CommandContext) {
  const journal = await openJournalIfAny(context);
  try {
    return journal === undefined ? [] : await readLedgers(journal);
  } finally {
    await journal?.close();
  }
}

function usage(what: string, hint?: string): LifeboatError {
  return new LifeboatError('usage.option', what, {
    hints: ['nothing was done', ...(hint === undefined ? [] : [hint])],
    exitCode: EXIT.usage,
  });
}
