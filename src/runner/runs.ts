import { ulid } from 'ulid';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { stillOpen } from '../../machines/parts/unfinished.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { counted } from '../base/format.ts';
import { isSameInstance } from '../base/instance-url.ts';
import { LAST } from '../base/similar.ts';
import type { Journal, JournalReader, Json, StreamName } from '../store/journal.ts';
import { type Doubt, doubtsOfStream } from '../store/projections/pending-calls.ts';
import { openRuns, type RunSummary, runs, summariesOf } from '../store/projections/runs.ts';
import { isEnd } from '../store/run-entries.ts';
import { assertNotInDoubt, changedBy } from './assert-not-in-doubt.ts';
import { Holds } from './holds.ts';
import { blocksOtherChanges, moveToLedger } from './in-doubt.ts';
import type { Note } from './performed.ts';
import type { ClockMark } from './run.ts';
import { type Named, servicesIn } from './where-sent.ts';

export interface Start {
  readonly runbook: Runbook;
  readonly instance: string;
  readonly target?: string | undefined;
  readonly input: Json;
  readonly mode: 'LIVE' | 'REHEARSAL';
  /** What the recovery is measured against, as the config had it when the run began. Seconds. */
  readonly objectives?: { readonly rtoSeconds?: number; readonly rpoSeconds?: number };
  /** Where the instances are, as the config had it. */
  readonly services?: readonly {
    readonly instance: string;
    readonly url: string;
    readonly revision: string;
  }[];
  readonly operator: string;
  /** Who begins it and what needs a second person, as the first entry keeps it; see `run.started`. */
  readonly asked?: { readonly who: object; readonly approvals: object };
  readonly tool: { readonly name: string; readonly version: string; readonly node: string };
  readonly clock?: ClockMark | undefined;
  /** What an open run leaves to be done; without it, nothing is known of that. */
  readonly followUpsOf?: FollowUpsOf | undefined;
}

/** The follow-ups of a run, open and closed. */
type FollowUpsOf = (run: RunSummary) => Promise<readonly FollowUp[]>;

/**
 * Begins a run: its id and first entry, on disk when this resolves. Refuses (`run.open`, exit 3) while
 * another run of an instance is open, because two recoveries of one instance would not see each other's
 * changes, and (`call.in-doubt`, exit 5) while it is not known what became of a call that changes one. Of two
 * that begin at once one is refused, or meets the hold of the other (`journal.held`).
 */
export async function startRun(journal: Journal, start: Start): Promise<string> {
  const touched = [...new Set([start.instance, start.target ?? start.instance])].sort();
  await assertNotOpen(journal, touched, start);
  await using holds = new Holds(journal);
  await holds.take(...touched.map((name): StreamName => `instance/${name}`));
  await assertNotOpen(journal, touched, start);
  await assertNotInDoubt(journal, changedBy(start), { services: start.services ?? [] });
  return await begin(journal, start, holds);
}

async function assertNotOpen(
  journal: Journal,
  touched: readonly string[],
  { services = [], followUpsOf }: Pick<Start, 'services' | 'followUpsOf'>,
): Promise<void> {
  const [open] = await openRunsOn(journal, touched, services);
  if (open === undefined) return;
  const shared = [open.instance, open.target].find((name) => name && touched.includes(name));
  throw runIsOpen(open, shared ?? open.instance, { followUps: await followUpsOf?.(open) });
}

/**
 * Open runs on any of these instances, or into it, oldest first; also those that began while an instance at
 * one of the addresses `services` had another name.
 */
export async function openRunsOn(
  journal: Pick<JournalReader, 'read' | 'rows'>,
  instances: readonly string[],
  services: readonly Named[] = [],
): Promise<readonly RunSummary[]> {
  const found: RunSummary[] = [];
  for (const run of await openRuns(journal)) {
    const isNamed = [run.instance, run.target].some((name) => name && instances.includes(name));
    if (isNamed || (await isElsewhereCalled(journal, run, services))) found.push(run);
  }
  return found;
}

/** Whether a run began on one of these instances while it was called otherwise. */
async function isElsewhereCalled(
  journal: Pick<JournalReader, 'read'>,
  { runId }: Pick<RunSummary, 'runId'>,
  services: readonly Named[],
): Promise<boolean> {
  if (services.length === 0) return false;
  const began = servicesIn(await journal.read(`run/${runId}`));
  return began.some((one) => services.some(({ url }) => isSameInstance(one.url, url) === true));
}

/**
 * That a change of an instance would come between the steps of a run on it. A run that leaves work to be done
 * is not to be abandoned for it: its applications may be without a binding.
 */
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
  const runId = newId();
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
  };
  const stream: StreamName = `run/${runId}`;
  await holds.take(stream);
  await journal.append([{ stream, type: 'run.started', body }], holds.all);
  return runId;
}

/** All runs of this store, or the newest so many; oldest first either way. */
export async function listRuns(journal: Pick<JournalReader, 'rows'>, newest?: number): Promise<RunSummary[]> {
  if (newest === undefined) return summariesOf(await journal.rows(runs.name));
  const rows = await journal.rows(runs.name, { limit: newest, order: 'descending' });
  return summariesOf(rows.toReversed());
}

/** More are not named where a word fits several. */
const MAX_NAMED = 5;

/**
 * The run a person means: its id, the beginning of one, `last` for the one that was begun last, or, without a
 * word, the only open one. An empty word, as of a variable that is not set, means none.
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
  if (word === LAST) return listRuns(journal, 1);
  const which = word === undefined ? { group: 'open' } : { keyPrefix: word.toUpperCase() };
  return summariesOf(await journal.rows(runs.name, { ...which, limit: MAX_NAMED }));
}

/**
 * Gives up a run that cannot or must not be carried on. The record stays. The open follow-ups of the run, and
 * its calls in doubt, go to the ledger of the instance that it changed, in the same transaction: the next
 * change of that instance asks about the calls first. `notes` are the last that the run says. Gives those
 * calls. Rejects with `run.over` when the run has ended meanwhile.
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
  await holds.take(...(openFollowUps.length > 0 ? [changed] : []), ...doubts.map(ledgerOf));
  // Several runs may leave the same follow-up, so each gets an id of its own in the ledger. `doable` goes:
  // the run that could have done it is over.
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
  await journal.append([...last, abandoned, ...handed, ...moveToLedger(doubts)], holds.all);
  return doubts;
}

function ledgerOf({ instance }: Doubt): StreamName {
  return `instance/${instance}`;
}

/** Whoever waited for a run finds that another process has brought it to its end. */
export function endedMeanwhile(runId: string): LifeboatError {
  return new LifeboatError('run.over', `run ${runId} has ended in the meantime`, {
    hints: [`read it with: lifeboat audit show ${runId}`],
    exitCode: EXIT.usage,
  });
}

/**
 * An id that sorts by the time at which it was made. Throws `clock.unusable` while this machine's clock
 * stands before 1970, where such ids have no beginning.
 */
export function newId(now: number = Date.now()): string {
  if (now >= 0) return ulid(now);
  throw new LifeboatError('clock.unusable', 'the clock of this machine is set before 1970', {
    hints: ['nothing was started: set the clock, then try again'],
  });
}
