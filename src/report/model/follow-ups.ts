import { msOf } from '../../base/instant.ts';
import type { Entry, Json } from '../../store/journal.ts';
import type { WrittenFollowUp } from '../../store/run-entries.ts';
import { find, findAll } from './found.ts';
import type { FollowUpRow } from './model-rows.ts';

/** Each with its owner, how long it was open, how it was closed and by what proof. */
export function followUpRows(entries: readonly Entry[], all: readonly WrittenFollowUp[]): FollowUpRow[] {
  const operator = find(entries, 'run.started')?.body.operator ?? 'unknown';
  const last = entries.at(-1)?.at;
  return all.map(({ id, kind, subject, what, owner, since, dueSeconds, closed }) => {
    const until = closed === undefined ? last : closed.at;
    const seconds = (msOf(until) - msOf(since)) / 1000;
    return {
      ...{ id, kind, subject, what, since, dueSeconds },
      owner: owner ?? operator,
      openSeconds: Number.isFinite(seconds) ? seconds : undefined,
      closed: closed === undefined ? undefined : { how: closed.how, at: closed.at, text: closed.text },
      proofs: Object.entries(closed?.evidence ?? {}).flatMap(([name, value]) => idsOf(name, value)),
    };
  });
}

/**
 * The given follow-ups, otherwise those of the run's last entry. One that a person closed has the time of
 * that answer.
 */
export function followUpsOf(
  entries: readonly Entry[],
  given: readonly WrittenFollowUp[] | undefined,
): readonly WrittenFollowUp[] {
  const all = given ?? find(entries, 'run.closed')?.body.followUps ?? [];
  const said = findAll(entries, 'event').filter(({ body }) => SAID.includes(body.event.type));
  return all.map((followUp) => {
    const { id, closed } = followUp;
    const at = closed?.at ?? said.find(({ body }) => body.event['id'] === id)?.entry.at;
    return closed === undefined || at === undefined ? followUp : { ...followUp, closed: { ...closed, at } };
  });
}

const SAID = ['operator.reportDone', 'operator.skip'];

/** The steps of a rebinding each have their own evidence: `bind job`. */
function idsOf(label: string, value: Json): FollowUpRow['proofs'] {
  if (Array.isArray(value)) {
    const all = value.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    return [{ label, value: all.join(', ') }];
  }
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([part, inner]) => idsOf(`${label} ${part}`, inner));
  return [{ label, value: String(value) }];
}
