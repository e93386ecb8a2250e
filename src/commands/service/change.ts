import type { RunContext } from '../../../machines/context.ts';
import { singleChange } from '../../../machines/index.ts';
import type { SingleChangeInput } from '../../../machines/inputs.ts';
import { EXIT, errorFrom, LifeboatError } from '../../base/errors.ts';
import { formatTime, readable } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { isForPeople, printRecord, type ResultOf } from '../../cli/print-result.ts';
import { type EarlySignals, keepSignals } from '../../cli/stop-signal.ts';
import { openInstances, type RunInstances, servicesOfRun } from '../../compose/instances.ts';
import { followUpsOfRun } from '../../compose/open-follow-ups.ts';
import { openWorkspace, type Workspace, workspaceFor } from '../../compose/workspace.ts';
import { chosenInstance, loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { assertNotRenamed, callInWords, inDoubt, readAllDoubts } from '../../runner/assert-not-in-doubt.ts';
import { taskOf } from '../../runner/resolve-doubt.ts';
import type { Run } from '../../runner/run.ts';
import { abandonRun, findRun, openRunsOn, runIsOpen, startRun } from '../../runner/runs.ts';
import type { Operation } from '../../service/revisions.ts';
import { anchorOfHead } from '../../store/log/anchor.ts';
import type { Doubt } from '../../store/projections/pending-calls.ts';
import { foldSends } from '../../store/projections/sends.ts';
import { assertApprovalsReadable, presentOf } from '../approvals/present.ts';
import { assertApproversConfigured } from '../approvals/required.ts';
import { adoptedWords, resolveDoubtFirst } from '../run/doubts.ts';
import { takeUpRun } from '../run/drive.ts';
import { type SeenOfRun, seenOfRun } from '../run/look-at-run.ts';
import { inSeconds } from '../run/run.ts';
import { clockMark } from '../run/watch-clock.ts';
import { isBegun, keyUncertain } from './answer-change.ts';
import { listenTo } from './answers.ts';
import { assertSameName } from './confirm-change.ts';
import { followRun, isAccepted } from './follow-run.ts';
import type { Change, ChangeFlags, Scene } from './planned-change.ts';

/**
 * Makes one change of one instance from the command line as a run of the runbook `single-change`, and returns
 * the exit code: 0 done, 3 waiting for a person (a blocker, a second person, open follow-ups), 5 in doubt. An
 * earlier call in doubt comes first, and until it is known what became of it nothing is sent. What is refused
 * before anything is sent closes the run as stopped. If the process dies, `lifeboat resume` goes on.
 */
export async function changeInstance(
  context: CommandContext,
  flags: ChangeFlags,
  plan: (scene: Scene) => Change | Promise<Change>,
): Promise<number> {
  const config = await loadConfig(context.env, context.configPath);
  const name = chosenInstance(config, flags.instance);
  assertSameName(flags.confirm, name);
  assertApproversConfigured(config);
  const workspace = await openWorkspace(context, workspaceFor(config));
  let early: EarlySignals | undefined;
  try {
    const wish = { instance: name, tokenFile: flags.tokenFile, source: 'changed' } as const;
    await using opened = await openInstances(context, config, workspace, wish);
    const { service, said } = listenTo(opened.instance.service);
    const instances: RunInstances = { ...opened, instance: { ...opened.instance, service } };
    const change = await plan({ config, instance: instances.instance, workspace });
    service.require(OPERATIONS[change.single.change]);
    const input = inputOf(name, change, flags);
    await doubtsFirst(context, config, workspace, { name, flags });
    early = keepSignals();
    const runId = await begin(context, config, workspace, instances, { name, change, flags, input });
    const made = { runId, name, change, flags };
    return await driveChange(context, workspace, instances, made, { early, said });
  } finally {
    early?.release();
    await workspace.close();
  }
}

/** Not every revision has each. */
const OPERATIONS: Readonly<Record<Change['single']['change'], Operation>> = {
  createBackup: 'createBackup',
  restoreBackup: 'restoreBackup',
  restoreToTime: 'restoreToTime',
  performRecovery: 'performRecovery',
  restart: 'restart',
  recreate: 'recreate',
  update: 'update',
  setKey: 'changeBackupsConfig',
  changeBackupSettings: 'changeBackupsConfig',
  changeUpdateSetting: 'changeUpdateSetting',
  prepareRecovery: 'prepareRecovery',
};

function inputOf(instance: string, change: Change, flags: ChangeFlags): SingleChangeInput {
  const { single, backup, time } = change;
  const reason = reasonOf(flags);
  const noFollowUps = typeof flags.followUps === 'string' ? flags.followUps : undefined;
  return singleChange.input.parse({
    instance,
    ...(reason === undefined ? {} : { reason }),
    ...(backup === undefined ? {} : { backup }),
    ...(time === undefined ? {} : { time }),
    single: {
      ...single,
      wait: flags.wait === true,
      ...(noFollowUps === undefined ? {} : { noFollowUps }),
    },
  }) as SingleChangeInput;
}

/** The reason for the record. Breaking the glass comes first, so that readers cannot overlook it. */
function reasonOf({ reason, anyway, breakGlass }: ChangeFlags): string | undefined {
  const why = reason ?? anyway;
  if (breakGlass === undefined) return why;
  return `BREAK-GLASS: ${breakGlass}${why === undefined ? '' : `; ${why}`}`;
}

/**
 * First asks about calls in doubt to the instance, by any sender; sends nothing. Rejects with `call.resolved`
 * (exit 3) if one has arrived, which this command may repeat, with `call.in-doubt` (exit 5) while unknown,
 * and for a call that only another runbook's open run can ask about.
 */
async function doubtsFirst(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  { name, flags }: { readonly name: string; readonly flags: ChangeFlags },
): Promise<void> {
  const { journal } = workspace;
  const doubts = await readAllDoubts(journal);
  for (const doubt of doubts.filter(({ instance }) => instance === name)) {
    if (doubt.run?.isOpen !== true) {
      await resolveDoubtFirst(context, config, workspace, doubt, flags.tokenFile);
      continue;
    }
    const run = await findRun(journal, doubt.run.runId);
    if (run.runbook !== singleChange.id) throw inDoubt(doubt);
    const seen = await seenOfRun(context, config, workspace, run, flags.tokenFile).catch(
      (thrown: unknown) => {
        throw earlier(thrown, doubt);
      },
    );
    if (seen?.landed === true) throw alreadyDone(seen, run.runId);
    const after = await findRun(journal, run.runId);
    if (after.status === 'open') await abandonRun(journal, after, 'the service shows that nothing was done');
  }
  const url = config.instances[name]?.url ?? '';
  await assertNotRenamed(journal, doubts, [{ instance: name, url }]);
}

/** Marks the failure of a question about an earlier call, so that it is not taken for one of this command. */
function earlier(thrown: unknown, doubt: Doubt): unknown {
  if (!(thrown instanceof LifeboatError) || thrown.exitCode !== EXIT.inDoubt) return thrown;
  const failure = thrown.toFailure();
  const what = `${callInWords(doubt)} of ${formatTime(doubt.armedAt)} UTC is still in doubt`;
  const shortMessage = `nothing was sent: ${what}: ${failure.shortMessage}`;
  return errorFrom({ ...failure, shortMessage }, EXIT.inDoubt);
}

function alreadyDone({ doubt, id }: SeenOfRun, runId: string): LifeboatError {
  const became = id === undefined || id === 0 ? '' : ` as ${id}`;
  const what = `an earlier call, ${show(doubt.verb)} of ${formatTime(doubt.armedAt)} UTC,`;
  return new LifeboatError('call.resolved', `${what} has arrived${became}`, {
    hints: [
      'nothing was sent now',
      `what is left of it: lifeboat resume ${runId}`,
      'run the command again if another one is wanted',
    ],
    exitCode: EXIT.waiting,
  });
}

interface Begun {
  readonly name: string;
  readonly change: Change;
  readonly flags: ChangeFlags;
  readonly input: SingleChangeInput;
}

/** Another open run refuses a destroying change without `--anyway`, and else causes a warning. */
async function begin(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  instances: RunInstances,
  { name, change, flags, input }: Begun,
): Promise<string> {
  const { journal } = workspace;
  const { url, objectives, rehearsal } = instances.instance.config;
  const open = await openRunsOn(journal, [name], [{ instance: name, url }]);
  const [first] = open;
  if (first !== undefined && isRisky(change) && flags.anyway === undefined)
    throw runIsOpen(first, name, {
      followUps: await followUpsOfRun(journal, first),
      more: ['to do it anyway: add --anyway REASON'],
    });
  for (const run of open) {
    const role = run.instance === name ? `on ${name}` : `into ${name}`;
    const what = `run ${show(run.runId)} of ${show(run.runbook)} ${role} is open, at: ${show(run.where)}`;
    context.stderr.write(`warning: ${what}\n`);
  }
  const asked = await presentOf(config, workspace, { instance: name });
  assertApprovalsReadable(asked, flags.breakGlass);
  return startRun(journal, {
    instance: name,
    runbook: singleChange,
    input: input as never,
    mode: rehearsal ? 'REHEARSAL' : 'LIVE',
    objectives: inSeconds(objectives),
    services: servicesOfRun(config, { instance: name }),
    operator: workspace.operator,
    asked,
    tool: { name: 'lifeboat', version: context.version, node: process.version },
    clock: clockMark(),
    besideOpen: true,
  });
}

/** It can lose data, a key or a running instance. */
function isRisky({ single, weight }: Change): boolean {
  return weight === 'destroys' || ['restart', 'recreate', 'update'].includes(single.change);
}

interface Made {
  readonly runId: string;
  readonly name: string;
  readonly change: Change;
  readonly flags: ChangeFlags;
}

async function driveChange(
  context: CommandContext,
  workspace: Workspace,
  instances: RunInstances,
  made: Made,
  { early, said }: { readonly early: EarlySignals; readonly said: () => unknown },
): Promise<number> {
  const { runId, name, change, flags } = made;
  const summary = { runId, runbook: singleChange.id, version: singleChange.version, instance: name };
  let run: Run;
  try {
    const breakGlass = flags.breakGlass?.trim() === '' ? undefined : flags.breakGlass;
    const how = { runbook: singleChange, breakGlass, leaveWhenPaused: true };
    ({ run } = await takeUpRun(context, instances, workspace, summary, how));
  } catch (thrown) {
    await giveUp(workspace, runId);
    throw thrown;
  }
  let isTold = false;
  const tell = async (runContext: RunContext) => {
    if (isTold) return;
    isTold = true;
    await tellDone(context, made, runContext, { run, said: said() });
  };
  const end = await followRun(context, run, {
    early,
    change,
    flags,
    instance: instances.instance,
    accepted: tell,
  });
  for (const warning of instances.recorder.warnings()) context.stderr.write(`warning: ${warning}\n`);
  const { snapshot, entries } = run.state();
  const runContext = snapshot.context as RunContext;
  const isAsking = end.error?.code.startsWith('approval.') === true;
  if (!isBegun(entries) && !isAsking && snapshot.status !== 'done') await giveUp(workspace, runId);
  if (change.weight === 'destroys' && isBegun(entries))
    context.stderr.write(`anchor for the ticket: ${await anchorOfHead(workspace.journal.log)}\n`);
  if (end.error?.exitCode !== EXIT.waiting && end.error !== undefined) throw end.error;
  if (runContext.key.setting?.answer === 'unknown') throw keyUncertain(runContext.key.setting.failure);
  if (isAccepted(runContext)) await tell(runContext);
  if (flags.wait === true && end.isWaitedFor) await change.show?.(runContext, instances.instance);
  if (end.error !== undefined) throw end.error;
  return EXIT.closed;
}

/** Ends a run that has changed nothing, so that it is not in the way of the next command. */
async function giveUp({ journal }: Workspace, runId: string): Promise<void> {
  const run = await findRun(journal, runId).catch(() => undefined);
  if (run?.status !== 'open') return;
  await abandonRun(journal, run, 'the command ended before anything was sent').catch(() => undefined);
}

/** Once accepted. On stderr with `--wait`, whose result is what the change becomes. */
async function tellDone(
  context: CommandContext,
  { name, change, flags, runId }: Made,
  runContext: RunContext,
  { run, said }: { readonly run: Run; readonly said: unknown },
): Promise<void> {
  for (const send of foldSends(run.state().entries).values()) {
    const { adopted } = (send.output ?? {}) as { readonly adopted?: boolean };
    if (send.state !== 'landed' || adopted !== true) continue;
    const words = adoptedWords(send.evidence, send.answer, taskOf(send.verb ?? ''));
    context.stderr.write(`${readable(words)}\n`);
  }
  const { fields, text } = change.done(runContext);
  const waits = flags.wait === true && change.show !== undefined;
  if (waits) context.stderr.write(`${show(text)}\n`);
  else if (isForPeople(context)) context.stdout.write(`${show(text)}\n`);
  else {
    context.stderr.write(`${show(text)}\n`);
    const answer = said as ResultOf<'change'>['answer'];
    await printRecord(context, 'change', { instance: name, run: runId, ...fields, answer });
  }
}
