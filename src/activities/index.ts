import type {
  Activities,
  ActivityContext,
  ActivityResult,
  AnyActivity,
  ChangeContext,
  LedgerFact,
  OnceActivity,
} from './activity.ts';
import { listBackups, recheck } from './baseline.ts';
import { createBackup, performRecovery, restoreBackup, restoreToTime } from './begin-task.ts';
import { escrowKey, prepareRecovery, readBackKey, setKey, storeKey } from './change-key.ts';
import { changeBackupSettings, changeUpdateSetting, updatesChangeable } from './change-settings.ts';
import type { ActivityDeps } from './deps.ts';
import { downloadBackup } from './download-backup.ts';
import { findBound } from './find-bound.ts';
import { inspectTarget } from './inspect-target.ts';
import { recreate, restart, update } from './instance-actions.ts';
import { bindApp, proveApp, renewServiceKey, restageApp, unbindApp } from './on-platform.ts';
import { pitrRange } from './pitr-range.ts';
import { lookingAgain } from './poll.ts';
import { preflight } from './preflight.ts';
import { reconcile } from './reconcile.ts';
import { reconnectApp } from './reconnect.ts';
import { readCard, recordCard, recordProof, recordRecovery, recordRotation } from './records.ts';
import { negativeTest, verifyBackup } from './verify-backup.ts';
import { waitForInstance } from './wait-for-instance.ts';
import { waitForBackup, waitForRestore } from './wait-for-task.ts';

export interface DepsBySide {
  readonly instance: ActivityDeps;
  /** For a recovery. */
  readonly target?: ActivityDeps | undefined;
}

/** By name. An input with `on: 'target'` is performed on the target, with that instance's name and ledger. */
export function activitiesFor(instances: DepsBySide): Activities {
  const { instance, target } = instances;
  const here = verbsOn(instance, instances);
  return target === undefined ? here : bySide(here, verbsOn(target, instances), target.name);
}

function verbsOn(deps: ActivityDeps, { instance, target }: DepsBySide) {
  return {
    preflight: preflight(deps),
    recheck: recheck(deps),
    downloadBackup: downloadBackup(deps),
    verifyBackup: verifyBackup(deps),
    storeKey: storeKey(deps),
    escrowKey: escrowKey(deps),
    readBackKey: readBackKey(deps),
    setKey: setKey(deps),
    createBackup: lookingAgain(createBackup(deps)),
    waitForBackup: waitForBackup(deps),
    negativeTest: negativeTest(deps),
    recordRotation: recordRotation(deps),
    restoreBackup: lookingAgain(restoreBackup(deps)),
    waitForRestore: waitForRestore(deps),
    prepareRecovery: prepareRecovery(deps),
    performRecovery: lookingAgain(performRecovery(deps)),
    restoreToTime: lookingAgain(restoreToTime(deps)),
    restart: lookingAgain(restart(deps)),
    recreate: lookingAgain(recreate(deps)),
    update: lookingAgain(update(deps)),
    waitForInstance: waitForInstance(deps),
    changeBackupSettings: changeBackupSettings(deps),
    changeUpdateSetting: changeUpdateSetting(deps),
    // Applications bound to one may have to be bound to the other, so it always looks at both.
    findBound: findBound(instance, target),
    unbindApp: unbindApp(deps),
    bindApp: bindApp(deps),
    restageApp: restageApp(deps),
    renewServiceKey: renewServiceKey(deps),
    reconnectApp: reconnectApp(deps),
    proveApp: proveApp(deps),
    // A run without a target goes into its instance, and knows its source by the record alone.
    inspectTarget: inspectTarget(deps, target === undefined ? undefined : instance),
    listBackups: listBackups(deps),
    pitrRange: pitrRange(deps),
    readCard: readCard(deps),
    reconcile: reconcile(deps),
    recordCard: recordCard(deps),
    recordProof: recordProof(deps),
    recordRecovery: recordRecovery(deps),
    updatesChangeable: updatesChangeable(deps),
  } satisfies Activities;
}

type Run = (input: unknown, context: ChangeContext) => Promise<ActivityResult<unknown>>;
type Once = OnceActivity<{ readonly intent: string }, unknown>;

/** An input with `on: 'target'` goes to `there`, any other to `here`. */
function bySide(here: Activities, there: Activities, target: string): Activities {
  const twins = Object.entries<AnyActivity>(here).map(([verb, activity]) => [
    verb,
    oneBySide(activity, there[verb as keyof Activities], target),
  ]);
  return Object.fromEntries(twins) as Activities;
}

function oneBySide(here: AnyActivity, there: AnyActivity, target: string): AnyActivity {
  const isThere = (input: unknown) =>
    typeof input === 'object' && input !== null && (input as { readonly on?: unknown }).on === 'target';
  const contextAt = <C extends ActivityContext>(input: unknown, context: C): C =>
    isThere(input) ? { ...context, instance: target } : context;
  if (here.kind === 'once') {
    const sideOf = (input: unknown) => (isThere(input) ? there : here) as unknown as Once;
    const once: Once = {
      kind: 'once',
      prepare: (input, context) => sideOf(input).prepare(input, contextAt(input, context)),
      send: (input, context, baseline) => sideOf(input).send(input, contextAt(input, context), baseline),
      judge: (input, memory, context) => sideOf(input).judge(input, memory, contextAt(input, context)),
    };
    return once as unknown as AnyActivity;
  }
  const run: Run = async (input, context) => {
    const side = (isThere(input) ? there : here) as unknown as { readonly run: Run };
    if (!isThere(input)) return side.run(input, context);
    const ofTarget = (facts: readonly LedgerFact[]) => facts.map((fact) => ({ instance: target, ...fact }));
    const announce = (facts: readonly LedgerFact[]) => context.announce(ofTarget(facts));
    const result = await side.run(input, { ...context, instance: target, announce });
    return result.ledger === undefined ? result : { ...result, ledger: ofTarget(result.ledger) };
  };
  return { kind: here.kind, run } as unknown as AnyActivity;
}
