import { join } from 'node:path';
import type { LoadedConfig } from '../config/load.ts';
import { EXIT, LifeboatError } from '../errors.ts';
import type { Entry } from '../journal/journal.ts';
import { canDraw } from '../plain/terminal.ts';
import type { Run } from '../runner/run.ts';
import type { RunSummary } from '../runner/runs.ts';
import type { Secret } from '../secret.ts';
import { printableJson } from '../text.ts';
import { autopilot } from './autopilot.ts';
import type { CommandContext } from './context.ts';
import { portOf } from './run-port.ts';
import { proseOf, runbookNamed } from './runbook-files.ts';
import { openInstance } from './service-of.ts';
import { expiryOf } from './token-expiry.ts';
import type { Workspace } from './workspace.ts';

export interface DriveOptions {
  readonly yes: boolean;
  readonly confirm?: string | undefined;
  readonly key?: Secret | undefined;
  readonly json: boolean;
  /** Lines instead of the full screen, also in a terminal. */
  readonly plain: boolean;
  readonly tokenFile?: string | undefined;
}

/**
 * Drives a run to its end, to a question that nobody here can answer, or until the operator leaves; gives the exit code. In a terminal it
 * shows the screen; otherwise, or with `json`, `plain` or `yes`, it goes by the flags.
 */
export async function drive(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  summary: Pick<RunSummary, 'runId' | 'runbook' | 'instance' | 'version'>,
  options: DriveOptions,
): Promise<number> {
  const runbook = runbookNamed(summary.runbook);
  if (runbook.version !== summary.version) throw otherVersion(summary, runbook.version);
  const headless = options.json || options.plain || options.yes || !canDraw(context);
  const instance = await openInstance(config, summary.instance, {
    store: async () => workspace.keyring.store,
    tokenFile: options.tokenFile,
    warn: (line) => context.stderr.write(`${line}\n`),
  });
  if (!headless) await paintFirstFrame(context, summary, instance.config.rehearsal ? 'REHEARSAL' : 'LIVE', runbook.title);
  const stopPrinting = options.json ? printEntries(context, workspace, summary.runId, summary.instance) : undefined;
  try {
    const run = await takeUpRun(workspace, summary, instance, headless);
    const port = portOf(run, runbook, await proseOf(runbook));
    if (!headless) {
      const { showRun } = await import('../tui/show-run.tsx');
      return (await showRun(port, context)).exitCode;
    }
    return await driveHeadless(context, run, port, options);
  } finally {
    stopPrinting?.();
    await instance.service.close();
  }
}

async function takeUpRun(
  workspace: Workspace,
  { runId, runbook, instance: name }: Pick<RunSummary, 'runId' | 'runbook' | 'instance'>,
  instance: Awaited<ReturnType<typeof openInstance>>,
  headless: boolean,
): Promise<Run> {
  const { takeUp } = await import('../runner/run.ts');
  const { activitiesFor } = await import('../activities/index.ts');
  const { refuseCutTail } = await import('../evidence/tail.ts');
  const { foldEpochs, currentKey } = await import('../keys/fold-epochs.ts');
  const { journal, keyring, sealer, home } = workspace;
  const shelf = new Map<string, Secret>();
  return takeUp({
    journal,
    runbook: runbookNamed(runbook),
    runId,
    instance: name,
    now: () => new Date(),
    leaveWhenPaused: headless,
    seal: async (stream, reason) => void (await sealer.sealNow(stream, reason)),
    refuseCutTail: (head) => refuseCutTail(home, head),
    take: async (key) => {
      journal.guard(key);
      const fingerprint = await keyring.fingerprint(key);
      shelf.set(fingerprint, key);
      return { fingerprint, length: key.length };
    },
    activities: activitiesFor({
      service: instance.service,
      keyring,
      folder: join(home, 'backups', name),
      settleMs: instance.config.settle,
      currentKey: async () => currentKey(foldEpochs(await journal.read(`instance/${name}`)))?.fingerprint,
      tokenExpires: async () => expiryOf(await instance.token()),
      inHand: (fingerprint) => shelf.get(fingerprint),
    }),
  });
}

async function driveHeadless(
  context: CommandContext,
  run: Run,
  port: ReturnType<typeof portOf>,
  options: DriveOptions,
): Promise<number> {
  const leave = () => void run.detach();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, leave);
  const { showRunPlainly } = await import('../plain/show-run-plainly.ts');
  const shown = options.json ? undefined : showRunPlainly(port, context);
  try {
    const { exitCode, why } = await autopilot(run, { yes: options.yes, confirm: options.confirm, key: options.key });
    await shown;
    if (why !== undefined) {
      context.stderr.write(`lifeboat: the run waits: ${why}\n`);
      context.stderr.write(`hint: resume it with: lifeboat resume ${run.state().runId}\n`);
    }
    return exitCode;
  } finally {
    for (const signal of signals) process.off(signal, leave);
  }
}

/** `--json`: journal entries of the run and of its instance, one a line, as they are written. */
function printEntries(context: CommandContext, workspace: Workspace, runId: string, instance: string): () => void {
  const streams = new Set<string>([`run/${runId}`, `instance/${instance}`]);
  const print = (entries: readonly Entry[]) => {
    for (const entry of entries) if (streams.has(entry.stream)) context.stdout.write(`${printableJson(entry)}\n`);
  };
  return workspace.journal.onAppended(print);
}

async function paintFirstFrame(
  context: CommandContext,
  { instance }: Pick<RunSummary, 'instance'>,
  mode: 'LIVE' | 'REHEARSAL',
  title: string,
): Promise<void> {
  const { firstFrame } = await import('../tui/first-frame.ts');
  const { columns = 80, rows = 24 } = context.stdout;
  context.stdout.write(firstFrame({ columns, rows, env: context.env, title, instance, mode }));
}

function otherVersion({ runId, version }: { runId: string; version: string }, current: string): LifeboatError {
  return new LifeboatError('run.other-version', `run ${runId} was written by version ${version} of its runbook; this is ${current}`, {
    hints: [
      'use the version of lifeboat that began it',
      `or give it up, which keeps its record: lifeboat resume ${runId} --abandon REASON`,
    ],
    exitCode: EXIT.usage,
  });
}
