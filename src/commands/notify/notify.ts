import { EXIT, LifeboatError } from '../../base/errors.ts';
import { msOf } from '../../base/instant.ts';
import { mostSimilar } from '../../base/similar.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, printTable } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { type LastEvaluated, lastEvaluated } from '../../compose/last-evaluated.ts';
import { openOutbox } from '../../compose/notifier.ts';
import { openWorkspace, workspaceFor } from '../../compose/workspace.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig, NotifyConfig } from '../../config/loaded.ts';
import { beginTargets, type Delivery, deliver } from '../../notify/deliver.ts';
import { bodyOf, type Notice, testNotification } from '../../notify/notice.ts';
import { type Sent, send } from '../../notify/send.ts';
import { drillMissedSince, evaluationMissed } from '../../plans/missed.ts';
import { type DrillRecord, drillDue, isFailure } from '../../report/drill/drill-report.ts';
import type { JournalReader } from '../../store/journal.ts';
import { type Ledger, readLedgers } from '../../store/projections/ledgers.ts';
import { rotationsOf } from '../../store/projections/rotation.ts';
import { knownDrills } from '../drill/drill-records.ts';
import { destroyDue } from '../keys/end-key.ts';
import { planNames } from '../plans/plan-files.ts';

/** `lifeboat notify send`: delivers what is due. Exit 0 when nothing failed, 1 otherwise. */
export const notifySend: Action<{ readonly all?: boolean }> = async (context, _, { all = false }) => {
  const tried = await sendNow(context, { all, isTimer: true });
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

interface SendNow {
  readonly all?: boolean;
  readonly drill?: DrillRecord;
  /** Also carry out what only waits for its time: the destruction of keys. */
  readonly isTimer?: boolean;
}

/**
 * For runs, keys and drills. `drill` ends now: it counts even without its record, and reaches targets that
 * are recorded only now. Rejects as workspace and journal do.
 */
export async function sendNow(
  context: CommandContext,
  { all = false, drill, isTimer = false }: SendNow = {},
): Promise<readonly Delivery[]> {
  const config = await loadConfig(context.env, context.configPath);
  const targets = targetsOf(config);
  // Deliver here and not in the workspace, so that the result can be printed.
  const workspace = await openWorkspace(context, { ...workspaceFor(config), notify: [] });
  const stop = stopSignal();
  try {
    if (isTimer) await destroyDue(context, config, workspace);
    const rotations = rotationNotices(await readLedgers(workspace.journal), config);
    const ofPlans = await planNotices(context, config, workspace.journal);
    const drills = () => {
      const known = knownDrills(context.env).filter(({ id }) => id !== drill?.id);
      const all = drill === undefined ? known : [...known, drill];
      const now = new Date();
      return [
        ...drillNotices(all, config, drill !== undefined),
        ...missedNotices(all, config, lastEvaluated(context.env), now),
        ...rotations,
        ...ofPlans,
      ];
    };
    const outbox = await openOutbox(workspace.journal, targets, drills);
    await beginTargets(outbox);
    return await deliver(outbox, stop.signal, { all });
  } finally {
    stop.release();
    await workspace.close();
  }
}

/** `lifeboat notify test [TARGET]`: to each target. Exit 0 when each accepted it, 1 otherwise. */
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

/** The targets of the config, or the one with this name. Throws a usage error if there is none. */
export function targetsOf({ notify, path }: LoadedConfig, name?: string): readonly NotifyConfig[] {
  const found = notify.filter((target) => name === undefined || target.name === name);
  if (found.length > 0) return found;
  const names = notify.map((target) => target.name);
  const what = names.length === 0 || name === undefined ? 'nobody to notify' : `no target ${show(name, 80)}`;
  throw new LifeboatError('notify.none', `there is ${what} in ${show(path)}`, {
    hints:
      names.length === 0
        ? ['name somebody: notify: [{ name: on-call, url: https://hooks.example.com/lifeboat }]']
        : [...mostSimilar(name ?? '', names), `it has: ${names.join(', ')}`],
    exitCode: EXIT.usage,
  });
}

/** The notices that the key of an instance is due for rotation; each stands until it is rotated. */
function rotationNotices(
  known: readonly (readonly [instance: string, ledger: Ledger])[],
  { instances }: Pick<LoadedConfig, 'instances'>,
): readonly Notice[] {
  return rotationsOf(instances, known, Date.now()).flatMap((rotation): Notice[] => {
    if (rotation.state !== 'due') return [];
    const { instance, key, dueAt } = rotation;
    const id = `rotation-due/${instance}/${key}`;
    return [{ id, event: 'rotation-due', index: undefined, since: dueAt, stands: true, instance, key }];
  });
}

export function sentWords({ outcome, status, why }: Pick<Sent, 'outcome' | 'status' | 'why'>): string {
  const detail = why ?? (status === undefined ? '' : `status ${status}`);
  return detail === '' ? outcome : `${outcome}: ${show(detail, 80)}`;
}

/** Due: stands until a drill is proven. Failed: of the newest drill, standing if `stands`. */
function drillNotices(
  records: readonly DrillRecord[],
  { drills }: Pick<LoadedConfig, 'drills'>,
  stands: boolean,
): readonly Notice[] {
  const { last, lastProven, dueAt, isOverdue } = drillDue(records, drills?.every, new Date());
  const due: readonly Notice[] =
    isOverdue && dueAt !== undefined
      ? [
          {
            // If none was ever proven, one is due at every moment, but is notified only once.
            id: `drill-due/${lastProven === undefined ? 'first' : dueAt}`,
            event: 'drill-due',
            index: undefined,
            since: dueAt,
            stands: true,
          },
        ]
      : [];
  if (last === undefined || !isFailure(last)) return due;
  const { id: drill, scope, at: since } = last;
  return [
    ...due,
    { id: `drill-failed/${drill}`, event: 'drill-failed', index: undefined, since, stands, drill, scope },
  ];
}

/** The notices that a plan was not evaluated, or not rehearsed, for too long by its own periods. */
async function planNotices(
  { env }: Pick<CommandContext, 'env'>,
  config: LoadedConfig,
  journal: JournalReader,
): Promise<readonly Notice[]> {
  const names = planNames(config);
  if (names.length === 0) return [];
  const { missedOfPlans } = await import('../plans/missed-plans.ts');
  return missedOfPlans(config, journal, names, { last: lastEvaluated(env), now: new Date() });
}

/** The notices that an evaluation, or a drill, has not been made for too long; each stands until it is. */
function missedNotices(
  records: readonly DrillRecord[],
  { drills, evaluate, instances }: Pick<LoadedConfig, 'drills' | 'evaluate' | 'instances'>,
  last: LastEvaluated,
  now: Date,
): readonly Notice[] {
  const stands = { event: 'evaluation-due', index: undefined, stands: true } as const;
  const since = drillMissedSince(drillDue(records, drills?.every, now));
  const missed = evaluate && evaluationMissed(Object.keys(instances), last, evaluate.every, now);
  return [
    ...(since === undefined || msOf(since) > now.getTime()
      ? []
      : [{ ...stands, id: `evaluation-due/drill/${since}`, since, missed: 'drill' as const }]),
    ...(missed === undefined
      ? []
      : [
          {
            ...stands,
            // One that was never evaluated is due at every moment, but is notified only once.
            id: `evaluation-due/${missed.instance}/${missed.since ?? 'first'}`,
            since: missed.since ?? now.toISOString(),
            missed: 'evaluation' as const,
          },
        ]),
  ];
}
