import { ulid } from 'ulid';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { stillOpen } from '../../machines/parts/unfinished.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { counted } from '../base/format.ts';
import { isSameInstance } from '../base/instance-url.ts';
import { LAST } from '../base/similar.ts';
import type { Hold, Journal, JournalReader, Json, StreamName } from '../store/journal.ts';
import { type Doubt, doubtsOfStream } from '../store/projections/pending-calls.ts';
import type { RunSummary } from '../store/projections/run-summary.ts';
import { type Named, type RunProgress, runs, summariesOf } from '../store/projections/runs.ts';
import { type ForWorkers, isEnd, type PlanChild } from '../store/run-entries.ts';
import { assertNotInDoubt, blocksOtherChanges, changedBy } from './assert-not-in-doubt.ts';
import { Holds } from './holds.ts';
import type { Note } from './performed.ts';
import type { ClockMark } from './run.ts';
import { wakesOf } from './wakes.ts';

export interface Start {
  readonly runbook: Runbook;
  readonly instance: string;
  readonly target?: string | undefined;
  readonly input: Json;
  readonly mode: 'LIVE' | 'REHEARSAL';
  /** The objectives of the recovery, from the config when the run began. Seconds. */
  readonly objectives?: { readonly rtoSeconds?: number; readonly rpoSeconds?: number };
  readonly services?: readonly {
    readonly instance: string;
    readonly url: string;
    readonly revision: string;
  }[];
  readonly operator: string;
  /** See `run.started`: stored in the first entry. */
  readonly asked?: { readonly who: object; readonly approvals: object };
  readonly tool: { readonly name: string; readonly version: string; readonly node: string };
  readonly clock?: ClockMark | undefined;
  /** Finds the follow-ups that an open run leaves. */
  readonly followUpsOf?: FollowUpsOf | undefined;
  /** Default: a new id. A run of that id that exists already is left as it is. */
  readonly runId?: string | undefined;
  /** The step of a plan's run that this run is. */
  readonly plan?: PlanChild | undefined;
  /** Holds of other streams without which it must not begin: those of the plan's run that decided it. */
  readonly under?: readonly Hold[] | undefined;
  /** Leaves it to the workers, with these answers given in advance. */
  readonly workers?: ForWorkers | undefined;
  /** Begins even if another run of an instance is open. */
  readonly besideOpen?: boolean | undefined;
}

type FollowUpsOf = (run: RunSummary) => Promise<readonly FollowUp[]>;

/**
 * Begins a run: its id and first entry are on disk when this resolves. Refuses (`run.open`, exit 3) while
 * another run of an instance is open, because two recoveries would not see each other's changes, and
 * (`call.in-doubt`, exit 5) while a change's outcome is unknown. Of two runs that begin at once, one is
 * refused or meets the other's hold (`journal.held`).
 */
export async function startRun(journal: Journal, start: Start): Promise<string> {
  if (start.runId !== undefined && (await journal.head(`run/${start.runId}`)).seq > 0) return start.runId;
  const touched = ledgersOf(start.runbook, start);
  await assertNotInDoubt(journal, changedBy(start), { services: start.services ?? [] });
  await assertNotOpen(journal, touched, start);
  await using holds = new Holds(journal);
  await holds.take(...touched.map((name): StreamName => `instance/${name}`));
  await assertNotInDoubt(journal, changedBy(start), { services: start.services ?? [] });
  await assertNotOpen(journal, touched, start);
  return await begin(journal, start, holds);
}

/** The instances whose ledgers a run holds, sorted: none for a plan's step that sends them nothing. */
export function ledgersOf(
  { id, touches }: Pick<Runbook, 'id' | 'touches'>,
  {
    instance,
    target,
    input,
  }: { readonly instance: string; readonly target?: string | undefined; readonly input?: unknown },
): readonly string[] {
  const { source, target: into } = touches(input ?? {});
  if (id !== 'plan' && source === 'not-called' && into === 'none') return [];
  return [...new Set([instance, target ?? instance])].sort();
}

async function assertNotOpen(
  journal: Journal,
  touched: readonly string[],
  { services = [], followUpsOf, besideOpen }: Pick<Start, 'services' | 'followUpsOf' | 'besideOpen'>,
): Promise<void> {
  // A run that touches no instance disturbs no other run.
  if (besideOpen === true || touched.length === 0) return;
  const [open] = await openRunsOn(journal, touched, services);
  if (open === undefined) return;
  const shared = [open.instance, open.target].find((name) => name && touched.includes(name));
  throw runIsOpen(open, shared ?? open.instance, { followUps: await followUpsOf?.(open) });
}

/**
 * Open runs on or into any of these instances, oldest first; also those begun while an instance at one of the
 * addresses `services` had another name.
 */
export async function openRunsOn(
  journal: Pick<JournalReader, 'rows'>,
  instances: readonly string[],
  services: readonly Named[] = [],
): Promise<readonly RunSummary[]> {
  const rows = await journal.rows(runs.name, { group: 'open' });
  const found = rows.filter(({ value }) => {
    const run = value as unknown as RunProgress;
    if (run.runbook === 'plan-step') return false;
    if (instances.includes(run.instance) || instances.includes(run.target ?? run.instance)) return true;
    const began = run.services ?? [];
    return began.some((one) => services.some(({ url }) => isSameInstance(one.url, url) === true));
  });
  return summariesOf(found);
}

/** Does not suggest abandoning a run with follow-ups: its applications may be without a binding. */
export function runIsOpen(
  open: RunSummary,
  instance: string,
  {
    followUps = [],
    more = [],
  }: { readonly followUps?: readonly FollowUp[] | undefined; readonly more?: readonly string[] } = {},
): LifeboatError {
  const left = stillOpen(followUps).length;
  return new LifeboatError('run.open', `run ${open.runId} on ${instance} is still open: ${open.where}`, {
    hints: [
      `resume it: lifeboat resume ${open.runId}`,
      left === 0
        ? `or abandon it: lifeboat resume ${open.runId} --abandon REASON`
        : `or do what it leaves to be done (${counted(left, 'open follow-up')}): lifeboat followups`,
      ...more,
    ],
  });
}

async function begin(journal: Journal, start: Start, holds: Holds): Promise<string> {
  const runId = start.runId ?? newId();
  const body = {
    runbook: start.runbook.id,
    version: start.runbook.version,
    instance: start.instance,
    ...(start.target === undefined ? {} : { target: start.target }),
    input: start.input,
    mode: start.mode,
    ...(start.objectives === undefined ? {} : { objectives: start.objectives }),
    ...(start.services === undefined ? {} : { services: start.services }),
    operator: start.operator,
    ...(start.asked as Readonly<Record<string, Json>> | undefined),
    tool: start.tool,
    ...(start.clock === undefined ? {} : { clock: start.clock }),
    ...(start.plan === undefined ? {} : { plan: start.plan as unknown as Json }),
    ...(start.workers === undefined ? {} : { workers: start.workers as unknown as Json }),
  };
  const stream: StreamName = `run/${runId}`;
  await holds.take(stream);
  // Another process may have begun it since.
  if (start.runId !== undefined && (await journal.head(stream)).seq > 0) return runId;
  const wakes = start.workers === undefined ? [] : [{ run: runId }];
  await journal.append([{ stream, type: 'run.started', body }], holds.all, wakes, start.under);
  return runId;
}

/** Oldest first; with `newest`, only that many of the newest. */
export async function listRuns(journal: Pick<JournalReader, 'rows'>, newest?: number): Promise<RunSummary[]> {
  if (newest === undefined) return summariesOf(await journal.rows(runs.name));
  const rows = await journal.rows(runs.name, { limit: newest, order: 'descending' });
  return summariesOf(rows.toReversed());
}

const MAX_NAMED = 5;

/**
 * The run that a person means: by id, prefix or `last`, the newest, but for a step its plan; without a word,
 * the only open one. An empty word, as from an unset variable, matches none.
 */
export async function findRun(journal: Pick<JournalReader, 'rows'>, word?: string): Promise<RunSummary> {
  const fits = await runsMeantBy(journal, word);
  const [first, second] = fits;
  if (first !== undefined && second === undefined) return first;
  const what = word === undefined ? 'open run' : word === LAST ? 'run' : `run ${word === '' ? "''" : word}`;
  throw new LifeboatError(
    first === undefined ? 'run.unknown' : 'run.ambiguous',
    first === undefined ? `there is no ${what}` : `there is more than one ${what}`,
    {
      hints: [
        '`lifeboat runs` lists them',
        ...fits.map((run) => `${run.runId}  ${run.runbook} on ${run.instance}`),
      ],
      exitCode: EXIT.usage,
    },
  );
}

async function runsMeantBy(
  journal: Pick<JournalReader, 'rows'>,
  word: string | undefined,
): Promise<readonly RunSummary[]> {
  if (word === '') return [];
  if (word === LAST) {
    const rows = await journal.rows(runs.name, { limit: 1, order: 'descending' });
    const { planRun } = (rows[0]?.value ?? {}) as unknown as Partial<RunProgress>;
    return planRun === undefined ? summariesOf(rows) : runsMeantBy(journal, planRun);
  }
  if (word === undefined)
    return summariesOf(await journal.rows(runs.name, { group: 'open', limit: MAX_NAMED }));
  const keyPrefix = word.toUpperCase();
  const rows = await journal.rows(runs.name, { keyPrefix, limit: MAX_NAMED });
  const plan = rows.length < 2 ? undefined : await onePlan(journal, keyPrefix);
  return plan === undefined ? summariesOf(rows) : [plan];
}

/** The ids of a plan's runs begin as its own: a prefix of these alone means the plan. */
async function onePlan(
  journal: Pick<JournalReader, 'rows'>,
  keyPrefix: string,
): Promise<RunSummary | undefined> {
  const rows = await journal.rows(runs.name, { keyPrefix });
  const plans = new Set(rows.map(({ key, value }) => (value as Partial<RunProgress>).planRun ?? key));
  const [only, other] = plans;
  return other === undefined ? summariesOf(rows.filter(({ key }) => key === only))[0] : undefined;
}

/**
 * Abandons a run that cannot or must not be continued. The record stays. Its open follow-ups move to the
 * ledger of the instance that it changed, in the same transaction. Returns its calls in doubt: until their
 * outcome is known, that instance is not changed. `notes` are the run's last notes. Rejects with `run.over`
 * if the run has ended in the meantime.
 */
export async function abandonRun(
  journal: Journal,
  run: RunSummary,
  reason: string,
  openFollowUps: readonly FollowUp[] = [],
  notes: readonly Note[] = [],
): Promise<readonly Doubt[]> {
  const stream: StreamName = `run/${run.runId}`;
  const changed: StreamName = `instance/${run.target ?? run.instance}`;
  await using holds = new Holds(journal);
  await holds.take(stream);
  const entries = await journal.read(stream);
  if (entries.some(isEnd)) throw endedMeanwhile(run.runId);
  const doubts = doubtsOfStream(stream, entries).filter(blocksOtherChanges);
  if (openFollowUps.length > 0) await holds.take(changed);
  // Several runs may leave the same follow-up, so each gets its own id. Only the run could have done it: drop
  // `doable`.
  const handed = openFollowUps.map(({ doable: _, ...followUp }) => ({
    stream: changed,
    type: 'follow-up.opened',
    body: {
      followUp: { ...followUp, id: `${followUp.id}-${run.runId.slice(-6).toLowerCase()}` },
      run: run.runId,
    } as unknown as Json,
  }));
  const abandoned = { stream, type: 'run.abandoned', body: { reason } };
  const last = notes.map((note) => ({ stream, ...note }));
  await journal.append([...last, abandoned, ...handed], holds.all, wakesOf(entries, 'over'));
  return doubts;
}

export function endedMeanwhile(runId: string): LifeboatError {
  return new LifeboatError('run.over', `run ${runId} has ended in the meantime`, {
    hints: [`read it with: lifeboat audit show ${runId}`],
    exitCode: EXIT.usage,
  });
}

/** Sorts by creation time. Throws `clock.unusable` for a clock before 1970, which ids cannot express. */
export function newId(now: number = Date.now()): string {
  if (now >= 0) return ulid(now);
  throw new LifeboatError('clock.unusable', 'the clock of this machine is set before 1970', {
    hints: ['nothing was started: set the clock, then try again'],
  });
}
