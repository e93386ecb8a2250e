import { formatSpan } from '../../format.ts';
import type { Entry } from '../../journal/journal.ts';
import type { RunEntryBody } from '../../journal/run-entries.ts';
import { code, plain, table } from '../markdown.ts';
import { find, findLast } from './found.ts';
import { time } from './layout.ts';

/** Something that a run owed, as it is written at its end or lies in its context. */
export type WrittenObligation = NonNullable<RunEntryBody<'run.closed'>['obligations']>[number];

const WAYS: Readonly<Record<string, string>> = {
  platform: 'by the platform',
  cf: 'by cf',
  hand: 'by hand',
  run: 'by the run',
  skipped: '**skipped**',
};

/**
 * What was owed after the change: to whom it fell, how long it was open, how it was settled and by what proof. `given` is for a run that is
 * not closed. Empty where nothing was ever owed.
 */
export function obligationList(
  entries: readonly Entry[],
  given: readonly WrittenObligation[] | undefined,
): string {
  const all = given ?? findLast(entries, 'run.closed')?.body.obligations ?? [];
  if (all.length === 0) return '';
  const operator = find(entries, 'run.started')?.body.operator ?? 'unknown';
  const open = all.filter(({ settled }) => settled === undefined).length;
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

/** Ids for an auditor: `deployment d-1`. */
function proofs({ settled }: WrittenObligation): string {
  return Object.entries(settled?.evidence ?? {})
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return `${plain(name, 40)} ${code(text, 120)}`;
    })
    .join(', ');
}
