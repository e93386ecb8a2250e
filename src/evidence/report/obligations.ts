import { formatSpan } from '../../format.ts';
import type { Entry, Json } from '../../journal/journal.ts';
import type { RunEntryBody } from '../../journal/run-entries.ts';
import { code, plain, table } from '../markdown.ts';
import { find, findAll, findLast } from './found.ts';
import { time } from './layout.ts';

/** Something that a run owed, as it is written at its end or lies in its context. */
export type WrittenObligation = NonNullable<RunEntryBody<'run.closed'>['obligations']>[number];

/** What nobody has settled yet. */
export function stillOwed(owed: readonly WrittenObligation[]): readonly WrittenObligation[] {
  return owed.filter(({ settled }) => settled === undefined);
}

const WAYS: Readonly<Record<string, string>> = {
  platform: 'by the platform',
  cf: 'by cf',
  hand: 'by hand',
  run: 'by the run',
  skipped: '**skipped**',
};

/**
 * What was owed after the change: to whom it fell, how long it was open, how it was settled and by what proof. Empty where nothing was ever
 * owed.
 */
export function obligationList(entries: readonly Entry[], all: readonly WrittenObligation[]): string {
  if (all.length === 0) return '';
  const operator = find(entries, 'run.started')?.body.operator ?? 'unknown';
  const open = stillOwed(all).length;
  const skipped = all.filter(({ settled }) => settled?.how === 'skipped').length;
  const rows = all.map((owed) => [
    code(owed.id, 80),
    plain(owed.what),
    plain(owed.owner ?? operator, 60),
    ageOf(owed, entries.at(-1)?.at),
    settlement(owed),
    proofs(owed),
  ]);
  return [
    `${all.length} in all, ${open} open, ${skipped} skipped.`,
    table(['Id', 'What', 'Owner', 'Open for', 'Settled', 'Proof'], rows),
  ].join('\n\n');
}

/** What was owed, from the run itself or from its last word; what a person settled has the time at which it was said. */
export function owedBy(
  entries: readonly Entry[],
  given: readonly WrittenObligation[] | undefined,
): readonly WrittenObligation[] {
  const all = given ?? findLast(entries, 'run.closed')?.body.obligations ?? [];
  const said = findAll(entries, 'event').filter(({ body }) => SAID.includes(body.event.type));
  return all.map((owed) => {
    const { id, settled } = owed;
    const at = settled?.at ?? said.find(({ body }) => body.event['id'] === id)?.entry.at;
    return settled === undefined || at === undefined ? owed : { ...owed, settled: { ...settled, at } };
  });
}

const SAID = ['operator.settle', 'operator.skip'];

/** Until it was settled, or until the record's last entry; with the limit when there is one and it was passed. */
function ageOf({ since, dueSeconds, settled }: WrittenObligation, last: string | undefined): string {
  const until = settled === undefined ? last : settled.at;
  const seconds = (Date.parse(until ?? '') - Date.parse(since ?? '')) / 1000;
  if (!Number.isFinite(seconds)) return 'not known';
  const age = formatSpan(seconds);
  return dueSeconds !== undefined && seconds > dueSeconds
    ? `${age}, due after ${formatSpan(dueSeconds)}`
    : age;
}

function settlement({ settled }: WrittenObligation): string {
  if (settled === undefined) return '**still owed**';
  const when = settled.at === undefined ? '' : ` ${time(settled.at)}`;
  return `${WAYS[settled.how] ?? plain(settled.how, 20)}${when}: ${plain(settled.text)}`;
}

/** Ids for an auditor, whole, because they are looked up elsewhere: `deployment d-1`. */
function proofs({ settled }: WrittenObligation): string {
  return Object.entries(settled?.evidence ?? {})
    .flatMap(([name, value]) => idsOf(name, value))
    .map(([name, value]) => `${plain(name, 80)} ${code(value, LONGEST_PROOF)}`)
    .join(', ');
}

/** Several audit events of the platform with their types. */
const LONGEST_PROOF = 1_000;

/** The steps of a rebinding bring evidence of their own each: `bind job`. */
function idsOf(name: string, value: Json): [string, string][] {
  if (Array.isArray(value))
    return [[name, value.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(', ')]];
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([part, inner]) => idsOf(`${name} ${part}`, inner));
  return [[name, String(value)]];
}
