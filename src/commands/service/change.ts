import { EXIT, LifeboatError } from '../../base/errors.ts';
import { readable } from '../../base/format.ts';
import type { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { isForPeople, printRecord, type ResultOf } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { type OpenInstance, openForRun } from '../../compose/service-of.ts';
import { openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { chosenInstance, loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Call } from '../../runner/call.ts';
import { anchorOfHead } from '../../store/log/anchor.ts';
import { whoIs } from '../approvals/present.ts';
import {
  assertSingleCallAllowed,
  type CommandedVerb,
  operationOf,
  riskOfCall,
} from '../approvals/single-call-allowed.ts';
import { listenTo } from './answers.ts';
import { type Output, outputOf, taskOf } from './call-outcome.ts';
import { assertSameName, confirmChange } from './confirm-change.ts';
import { adoptedLine, doubtsFirst } from './doubts-first.ts';
import { follow, waitPatience } from './follow.ts';
import { assertNotBlocked, assertUnchanged, type Seen } from './look-first.ts';
import type { Change, ChangeFlags, Scene, Weight } from './planned-change.ts';
import { progressLine } from './progress-line.ts';
import { activitiesOf, closing, takeCaller } from './take-caller.ts';

/** How to make a change. */
export interface Manner<S extends Seen> {
  readonly weight: Weight;
  /** The most consequential verb of the change. */
  readonly verb: CommandedVerb;
  /**
   * Looks for reasons against the change, by GETs only. Called once more before a change that destroys, and
   * when a person was asked.
   */
  readonly look: (scene: Scene) => Promise<S>;
}

/** The look of a change that no runbook makes, and that has no reasons against it. */
export const noLook = async (): Promise<Seen> => ({ blockers: [], warnings: [] });

/**
 * Makes one change of one instance from the command line: looks at the instance as the change's runbook does
 * and refuses what that would stop at, plans the change (GETs only), says what will happen, asks, and
 * performs it on the instance's ledger under the same rules as a step of a run. An earlier call in doubt,
 * whoever sent it, comes first, and until then nothing is sent. If the process dies, the ledger knows whether
 * a byte may have left.
 */
export async function changeInstance<S extends Seen>(
  context: CommandContext,
  flags: ChangeFlags,
  { weight, verb: about, look }: Manner<S>,
  plan: (scene: Scene, seen: S) => Promise<Change>,
): Promise<number> {
  const config = await loadConfig(context.env, context.configPath);
  const name = chosenInstance(config, flags.instance);
  assertSameName(flags.confirm, name);
  const patienceMs = waitPatience(context, flags);
  assertSingleCallAllowed(config, name, { verb: about, weight }, flags.breakGlass);
  const workspace = await openWorkspace(context, workspaceFor(config));
  const stop = stopSignal();
  const line = progressLine(context);
  let isAsked = false;
  try {
    await using instance = await openForRun(context, config, workspace, name, {
      tokenFile: flags.tokenFile,
    });
    instance.service.require(operationOf(about));
    const { service, said } = listenTo(instance.service);
    const pendingKeys = new Map<string, Secret>();
    const unheld = sceneOf(config, { ...instance, service }, workspace, pendingKeys, stop.signal);
    const activities = await activitiesOf(unheld, pendingKeys);
    let isSealed = false;
    const sealed = () => {
      isSealed = true;
    };
    const caller = await takeCaller(unheld, activities, {
      who: whoIs(config, workspace),
      signal: stop.signal,
      report: line.report,
      sealed,
    });
    const signal = AbortSignal.any([stop.signal, caller.lost]);
    const scene: Scene = { ...unheld, signal, record: caller.record };
    const done = closing(caller, workspace);
    try {
      const isRisky = riskOfCall(about, weight) !== undefined;
      await doubtsFirst(context, workspace, caller, {
        name,
        url: instance.config.url,
        refusesRuns: isRisky && flags.anyway === undefined,
      });
      const seen = await look(scene);
      const passed = assertNotBlocked(seen, flags);
      const planned = await plan(scene, seen);
      const change = { ...planned, warnings: [...planned.warnings, ...seen.warnings, ...passed] };
      const asked = { name, rehearsal: instance.config.rehearsal, weight, change, flags };
      const byPerson = await confirmChange(context, asked, signal).catch((thrown: unknown) => {
        caller.lost.throwIfAborted();
        throw thrown;
      });
      if (byPerson || weight === 'destroys') {
        const now = await look(scene);
        assertNotBlocked(now, flags);
        assertUnchanged(seen, now);
      }
      isAsked = true;
      const adopted: string[] = [];
      const output = await change.act(async ({ verb, input }) => {
        assertSingleCallAllowed(config, name, { verb, weight }, flags.breakGlass);
        const call = { verb, input: input as Call['input'], reason: reasonOf(flags) };
        const end = await caller.perform(call);
        const adoption = adoptedLine(end, taskOf(verb));
        if (adoption !== undefined) adopted.push(adoption);
        return outputOf(end, name, verb);
      });
      line.end();
      for (const adoption of adopted) context.stderr.write(`${readable(adoption)}\n`);
      await done();
      await tell(context, flags, { name, change, output, said: said() });
      const next = flags.wait === true ? change.wait?.until(output) : undefined;
      if (next === undefined || change.wait === undefined) return EXIT.closed;
      const command = change.wait.command(output);
      const following = { activities, instance: name, signal: stop.signal, line, command, patienceMs };
      await follow(context, next, following);
      await change.wait.show(output);
      return EXIT.closed;
    } finally {
      line.end();
      await done();
      if (isSealed && weight === 'destroys') await tellAnchor(context, workspace);
    }
  } catch (thrown) {
    const isLeft = thrown instanceof LifeboatError && thrown.code === 'call.left';
    if (stop.signal.aborted && !isLeft) throw left(isAsked, thrown);
    throw thrown;
  } finally {
    stop.release();
    await workspace.close();
  }
}

function sceneOf(
  config: LoadedConfig,
  instance: OpenInstance,
  workspace: Workspace,
  pendingKeys: Map<string, Secret>,
  signal: AbortSignal,
): UnheldScene {
  return {
    config,
    signal,
    instance,
    workspace,
    take: async (key) => {
      workspace.journal.guard(key);
      const fingerprint = await workspace.keyring.fingerprint(key);
      pendingKeys.set(fingerprint, key);
      return fingerprint;
    },
    currentKey: async () => {
      const { currentKey } = await import('../../store/projections/key-epochs.ts');
      const { readLedger } = await import('../../store/projections/ledgers.ts');
      return currentKey((await readLedger(workspace.journal, instance.name)).epochs)?.fingerprint;
    },
  };
}

/** A scene before its ledger is held. */
type UnheldScene = Omit<Scene, 'record'>;

/** The reason for the record. Breaking the glass comes first, so that readers cannot overlook it. */
function reasonOf({ reason, anyway, breakGlass }: ChangeFlags): string | undefined {
  const why = reason ?? anyway;
  if (breakGlass === undefined) return why;
  return `BREAK-GLASS: ${breakGlass}${why === undefined ? '' : `; ${why}`}`;
}

/** Prints the outcome. With `--wait` the result is what the call becomes, so this goes to stderr. */
async function tell(
  context: CommandContext,
  flags: ChangeFlags,
  made: { readonly name: string; readonly change: Change; readonly output: Output; readonly said: unknown },
): Promise<void> {
  const { name, change, output, said } = made;
  const { fields, text } = change.done(output);
  const waits = flags.wait === true && change.wait?.until(output) !== undefined;
  if (waits) context.stderr.write(`${show(text)}\n`);
  else if (isForPeople(context)) context.stdout.write(`${show(text)}\n`);
  else {
    context.stderr.write(`${show(text)}\n`);
    const answer = said as ResultOf<'change'>['answer'];
    await printRecord(context, 'change', { instance: name, ...fields, answer });
  }
}

function left(isAsked: boolean, cause: unknown): LifeboatError {
  const hints = isAsked
    ? [
        'what was sent goes on at the service',
        'the next change of this instance asks first what became of it',
      ]
    : ['nothing was sent'];
  return new LifeboatError('call.left', 'interrupted', { hints, exitCode: EXIT.interrupted, cause });
}

/**
 * Says what to write into the ticket about a destructive call: it is not followed by the close of a run, so
 * nothing else would reveal a store that was rolled back to before it.
 */
async function tellAnchor(
  { stderr }: Pick<CommandContext, 'stderr'>,
  { journal }: Pick<Workspace, 'journal'>,
): Promise<void> {
  stderr.write(`anchor for the ticket: ${await anchorOfHead(journal.log)}\n`);
}
