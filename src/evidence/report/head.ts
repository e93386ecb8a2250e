import type { Entry } from '../../journal/journal.ts';
import type { RunEntryBody } from '../../journal/run-entries.ts';
import { code, plain, table } from '../markdown.ts';
import { fieldsOf } from '../measure/timeline.ts';
import { find, findLast } from './found.ts';
import { section } from './layout.ts';
import { stillOwed, type WrittenObligation } from './obligations.ts';

/** What run it is, who did it when, and with what. */
export function heading(entries: readonly Entry[]): string {
  const started = find(entries, 'run.started')?.body;
  const input = fieldsOf(started?.input);
  const first = entries[0];
  const over = findLast(entries, 'run.closed') ?? findLast(entries, 'run.abandoned');
  const rows: (readonly [string, string])[] = [
    ['Run', code(first?.stream.replace(/^run\//u, '') ?? 'none')],
    [
      'Runbook',
      started === undefined ? 'unknown' : `${plain(started.runbook)}, version ${plain(started.version)}`,
    ],
    ['Instance', plain(started?.instance ?? 'unknown')],
    ...said('Target', started?.target),
    ['Mode', plain(started?.mode ?? 'unknown')],
    ['Operator', plain(started?.operator ?? 'unknown')],
    ['Acting', [...new Set(entries.map(({ by }) => by))].map((by) => plain(by, 60)).join(', ')],
    ...said('Reason', input['reason']),
    ...said('Incident', input['incidentAt']),
    ['Started', plain(first?.at ?? 'unknown')],
    ['Ended', plain(over?.entry.at ?? 'not yet')],
    ['Duration', over === undefined ? 'not over' : duration(first?.at, over.entry.at)],
    ['Tool', started === undefined ? 'unknown' : tool(started.tool)],
  ];
  const title = started === undefined ? 'Run' : `${plain(started.runbook)} on ${plain(started.instance)}`;
  return `# ${title}\n\n${table(['', ''], rows)}`;
}

/** How the run ended, and whether that is proven. */
export function outcome(entries: readonly Entry[], owed: readonly WrittenObligation[] = []): string {
  const closed = findLast(entries, 'run.closed')?.body;
  const abandoned = findLast(entries, 'run.abandoned')?.body;
  if (closed !== undefined) {
    const proof = closed.proven ? 'The result is **proven**' : 'The result is **not proven**';
    const failure = closed.failure === undefined ? '' : ` Failure: ${plain(closed.failure.shortMessage)}.`;
    return section('Outcome', `**${plain(closed.outcome)}**. ${proof}.${failure}`);
  }
  if (abandoned !== undefined) return section('Outcome', `**Abandoned**: ${plain(abandoned.reason)}.`);
  const at = findLast(entries, 'event')?.body.title;
  const where = at === undefined ? '' : ` It is at: ${plain(at)}.`;
  const left = stillOwed(owed).length;
  const owing = left === 0 ? '' : ` **It still owes ${left}.**`;
  return section(
    'Outcome',
    `**This run is still open.**${where}${owing} The record ends with its last entry.`,
  );
}

/** A row for what was given to this run, and none for what was not. */
function said(label: string, value: unknown): [string, string][] {
  return typeof value === 'string' ? [[label, plain(value)]] : [];
}

function tool({ name, version, node }: RunEntryBody<'run.started'>['tool']): string {
  return `${plain(name)} ${plain(version)}, Node ${plain(node)}`;
}

/** By the operator's clock, which may have been set in between. */
function duration(from: string | undefined, to: string | undefined): string {
  const ms = Date.parse(to ?? '') - Date.parse(from ?? '');
  if (!Number.isFinite(ms)) return 'unknown';
  if (ms < 0) return 'unknown: the clock was set back';
  const seconds = Math.round(ms / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${h} h ${m} min ${s} s`;
}
