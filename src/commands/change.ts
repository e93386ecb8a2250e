import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AnyActivity, Progress, ReadActivity } from '../activities/activity.ts';
import { loadConfig } from '../config/load.ts';
import { EXIT, errorFrom, LifeboatError } from '../errors.ts';
import { formatTime } from '../format.ts';
import type { Json } from '../journal/journal.ts';
import type { Caller } from '../runner/call.ts';
import type { Secret } from '../secret.ts';
import { printableJson, show } from '../text.ts';
import { exitOf, type Output, outputOf } from './call-outcome.ts';
import { confirmChange, refuseOtherName } from './confirm-change.ts';
import type { CommandContext } from './context.ts';
import { stopSignal } from './lab.ts';
import { chosenInstance, type InstanceFlags } from './on-instance.ts';
import { progressLine } from './progress-line.ts';
import { type OpenInstance, openForRun } from './service-of.ts';
import { expiryOf } from './token-expiry.ts';
import { openLedger, openWorkspace, type Workspace } from './workspace.ts';

/** Flags of every command that changes an instance. */
export interface ChangeFlags extends InstanceFlags {
  readonly yes?: boolean;
  readonly confirm?: string;
  readonly wait?: boolean;
  readonly reason?: string;
  readonly setAside?: string;
}

/** Performs one verb under the ledger's rules; rejects with a LifeboatError whose exit code says how it ended. */
export type Perform = (call: {
  readonly verb: string;
  readonly input: Readonly<Record<string, Json>>;
}) => Promise<Output>;

/** One change of one instance, looked into and not yet made. */
export interface Change {
  /** What will happen, as an order: `restore backup 3 into orders`. */
  readonly title: string;
  /** What is at stake, one line each. */
  readonly warnings: readonly string[];
  act(perform: Perform): Promise<Output>;
  /** The answer in the service's own fields, and in words. */
  done(output: Output): { readonly json: unknown; readonly text: string };
  readonly wait?: Wait;
}

/** How a change is followed to its end. */
export interface Wait {
  /** The verb that waits; undefined when the answer named nothing to wait for. */
  until(output: Output): { readonly verb: string; readonly input: Json } | undefined;
  /** Prints what it has become. */
  show(output: Output, json: boolean): Promise<void>;
}

/** What a change is planned with. */
export interface Scene {
  readonly instance: OpenInstance;
  readonly workspace: Workspace;
  /** Puts a secret in hand for `storeKey`, and keeps it out of the journal. Gives its fingerprint. */
  take(key: Secret): Promise<string>;
  /** The fingerprint that the ledger believes to be in force. */
  currentKey(): Promise<string | undefined>;
}

/**
 * Whether a change can be made again or made good, or replaces data or a key for good. The second kind asks for the typed name of the
 * instance and signs the ledger before the call, so it needs the key store.
 */
export type Weight = 'changes' | 'destroys';

/**
 * Makes one change of one instance from the command line: plans it (GETs only), says what will happen, asks, and performs it on the
 * instance's ledger under the same rules as a step of a run. A call that an earlier process left in doubt is looked into first, and
 * nothing is sent meanwhile. If the process dies, the ledger knows whether a byte may have left.
 */
export async function changeInstance(
  context: CommandContext,
  flags: ChangeFlags,
  weight: Weight,
  plan: (scene: Scene) => Promise<Change>,
): Promise<number> {
  const config = await loadConfig(context.env, context.configPath);
  const name = chosenInstance(config, flags.instance);
  refuseOtherName(flags.confirm, name);
  const options = { operator: config.operator.name, checkpoints: config.checkpoints };
  const workspace = await (weight === 'destroys' ? openWorkspace : openLedger)(context, options);
  const stop = stopSignal();
  const line = progressLine(context);
  try {
    await using instance = await openForRun(context, config, workspace, name, flags.tokenFile);
    const shelf = new Map<string, Secret>();
    const scene = sceneOf(instance, workspace, shelf);
    const change = await plan(scene);
    const activities = await activitiesOf(scene, shelf);
    const caller = await takeCaller(scene, activities, weight, stop.signal, line.report);
    try {
      await warnOfOpenRun(context, workspace, name);
      await settleEarlier(context, caller, flags.setAside);
      const asked = { name, rehearsal: instance.config.rehearsal, weight, change, flags };
      await confirmChange(context, asked, stop.signal);
      const output = await change.act(async (call) =>
        outputOf(await caller.perform({ ...call, reason: flags.reason })),
      );
      line.end();
      return await finish(context, flags, change, output, {
        activities,
        instance: name,
        stop: stop.signal,
        line,
      });
    } finally {
      line.end();
      caller.release();
    }
  } catch (thrown) {
    if (stop.signal.aborted) throw left(thrown);
    throw thrown;
  } finally {
    stop.release();
    await workspace.close();
  }
}

function sceneOf(instance: OpenInstance, workspace: Workspace, shelf: Map<string, Secret>): Scene {
  return {
    instance,
    workspace,
    take: async (key) => {
      workspace.journal.guard(key);
      const fingerprint = await workspace.keyring.fingerprint(key);
      shelf.set(fingerprint, key);
      return fingerprint;
    },
    currentKey: async () => {
      const { foldEpochs, currentKey } = await import('../keys/fold-epochs.ts');
      return currentKey(foldEpochs(await workspace.journal.read(`instance/${instance.name}`)))?.fingerprint;
    },
  };
}

async function activitiesOf(
  scene: Scene,
  shelf: ReadonlyMap<string, Secret>,
): Promise<Readonly<Record<string, AnyActivity>>> {
  const { activitiesFor } = await import('../activities/index.ts');
  const { instance, workspace } = scene;
  return activitiesFor({
    service: instance.service,
    keyring: workspace.keyring,
    folder: join(workspace.home, 'backups', instance.name),
    settleMs: instance.config.settle,
    currentKey: scene.currentKey,
    tokenExpires: async () => expiryOf(await instance.token()),
    inHand: (fingerprint) => shelf.get(fingerprint),
  });
}

async function takeCaller(
  { instance, workspace }: Scene,
  activities: Readonly<Record<string, AnyActivity>>,
  weight: Weight,
  signal: AbortSignal,
  report: (progress: Progress) => void,
): Promise<Caller> {
  const { takeLedger } = await import('../runner/call.ts');
  return takeLedger({
    journal: workspace.journal,
    instance: instance.name,
    activities,
    now: () => new Date(),
    signal,
    sleep: (ms) => pause(ms, undefined, { signal }),
    report,
    ...(weight === 'destroys'
      ? { seal: async (stream) => void (await workspace.sealer.sealNow(stream, 'armed')) }
      : {}),
  });
}

/** Two people at one instance see each other's changes only if they are told. */
async function warnOfOpenRun(context: CommandContext, { journal }: Workspace, name: string): Promise<void> {
  const { listRuns } = await import('../runner/runs.ts');
  for (const run of await listRuns(journal)) {
    if (run.status !== 'open' || run.instance !== name) continue;
    context.stderr.write(
      `warning: run ${run.runId} of ${run.runbook} on ${name} is open, at: ${show(run.where)}\n`,
    );
  }
}

/** Asks the service about every call of an earlier process that may have left; one of them ends this command, whatever became of it. */
async function settleEarlier(
  context: CommandContext,
  caller: Caller,
  setAside: string | undefined,
): Promise<void> {
  for (const open of caller.open()) {
    const what = `an earlier call, ${open.verb} of ${formatTime(open.armedAt)} UTC,`;
    if (setAside !== undefined) {
      await caller.setAside(open, setAside);
      context.stderr.write(`${what} is set aside\n`);
      continue;
    }
    context.stderr.write(`${what} was sent and its answer was never written down: asking the service\n`);
    const output = outputOf(await caller.settle(open));
    const id = typeof output['id'] === 'number' ? ` as ${output['id']}` : '';
    throw new LifeboatError('call.settled', `${what} has landed${id}`, {
      hints: ['nothing was sent now', 'run the command again if another one is wanted'],
      exitCode: EXIT.waiting,
    });
  }
}

interface Following {
  readonly activities: Readonly<Record<string, AnyActivity>>;
  readonly instance: string;
  readonly stop: AbortSignal;
  readonly line: ReturnType<typeof progressLine>;
}

async function finish(
  context: CommandContext,
  flags: ChangeFlags,
  change: Change,
  output: Output,
  following: Following,
): Promise<number> {
  const { json, text } = change.done(output);
  const waits = flags.wait === true && change.wait !== undefined;
  if (flags.json && !waits && json !== undefined) context.stdout.write(`${printableJson(json)}\n`);
  else if (waits || flags.json) context.stderr.write(`${show(text)}\n`);
  else context.stdout.write(`${show(text)}\n`);
  const next = waits ? change.wait?.until(output) : undefined;
  if (next === undefined) return EXIT.closed;
  const waiting = following.activities[next.verb] as unknown as ReadActivity<Json, unknown>;
  const result = await waiting.run(next.input, {
    runId: 'call',
    instance: following.instance,
    signal: following.stop,
    now: () => new Date(),
    report: following.line.report,
  });
  following.line.end();
  if (!result.ok) {
    if (following.stop.aborted) throw left(undefined);
    throw errorFrom(result.failure, exitOf(result.failure.code));
  }
  await change.wait?.show(output, flags.json ?? false);
  return EXIT.closed;
}

function left(cause: unknown): LifeboatError {
  return new LifeboatError('call.left', 'interrupted', {
    hints: [
      'what was sent goes on at the service',
      'the next change of this instance looks first what became of it',
    ],
    exitCode: EXIT.interrupted,
    cause,
  });
}
