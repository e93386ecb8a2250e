import type { Entry, Json } from '../../store/journal.ts';
import type { RunEntryBody } from '../../store/run-entries.ts';
import { find, findAll } from './found.ts';
import type { Duty } from './model-rows.ts';

/** Something that a run owed, as it is written at its end or lies in its context. */
export type WrittenObligation = NonNullable<RunEntryBody<'run.closed'>['obligations']>[number];

/** What nobody has settled yet. */
export function stillOwed(owed: readonly WrittenObligation[]): readonly WrittenObligation[] {
  return owed.filter(({ settled }) => settled === undefined);
}

/** To whom each fell, how long it was open, how it was settled and by what proof. */
export function dutiesOf(entries: readonly Entry[], all: readonly WrittenObligation[]): Duty[] {
  const operator = find(entries, 'run.started')?.body.operator ?? 'unknown';
  const last = entries.at(-1)?.at;
  return all.map(({ id, kind, subject, what, owner, since, dueSeconds, settled }) => {
    const until = settled === undefined ? last : settled.at;
    const seconds = (Date.parse(until ?? '') - Date.parse(since ?? '')) / 1000;
    return {
      ...{ id, kind, subject, what, since, dueSeconds },
      owner: owner ?? operator,
      openSeconds: Number.isFinite(seconds) ? seconds : undefined,
      settled: settled === undefined ? undefined : { how: settled.how, at: settled.at, text: settled.text },
      proofs: Object.entries(settled?.evidence ?? {}).flatMap(([name, value]) => idsOf(name, value)),
    };
  });
}

/** What was owed, from the run itself or from its last word; what a person settled has the time at which it was said. */
export function owedBy(
  entries: readonly Entry[],
  given: readonly WrittenObligation[] | undefined,
): readonly WrittenObligation[] {
  const all = given ?? find(entries, 'run.closed')?.body.obligations ?? [];
  const said = findAll(entries, 'event').filter(({ body }) => SAID.includes(body.event.type));
  return all.map((owed) => {
    const { id, settled } = owed;
    const at = settled?.at ?? said.find(({ body }) => body.event['id'] === id)?.entry.at;
    return settled === undefined || at === undefined ? owed : { ...owed, settled: { ...settled, at } };
  });
}

const SAID = ['operator.settle', 'operator.skip'];

/** The steps of a rebinding bring evidence of their own each: `bind job`. */
function idsOf(label: string, value: Json): Duty['proofs'] {
  if (Array.isArray(value)) {
    const all = value.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    return [{ label, value: all.join(', ') }];
  }
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([part, inner]) => idsOf(`${label} ${part}`, inner));
  return [{ label, value: String(value) }];
}
