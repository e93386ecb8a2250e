import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { allRunbooks, runbookOf } from '../../../machines/index.ts';
import type { Runbook } from '../../../machines/parts/runbook.ts';
import { statePath } from '../../../machines/parts/states.ts';
import { isInDoubt } from '../../../machines/send-state.ts';
import type { ApprovalGate } from '../../approvals/gate.ts';
import { transcriptElsewhere } from '../../audit/transcript/transcript.ts';
import { namesIn } from '../../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { isForPeople } from '../../cli/print-result.ts';
import { type EarlySignals, keepSignals } from '../../cli/stop-signal.ts';
import { depsFor } from '../../compose/activity-deps.ts';
import { askForKeys } from '../../compose/ask-for-keys.ts';
import type { DrivenRun, RunInstances } from '../../compose/instances.ts';
import { proseOf } from '../../compose/runbook-files.ts';
import { assertSameInstance } from '../../compose/same-place.ts';
import type { Workspace } from '../../compose/workspace.ts';
import { canAsk, canDraw } from '../../plain/terminal.ts';
import { metaOf, questionOf } from '../../runner/answer.ts';
import type { Run, RunDeps } from '../../runner/run.ts';
import type { JournalReader, Json, StreamName } from '../../store/journal.ts';
import { isStreamName } from '../../store/new-entry.ts';
import { foldSends } from '../../store/projections/sends.ts';
import { afterLeaving, leftBySignal, type RunEnd, type RunPort } from '../../view/run-port.ts';
import type { RunView } from '../../view/run-view.ts';
import { approvalWatch, gateOfRun } from '../approvals/gate-of-run.ts';
import { admission } from '../approvals/present.ts';
import { autopilot, type Policy } from './autopilot.ts';
import { type FallbackScript, fallbackScriptFor } from './fallback-script.ts';
import { historyOf } from './history.ts';
import { printEntries, printWaiting } from './print-headless.ts';
import { targetsIn } from './run-input.ts';
import { portOf } from './run-port.ts';
import { watchClock } from './watch-clock.ts';

export interface DriveOptions extends Policy {
  /** Lines instead of the full screen, even in a terminal. */
  readonly plain: boolean;
  /** Folder with a team's own text for the runbooks. */
  readonly overlay?: string | undefined;
  /** Why the confirmation proceeds without the second person who would have to approve it. */
  readonly breakGlass?: string | undefined;
  /** Why the run cannot be continued once it was left, and what remains of it; undefined if it can. */
  readonly gone?: string | undefined;
  readonly chapter?: RunView['chapter'];
  /** Signal handlers installed before the run was begun. */
  readonly early?: EarlySignals | undefined;
}

/**
 * Drives a run to its end, to a question that cannot be answered here, or until the operator leaves; returns
 * the exit code. On the screen in a terminal; otherwise, or with `-o json`, `plain` or `yes`, by the flags.
 */
export async function drive(
  context: CommandContext,
  instances: RunInstances,
  workspace: Workspace,
  summary: DrivenRun,
  options: DriveOptions,
): Promise<number> {
  const runbook = runbookOf(summary.runbook, summary.version);
  if (runbook === undefined) throw otherVersion(summary);
  const manner = mannerOf(context, options);
  const early = options.early ?? keepSignals();
  const stopPrinting = !isForPeople(context)
    ? await printEntries(context, workspace.journal, summary)
    : undefined;
  try {
    const { run, gate, fallback } = await takeUpRun(context, instances, workspace, summary, {
      runbook,
      breakGlass: options.breakGlass,
      leaveWhenPaused: manner === 'by-flags',
    });
    const approval = approvalWatch(gate, workspace.home, instances.config.approvals, () => run.wake());
    const prose = await proseOf(runbook, options.overlay);
    const history = historyOf(workspace.journal, runbook, summary);
    const leaving = leaveOnSignals(run, context, options.gone);
    const port = {
      ...portOf(run, workspace.journal.log, runbook, prose, fallback.text, {
        approval,
        gone: options.gone,
        chapter: options.chapter,
        history,
        targets: targetsIn(instances.config),
        awaited: instances.awaited,
      }),
      detach: leaving.detach,
    };
    const signal = early.release();
    if (signal !== undefined) void leaving.detach(leftBySignal(signal)).catch(() => undefined);
    try {
      if (manner === 'screen') return (await showOnScreen(port, context, instances, workspace)).exitCode;
      if (manner === 'lines') return (await showInLines(port, context)).exitCode;
      return await driveByFlags(context, run, port, options);
    } finally {
      leaving.release();
    }
  } finally {
    early.release();
    await stopPrinting?.();
    await forgetParameters(workspace.home, workspace.journal).catch(() => undefined);
    for (const warning of instances.recorder.warnings()) context.stderr.write(`warning: ${warning}\n`);
  }
}

/** A full screen, lines with questions (a dumb terminal, a screen reader), or the flags. */
export function mannerOf(
  context: CommandContext,
  { plain, yes, first }: Pick<DriveOptions, 'plain' | 'yes' | 'first'>,
): 'screen' | 'lines' | 'by-flags' {
  if (!isForPeople(context) || yes || first !== undefined) return 'by-flags';
  if (context.showRun !== undefined || (!plain && canDraw(context))) return 'screen';
  return canAsk(context) ? 'lines' : 'by-flags';
}

async function showOnScreen(
  port: RunPort,
  context: CommandContext,
  { config }: Pick<RunInstances, 'config'>,
  { keyring }: Pick<Workspace, 'keyring'>,
): Promise<RunEnd> {
  if (context.showRun !== undefined) return context.showRun(port);
  const { showRun } = await import('../../tui/show-run.ts');
  const { connect } = context;
  if (connect === undefined) return showRun(port, context);
  return showRun(port, context, { connect: (screen) => connect({ ...context, keyring }, config, screen) });
}

async function showInLines(port: RunPort, context: CommandContext): Promise<RunEnd> {
  const { showRunPlainly } = await import('../../plain/show-run-plainly.ts');
  return showRunPlainly(port, context, { interactive: true });
}

interface Taking {
  readonly runbook: Runbook;
  /** Why the confirmation proceeds without the second person who would have to approve it. */
  readonly breakGlass?: string | undefined;
  readonly leaveWhenPaused: boolean;
  readonly leaveGraceMs?: number | undefined;
}

/**
 * Takes up a run where its journal ends, with everything that it needs: its instances and keys, the approval
 * of others, its transcript and its fallback script. The run goes on at once. Rejects as `takeUp` does.
 */
export async function takeUpRun(
  context: CommandContext,
  instances: RunInstances,
  workspace: Workspace,
  summary: DrivenRun,
  { runbook, breakGlass, leaveWhenPaused, leaveGraceMs }: Taking,
): Promise<{ readonly run: Run; readonly gate: ApprovalGate; readonly fallback: FallbackScript }> {
  const fallback = fallbackScriptFor(summary, runbook, instances, workspace.home);
  const gate = await gateOfRun(context, instances.config, workspace, summary, runbook, breakGlass);
  const admit = await admissionOf(context, instances, workspace, summary, runbook, breakGlass);
  const { takeUp } = await import('../../runner/take-up.ts');
  const { activitiesFor } = await import('../../activities/index.ts');
  const { journal, keyring, sealer, home } = workspace;
  const { runId, instance, target } = summary;
  const pendingKeys = new Map<string, Secret>();
  const setup = {
    home,
    keyring,
    journal,
    platform: instances.platform,
    escrow: instances.config.keys.escrow,
    pendingKeys,
    blank: instances.recorder.blank,
  };
  const run = await takeUp({
    journal,
    runbook,
    runId,
    instance,
    target,
    now: () => new Date(),
    clock: watchClock(),
    leaveWhenPaused,
    leaveGraceMs,
    gate,
    admit,
    seal: async () => void (await sealer.sealNow()),
    take: async (key) => {
      journal.guard(key);
      const fingerprint = await keyring.fingerprint(key);
      instances.recorder.know(key, fingerprint);
      pendingKeys.set(fingerprint, key);
      return { fingerprint, length: key.length };
    },
    activities: activitiesFor({
      instance: depsFor(instances.instance, setup),
      target: instances.target && depsFor(instances.target, setup),
    }),
    stepped: fallback.write,
    // Only the process that holds the run may touch its transcript; closing the run at once requires knowing
    // how far that reaches.
    held: () => instances.recorder.start({ home, runId, fingerprint: (key) => keyring.fingerprint(key) }),
    lastNotes: instances.recorder.notes,
  });
  fallback.write(run.state());
  return { run, gate, fallback };
}

async function driveByFlags(
  context: CommandContext,
  run: Run,
  port: RunPort,
  options: DriveOptions,
): Promise<number> {
  const { showRunPlainly } = await import('../../plain/show-run-plainly.ts');
  const shown = isForPeople(context) ? showRunPlainly(port, context) : undefined;
  // The screen ends with the run, and the process that drives the run reports first why it broke.
  shown?.catch(() => undefined);
  const { exitCode, why } = await autopilot(run, options);
  await shown;
  if (why !== undefined) {
    const { runId, snapshot } = run.state();
    const after = afterLeaving({ runId, gone: options.gone });
    printWaiting(context, { runId, why, exitCode, after, question: questionOf(snapshot) });
  }
  return exitCode;
}

/**
 * What this process needs to take up the run: where its instances are now, who it is and what the config asks
 * for, the keys that the run still needs, and where the transcript of the previous part is.
 */
async function admissionOf(
  context: CommandContext,
  { config }: Pick<RunInstances, 'config'>,
  workspace: Workspace,
  run: DrivenRun,
  runbook: Runbook,
  breakGlass: string | undefined,
): Promise<NonNullable<RunDeps['admit']>> {
  const admit = await admission(context, config, workspace, run, breakGlass);
  return async (entries) => {
    assertSameInstance(run, runbook, config, entries);
    const { resumed, notes } = admit(entries);
    const keys = await askForKeys(
      context,
      { ...workspace, escrow: config.keys.escrow },
      run,
      runbook,
      entries,
    );
    const asked = Object.keys(keys).length === 0 ? {} : { keys: keys as Json };
    const elsewhere = transcriptElsewhere(workspace.home, run.runId, entries, hostname());
    return { resumed: { ...resumed, ...asked }, notes: [...notes, ...elsewhere] };
  };
}

/** The error for a run of a runbook in a version that this program does not have. */
export function otherVersion({ runId, runbook, version }: DrivenRun): LifeboatError {
  const current = allRunbooks.find(({ id }) => id === runbook)?.version ?? 'none';
  return new LifeboatError(
    'run.other-version',
    `run ${runId} was written by version ${version} of its runbook, and this lifeboat has ${current}`,
    {
      hints: [
        'use the version of lifeboat that started it',
        `or abandon it, which keeps its record: lifeboat resume ${runId} --abandon REASON`,
      ],
      exitCode: EXIT.usage,
    },
  );
}

/**
 * Removes the parameters of the bindings of closed runs: until a run is closed its applications may have to
 * be bound again with them, afterwards they are useless, and may hold secrets. If the process dies first, the
 * next run that ends here removes them. A file that cannot be removed stays, readable only by its owner.
 */
async function forgetParameters(home: string, journal: JournalReader): Promise<void> {
  const folder = join(home, 'backups', 'bindings');
  for (const name of namesIn(folder)) {
    const stream = `run/${name}`;
    if (!isStreamName(stream) || !(await isClosed(journal, stream))) continue;
    try {
      rmSync(join(folder, name), { recursive: true, force: true });
    } catch {
      // The next run tries again.
    }
  }
}

async function isClosed(journal: JournalReader, stream: StreamName): Promise<boolean> {
  const entries = await journal.read(stream);
  return entries.some(({ type }) => type === 'run.closed');
}

/** Milliseconds: a keystroke may come from the terminal and again from the parent process. */
const SAME_KEYSTROKE_MS = 300;

interface Leaving {
  /** Leaves the run as it is, resumable. Resolves when nothing more will be written. */
  detach(why?: string): Promise<void>;
  release(): void;
}

/**
 * Leaves at the first SIGINT, SIGTERM or SIGHUP: a call in progress may still answer. A later Ctrl-C quits at
 * once and prints where the run is; that call is then in doubt, and the next resume asks the service.
 */
export function leaveOnSignals(run: Run, context: CommandContext, gone?: string): Leaving {
  let leavingSince: number | undefined;
  const detach = (why?: string) => {
    leavingSince ??= performance.now();
    return run.detach(why);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    const isAgain = leavingSince !== undefined && performance.now() - leavingSince > SAME_KEYSTROKE_MS;
    // A closing terminal sends its signals several times; only a person presses Ctrl-C twice.
    if (isAgain && signal === 'SIGINT') quit(run, context, gone);
    void detach(leftBySignal(signal)).catch(() => undefined);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    detach,
    release: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

function quit(run: Run, { stderr }: CommandContext, gone: string | undefined): never {
  const { runId, snapshot, entries } = run.state();
  const open = [...foldSends(entries)].filter(([, send]) => isInDoubt(send));
  const title = metaOf(snapshot)?.title ?? statePath(snapshot);
  const doubt =
    open.length === 0
      ? 'nothing is on its way to the service'
      : `in doubt: ${open.map(([intent]) => intent).join(', ')} may have been sent` +
        `${gone === undefined ? ', and the resume asks the service first' : ''}`;
  stderr.write(`lifeboat: quit at once: run ${show(runId)} is at "${show(title)}"; ${show(doubt)}\n`);
  stderr.write(`hint: ${afterLeaving({ runId, gone })}\n`);
  process.exit(EXIT.interrupted);
}
