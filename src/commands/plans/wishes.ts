import { EXIT, LifeboatError } from '../../base/errors.ts';
import { timeLimit } from '../../base/time-limit.ts';
import type { Conductor } from '../../plans/conductor.ts';
import type { PlanDecision } from '../../plans/decision-fit.ts';
import {
  type Entry,
  fieldsOf,
  type Journal,
  type JournalReader,
  type Json,
  type StreamName,
} from '../../store/journal.ts';

/** A decision that a person takes about the run of a plan while another process drives it. */
export interface Wish {
  readonly event: PlanDecision;
  /** What the record says. */
  readonly label: string;
}

const TYPE = 'plan.wish';

function streamOf(runId: string): StreamName {
  return `plan/${runId}`;
}

/** Records a wish; resolves with its number. Rejects with `journal.held` while another is written. */
export async function writeWish(journal: Journal, runId: string, wish: Wish): Promise<number> {
  const stream = streamOf(runId);
  const hold = await journal.hold(stream);
  try {
    const [entry] = await journal.append(
      [{ stream, type: TYPE, body: wish as unknown as Json }],
      [hold],
      [{ run: runId }],
    );
    return entry?.seq ?? 0;
  } finally {
    await hold.release();
  }
}

/** The number of the newest wish that the run of the plan has taken, or refused; 0 before the first. */
export function takenWishes(entries: readonly Entry[]): number {
  return entries.reduce((newest, { type, body }) => {
    const { wish } = fieldsOf(body);
    return (type === 'answer' || type === 'wish.refused') && typeof wish === 'number'
      ? Math.max(newest, wish)
      : newest;
  }, 0);
}

/**
 * Takes the wishes of other processes, from the first that was not taken, until the signal aborts. One that
 * does not fit is refused on record, so that its writer learns why.
 */
export async function takeWishes(
  journal: JournalReader,
  runId: string,
  conductor: Conductor,
  taken: number,
  signal: AbortSignal,
): Promise<void> {
  const stream = streamOf(runId);
  const { size } = await journal.log.head();
  let newest = await takeWishesOnRecord(journal, runId, conductor, taken);
  for await (const entries of journal.follow(size, signal))
    newest = await take(
      entries.filter((entry) => entry.stream === stream),
      conductor,
      newest,
    );
}

/** Takes the wishes that are on record by now, after the one with this number; gives that of the newest. */
export async function takeWishesOnRecord(
  journal: Pick<JournalReader, 'read'>,
  runId: string,
  conductor: Conductor,
  taken: number,
): Promise<number> {
  return take(await journal.read(streamOf(runId), taken + 1), conductor, taken);
}

async function take(entries: readonly Entry[], conductor: Conductor, taken: number): Promise<number> {
  let newest = taken;
  for (const { seq, body, by } of entries) {
    if (seq <= newest) continue;
    newest = seq;
    const { event, label } = body as unknown as Wish;
    await conductor.decide(event, `${label}, by ${by}`, seq);
  }
  return newest;
}

/** How long a wish may take to be taken. Milliseconds. */
const TAKEN_MS = 15_000;

/** Resolves when the run of the plan has taken a wish; rejects with `plan.refused` or `plan.not-taken`. */
export async function untilTaken(journal: JournalReader, runId: string, wish: number): Promise<void> {
  const stop = timeLimit(TAKEN_MS);
  const stream: StreamName = `run/${runId}`;
  const { size } = await journal.log.head();
  const isMine = (entry: Entry) => entry.stream === stream && fieldsOf(entry.body)['wish'] === wish;
  try {
    const found = (await journal.read(stream)).find(isMine);
    if (found !== undefined) return assertTaken(found);
    for await (const entries of journal.follow(size, stop)) {
      const mine = entries.find(isMine);
      if (mine !== undefined) return assertTaken(mine);
    }
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code === 'plan.refused') throw thrown;
    if (!stop.aborted) throw thrown;
  }
  throw new LifeboatError(
    'plan.not-taken',
    `the process that drives the plan has not taken it for ${TAKEN_MS / 1000} s`,
    {
      hints: [
        'it is on record, and taken as soon as that process looks',
        `what it does now: lifeboat plans show ${runId}`,
      ],
      exitCode: EXIT.waiting,
    },
  );
}

function assertTaken({ type, body }: Entry): void {
  if (type !== 'wish.refused') return;
  const { why } = fieldsOf(body);
  throw new LifeboatError('plan.refused', String(why), {
    hints: ['nothing was changed'],
    exitCode: EXIT.usage,
  });
}
