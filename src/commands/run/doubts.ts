import { setTimeout as pause } from 'node:timers/promises';
import { adoptions } from '../../../machines/parts/doubt-question.ts';
import { EXIT, errorFrom, exitOf, failureOf, LifeboatError } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import { formatTime, readable } from '../../base/format.ts';
import { LAST, meantBy } from '../../base/similar.ts';
import { printableJson, show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { idFrom } from '../../cli/numbers.ts';
import { printResult, printTable } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { depsFor, noPlatform } from '../../compose/activity-deps.ts';
import { openForRun } from '../../compose/service-of.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import type { Workspace } from '../../compose/workspace.ts';
import { instanceNamed } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { callInWords, callName, readAllDoubts } from '../../runner/assert-not-in-doubt.ts';
import { type Became, decideDoubt, lookUp, taskOf } from '../../runner/resolve-doubt.ts';
import type { ServiceClient } from '../../service/client.ts';
import type { JournalReader, Json } from '../../store/journal.ts';
import type { Doubt } from '../../store/projections/pending-calls.ts';
import { whoIs } from '../approvals/present.ts';
import { progressLine } from '../service/progress-line.ts';

/** `lifeboat runs --in-doubt`: lists the calls that may have been sent and whose outcome is unknown. */
export async function printDoubts(context: CommandContext): Promise<number> {
  const journal = await openJournalIfAny(context);
  try {
    const open = journal === undefined ? [] : await readAllDoubts(journal);
    await printResult(context, 'calls', { items: open.map(fieldsOf) }, () => {
      if (open.length === 0) context.stderr.write('no call is in doubt\n');
      else printCalls(context, open);
    });
  } finally {
    await journal?.close();
  }
  return EXIT.closed;
}

function printCalls(context: CommandContext, open: readonly Doubt[]): void {
  printTable(
    context,
    [
      { title: 'instance' },
      { title: 'sent (UTC)' },
      { title: 'resume' },
      { title: 'run', drops: true },
      { title: 'what', gives: true },
    ],
    open.map((doubt) => [
      doubt.instance,
      formatTime(doubt.armedAt),
      wordOf(doubt),
      doubt.run === undefined ? 'none' : doubt.run.isOpen ? 'open' : 'over',
      `${doubt.verb} ${printableJson(doubt.input)}`,
    ]),
  );
  for (const doubt of open)
    for (const line of candidateLines(doubt.unclear, taskOf(doubt.verb)))
      context.stdout.write(`  ${readable(`${wordOf(doubt)} may be ${line}`)}\n`);
  context.stderr.write('to ask the service, which sends nothing: lifeboat resume RUN --look\n');
}

/** The word by which `resume` takes a call: the run that sent it, or its own name. */
function wordOf({ run, intent }: Doubt): string {
  return run?.runId ?? intent;
}

function fieldsOf(doubt: Doubt) {
  const { instance, armedAt, verb, input, unclear, run } = doubt;
  const candidates = unclear?.evidence['candidates'];
  const shown = candidates === undefined ? {} : { candidates: candidates as Json };
  const sender = run === undefined ? {} : { run: run.runId, isOpen: run.isOpen };
  return { instance, intent: callName(doubt), verb, armedAt, input: input as Json, ...shown, ...sender };
}

/** A line for each task shown by the service, most certain first, in the words of a run's question. */
export function candidateLines(unclear: Failure | undefined, what = 'task'): readonly string[] {
  return adoptions(unclear, what).map(({ label, hint }) =>
    readable(`${label.replace(/^adopt /u, '')}: ${hint}`),
  );
}

/**
 * For `resume`: a call that no open run can ask about, by the id of an ended run or its own name; without a
 * word the only one. Undefined for other words. Rejects with `usage.call` (exit 2) for several.
 */
export async function doubtMeant(
  journal: Pick<JournalReader, 'rows'>,
  word: string | undefined,
  { look, became }: DoubtFlags,
): Promise<Doubt | undefined> {
  const isWanted = look === true || became !== undefined;
  if (word === '' || (!isWanted && (word === undefined || word === LAST))) return undefined;
  const doubts = await readAllDoubts(journal);
  const left = doubts.filter(({ run }) => run?.isOpen !== true);
  if (word === undefined) return doubts.length === 1 ? left[0] : undefined;
  const fits = meantBy(
    word,
    left,
    (doubt) => [wordOf(doubt), wordOf(doubt).toLowerCase(), callName(doubt)],
    ({ armedAt }) => armedAt,
  );
  const [only, another] = fits;
  if (another === undefined) return only;
  throw new LifeboatError('usage.call', `more than one call of ${show(word, 40)} is in doubt`, {
    hints: fits.slice(0, 5).map((doubt) => `${callName(doubt)}  ${doubt.verb}`),
    exitCode: EXIT.usage,
  });
}

export interface DoubtFlags {
  readonly look?: boolean;
  /** A person's word: an id, `done` or `nothing`. */
  readonly became?: string;
  readonly reason?: string;
  readonly tokenFile?: string;
}

/** Rejects, with exit 2, a person's word on a call without the reason. */
export function assertReasonGiven({ became, reason = '' }: DoubtFlags): void {
  if (became === undefined || reason.trim() !== '') return;
  throw new LifeboatError('usage.reason', '--became needs --reason: how do you know?', {
    hints: ['nothing was resolved'],
    exitCode: EXIT.usage,
  });
}

/** Asks the service about a call, or records a person's word; sends nothing. */
export async function resolveDoubt(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  doubt: Doubt,
  flags: DoubtFlags,
): Promise<number> {
  if (flags.became !== undefined) return decided(context, config, workspace, doubt, flags);
  const found = await asked(context, config, workspace, doubt, flags.tokenFile);
  await tell(context, doubt, found, wordsOf(found, taskOf(doubt.verb)));
  return EXIT.closed;
}

/**
 * Asks the service about a call that no open run asks about, before another change. Rejects with
 * `call.resolved` (exit 3) if it has arrived, and with exit 5 while that is not known.
 */
export async function resolveDoubtFirst(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  doubt: Doubt,
  tokenFile: string | undefined,
): Promise<void> {
  const what = show(`an earlier call, ${doubt.verb} of ${formatTime(doubt.armedAt)} UTC,`);
  context.stderr.write(`${what} is in doubt: asking the service what became of it\n`);
  const found = await asked(context, config, workspace, doubt, tokenFile);
  if (!found.landed) return;
  context.stderr.write(`${readable(wordsOf(found, taskOf(doubt.verb)))}\n`);
  const became = found.id === undefined || found.id === 0 ? '' : ` as ${found.id}`;
  throw new LifeboatError('call.resolved', `${what} has arrived${became}`, {
    hints: ['nothing was sent now', 'run the command again if another one is wanted'],
    exitCode: EXIT.waiting,
  });
}

/** What the service shows of a call; rejects with exit 5 while it shows nothing certain. */
async function asked(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  doubt: Doubt,
  tokenFile: string | undefined,
): Promise<Became> {
  const stop = stopSignal();
  const line = progressLine(context);
  try {
    await using instance = await openForRun(context, config, workspace, doubt.instance, { tokenFile });
    const { activitiesFor } = await import('../../activities/index.ts');
    const found = await lookUp(doubt, {
      journal: workspace.journal,
      who: whoIs(config, workspace),
      url: instance.config.url,
      activities: activitiesFor({ instance: depsFor(instance, { ...workspace, platform: noPlatform }) }),
      signal: stop.signal,
      sleep: (ms, signal) => pause(ms, undefined, { signal }),
      report: line.report,
    });
    if ('code' in found) throw stillInDoubt(doubt, found);
    return found;
  } catch (thrown) {
    if (stop.signal.aborted) throw left(thrown);
    throw thrown;
  } finally {
    line.end();
    stop.release();
    await workspace.sealer.sealRest();
  }
}

async function decided(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  doubt: Doubt,
  { became: said = '', reason = '', tokenFile }: DoubtFlags,
): Promise<number> {
  const id = said === 'nothing' || said === 'done' ? undefined : idFrom(said, '--became');
  const url = instanceNamed(config, doubt.instance).url;
  if (id !== undefined) await assertListed(context, config, workspace, doubt, { id, tokenFile });
  const landed = said !== 'nothing';
  const asking = { journal: workspace.journal, who: whoIs(config, workspace), url };
  await decideDoubt(doubt, asking, { landed, id }, reason);
  await workspace.sealer.sealRest();
  await tell(context, doubt, { landed, id }, reason);
  return EXIT.closed;
}

function tell(
  context: CommandContext,
  doubt: Doubt,
  { landed, id }: Pick<Became, 'landed' | 'id'>,
  reason: string,
): Promise<void> {
  const { instance, verb, armedAt } = doubt;
  const resolved = { instance, intent: callName(doubt), verb, landed, became: id, reason: readable(reason) };
  return printResult(context, 'call', resolved, () => {
    const what = !landed ? 'became nothing' : id === undefined ? 'was done' : `became ${id}`;
    context.stdout.write(`${readable(`${verb} of ${formatTime(armedAt)} UTC ${what}: ${reason}`)}\n`);
  });
}

export function wordsOf({ landed, evidence, lost }: Became, what: string): string {
  if (landed) return adoptedWords(evidence, lost, what);
  const answered = typeof lost?.evidence['status'] === 'number';
  return answered
    ? `${lost?.shortMessage}; its lists show that nothing was done`
    : 'the answer was lost, and the service shows that the request never arrived';
}

const GRADES: Readonly<Record<string, string>> = {
  certain: 'certainly ours',
  likely: 'likely ours',
  possible: 'possibly ours',
  unlikely: 'unlikely to be ours',
};

/** What was adopted as the result of a call whose answer was lost, and how certain that is. */
export function adoptedWords(evidence: unknown, lost: Failure | undefined, what: string): string {
  const why = lost === undefined ? 'the answer was not recorded' : lost.shortMessage;
  return `adopted: ${why}, and ${seen(evidence, what)}`;
}

function seen(evidence: unknown, what: string): string {
  const { candidate, certainty, signs } = (evidence ?? {}) as Readonly<Record<string, Json>>;
  if (candidate !== undefined) {
    const failure = { code: '', shortMessage: '', hints: [], evidence: { candidates: [candidate] } };
    const [line] = candidateLines(failure as never, what);
    if (line !== undefined) return `the service shows ${line}`;
  }
  const grade = GRADES[String(certainty)];
  const shown = Array.isArray(signs) && signs.length > 0 ? `: ${signs.join('; ')}` : '';
  return `the service shows that it was done${grade === undefined ? '' : ` (${grade})`}${shown}`;
}

/** The error while the service does not show what became of a call. */
export function stillInDoubt(doubt: Pick<Doubt, 'verb' | 'run' | 'intent'>, failure: Failure): LifeboatError {
  if (!failure.code.startsWith('doubt.')) return errorFrom(failure, exitOf(failure));
  const word = doubt.run?.runId ?? doubt.intent;
  const hints = [
    ...candidateLines(failure, taskOf(doubt.verb)).map((line) => `it may be ${line}`),
    'lifeboat changes nothing at the instance before this is resolved',
    `to look again, which sends nothing: lifeboat resume ${word} --look`,
    `to say what it became: lifeboat resume ${word} --became ${choicesOf(doubt)} --reason WHY`,
    ...(doubt.run?.isOpen === true ? [`to decide in a terminal: lifeboat resume ${word}`] : []),
  ];
  return errorFrom({ ...failure, hints }, EXIT.inDoubt);
}

const SHOWN = 10;

/**
 * Refuses (`usage.became`, exit 2) an id that neither the service's earlier answer nor its list has. Only
 * warns if the service cannot be asked. A restart, recreate or update becomes nothing with an id.
 */
async function assertListed(
  context: CommandContext,
  config: LoadedConfig,
  keys: Pick<Workspace, 'keyring'>,
  call: Doubt,
  { id, tokenFile }: { readonly id: number; readonly tokenFile: string | undefined },
): Promise<void> {
  const list = LISTS[taskOf(call.verb)];
  const candidates = call.unclear?.evidence['candidates'];
  const known = Array.isArray(candidates)
    ? candidates.map((one) => (one as { readonly id?: unknown } | null)?.id)
    : [];
  if (list === undefined || known.includes(id)) return;
  let listed: Awaited<ReturnType<typeof list.read>>['value'];
  try {
    await using instance = await openForRun(context, config, keys, call.instance, { tokenFile });
    listed = (await list.read(instance.service)).value;
  } catch (thrown) {
    const why = failureOf(thrown).shortMessage;
    context.stderr.write(`warning: the service could not be asked whether ${id} is there: ${show(why)}\n`);
    return;
  }
  if (listed.some((one) => one.id === id)) return;
  const newest = listed.toSorted((one, other) => other.id - one.id).slice(0, SHOWN);
  throw new LifeboatError('usage.became', `the service lists no ${list.what} ${id}; nothing was resolved`, {
    hints: [
      ...candidateLines(call.unclear, list.what),
      newest.length === 0
        ? `it lists no ${list.what} at all`
        : `it lists: ${newest.map((one) => `${one.id} (${show(one.status, 20)})`).join(', ')}`,
    ],
    exitCode: EXIT.usage,
  });
}

interface List {
  readonly what: string;
  readonly read: (
    service: ServiceClient,
  ) => Promise<{ readonly value: readonly { readonly id: number; readonly status: string }[] }>;
}

/** The list that shows what a call becomes. */
const LISTS: Readonly<Record<ReturnType<typeof taskOf>, List | undefined>> = {
  backup: { what: 'backup', read: (service) => service.backups() },
  restore: { what: 'restore', read: (service) => service.restores() },
  task: undefined,
};

function left(cause: unknown): LifeboatError {
  const hints = ['nothing was sent', 'the call stays in doubt: the same command looks again'];
  return new LifeboatError('call.left', 'interrupted', { hints, exitCode: EXIT.interrupted, cause });
}

/** The error for a call of a run that is over, or without a run, where no flag says what to do about it. */
export function doubtNeedsFlag(doubt: Doubt): LifeboatError {
  const word = wordOf(doubt);
  return new LifeboatError(
    'usage.call',
    `${callInWords(doubt)} on ${doubt.instance}, sent ${formatTime(doubt.armedAt)} UTC, is in doubt`,
    {
      hints: [
        `to ask the service, which sends nothing: lifeboat resume ${word} --look`,
        `to say what it became: lifeboat resume ${word} --became ${choicesOf(doubt)} --reason WHY`,
      ],
      exitCode: EXIT.inDoubt,
    },
  );
}

/** An action of the instance becomes nothing with an id. */
function choicesOf({ verb }: Pick<Doubt, 'verb'>): string {
  return taskOf(verb) === 'task' ? 'done|nothing' : 'ID|nothing';
}
