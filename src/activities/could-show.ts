import { failureOf } from '../base/errors.ts';
import type { Answer, ServiceClient } from '../service/client.ts';
import type { Judgement } from './activity.ts';
import type { Look, Task } from './evaluate-tasks.ts';

/** The service's answer about ids that its list does not show: `none` if it knows none of the next ones. */
export type Beyond<Row> = 'none' | 'not asked' | readonly Row[];

/** Why a list does not prove that a task is absent; undefined if it would have shown the task. */
export type Gap<Row> =
  | { readonly is: 'lost'; readonly id: number }
  | { readonly is: 'short' }
  | { readonly is: 'unread'; readonly id: number | undefined }
  | { readonly is: 'left-out'; readonly rows: readonly Row[] };

/**
 * Whether a list would have shown a requested task. It must hold what it held before, and extend to the time
 * of the call: a service may list only its newest tasks, or only its oldest. Only a list of backups may lose
 * its oldest rows, since old backups are deleted. Whether it extends far enough is determined by asking for
 * the ids that come next: times are unreliable, since tasks may be stamped by another clock. Pure.
 */
export function gapOf<Row extends Task>(
  { baseline, tasks, refusal, beyond = 'not asked', unread = [] }: Look<Row>,
  what: 'backup' | 'restore',
): Gap<Row> | undefined {
  const ids = [...tasks, ...unread].flatMap(({ id }) => id ?? []);
  const lost = lostRow(baseline.tasks, ids, what);
  if (lost !== undefined) return { is: 'lost', id: lost };
  // It may be the requested task.
  const odd = unread.find(({ id }) => !baseline.tasks.some(([before]) => before === id));
  if (odd !== undefined) return { is: 'unread', id: odd.id };
  if (typeof beyond !== 'string') return { is: 'left-out', rows: beyond };
  // An answer already said that nothing was done, so the list alone need not prove it.
  if (beyond === 'none' || refusal === 'unchecked') return undefined;
  return baseline.tasks.length === 0 && tasks.length === 0 ? undefined : { is: 'short' };
}

type Listed = readonly (readonly [id: number, atMs: number | null])[];

/** A task that was listed before and is now missing without a known reason. */
function lostRow(before: Listed, ids: readonly number[], what: 'backup' | 'restore'): number | undefined {
  const now = new Set(ids);
  const inOrder = before.toSorted(
    ([id, at], [otherId, otherAt]) => (at ?? 0) - (otherAt ?? 0) || id - otherId,
  );
  const oldest = inOrder.findIndex(([id]) => now.has(id));
  const kept = what === 'backup' && oldest > 0 ? inOrder.slice(oldest) : inOrder;
  return kept.findLast(([id]) => !now.has(id))?.[0];
}

/** How many of the ids after the last one are requested. */
const NEXT_IDS = 3;
/** The maximum number of ids requested in one look. */
const MAX_IDS = 20;

/**
 * Asks the service for the tasks after those of its list, if `judge` found that the list may be short. This
 * works only if ids are consecutive.
 */
export async function lookingBeyond<Row extends Task, Output>(
  service: Pick<ServiceClient, 'backup' | 'restore' | 'limits'>,
  what: 'backup' | 'restore',
  look: Look<Row>,
  { signal }: { readonly signal: AbortSignal },
  judge: (look: Look<Row>) => Judgement<Output>,
): Promise<Judgement<Output>> {
  const judged = judge(look);
  const isShort = judged.verdict === 'ambiguous' && judged.failure.code === 'doubt.list-short';
  // V0 has a single list for everything it reports about tasks.
  if (!isShort || service.limits !== undefined) return judged;
  const next = nextIds(
    look.baseline.tasks.map(([id]) => id),
    look.tasks.map(({ id }) => id),
  );
  if (next === undefined) return judged;
  const read = async (id: number) => (await service[what](id, signal)) as unknown as Answer<Row>;
  // A service that knows no task by its id would not know ours either.
  if ((await known(() => read(next.newest))) === undefined) return judged;
  const found: Row[] = [];
  let unknownSince = next.newest;
  for (let id = next.first; id <= unknownSince + NEXT_IDS; id += 1) {
    if (next.listed.has(id)) continue;
    if (id - next.first > MAX_IDS) return judged;
    const task = await known(() => read(id));
    if (task === 'not asked') return judged;
    if (task === undefined) continue;
    found.push(task);
    unknownSince = Math.max(unknownSince, id);
  }
  return judge({ ...look, beyond: found.length === 0 ? 'none' : found });
}

/** The first ids that a task since the call may have; undefined if ids have gaps. */
function nextIds(before: readonly number[], now: readonly number[]) {
  const listed = new Set(now);
  const ids = [...new Set([...before, ...now])].toSorted((one, other) => one - other);
  const newest = ids.at(-1);
  if (newest === undefined) return undefined;
  const inRow = ids.length === 1 || before.length === 0 ? [0, ...ids] : ids;
  if (inRow.some((id, index) => index > 0 && id - (inRow[index - 1] ?? 0) > 2)) return undefined;
  return {
    newest,
    first: before.length === 0 ? 1 : before.reduce((one, other) => Math.max(one, other)) + 1,
    listed,
  };
}

/** A task by its id; undefined if the service knows none, `not asked` if its answer does not tell. */
async function known<Row>(read: () => Promise<Answer<Row>>): Promise<Row | undefined | 'not asked'> {
  try {
    return (await read()).value;
  } catch (thrown) {
    const { code } = failureOf(thrown);
    if (code === 'service.not-found') return undefined;
    if (code === 'service.forbidden' || code === 'service.unsupported') return 'not asked';
    throw thrown;
  }
}
