import { formatValue } from '../format.ts';
import type { Entry } from '../journal/journal.ts';
import { type RunEntryBody, type RunEntryType, readRunEntry } from '../journal/run-entries.ts';
import { sentenceOf } from '../journal/sentence.ts';
import { code, plain, table } from './markdown.ts';

export interface ReportOptions {
  readonly generatedAt: Date;
  /** Facts about the instance that this run wrote to its ledger: keys, cards, proven backups. */
  readonly ledger?: readonly Entry[];
  /** The signed checkpoint of the run's last entry. */
  readonly note?: string;
  /** Files that belong to the evidence, such as the exported journal, with their SHA-256 in hex. */
  readonly files?: readonly { readonly name: string; readonly sha256: string }[];
}

/**
 * The record of a run as Markdown: what an auditor asks for, from the run's entries alone, so that it can be written
 * again at any time with the same content. Pure. A run that is not over gives a record that says so.
 */
export function runReport(entries: readonly Entry[], options: ReportOptions): string {
  const ledger = options.ledger ?? [];
  const sections = [
    heading(entries),
    outcome(entries),
    section('Facts proven', facts(entries)),
    section('Decisions', decisions(entries)),
    section('Deviations', deviations(entries)),
    section('Changes', changes(entries)),
    section('Timeline (UTC)', timeline(entries)),
    ledger.length === 0 ? '' : section('Written to the ledger of the instance', timeline(ledger)),
    section('Evidence', evidence(entries, options)),
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
}

function heading(entries: readonly Entry[]): string {
  const started = find(entries, 'run.started')?.body;
  const first = entries[0];
  const over = findLast(entries, 'run.closed') ?? findLast(entries, 'run.abandoned');
  const rows: (readonly [string, string])[] = [
    ['Run', code(first?.stream.replace(/^run\//u, '') ?? 'none')],
    [
      'Runbook',
      started === undefined ? 'unknown' : `${plain(started.runbook)}, version ${plain(started.version)}`,
    ],
    ['Instance', plain(started?.instance ?? 'unknown')],
    ['Mode', plain(started?.mode ?? 'unknown')],
    ['Operator', plain(started?.operator ?? 'unknown')],
    ['Acting', [...new Set(entries.map(({ by }) => by))].map((by) => plain(by, 60)).join(', ')],
    ['Started', plain(first?.at ?? 'unknown')],
    ['Ended', plain(over?.entry.at ?? 'not yet')],
    ['Duration', duration(first?.at, over?.entry.at)],
    ['Tool', started === undefined ? 'unknown' : tool(started.tool)],
  ];
  const title = started === undefined ? 'Run' : `${plain(started.runbook)} on ${plain(started.instance)}`;
  return `# ${title}\n\n${table(['', ''], rows)}`;
}

function outcome(entries: readonly Entry[]): string {
  const closed = findLast(entries, 'run.closed')?.body;
  const abandoned = findLast(entries, 'run.abandoned')?.body;
  if (closed !== undefined) {
    const proof = closed.proven ? 'The result is **proven**' : 'The result is **not proven**';
    const failure = closed.failure === undefined ? '' : ` Failure: ${plain(closed.failure.shortMessage)}.`;
    return section('Outcome', `**${plain(closed.outcome)}**. ${proof}.${failure}`);
  }
  if (abandoned !== undefined) return section('Outcome', `**Abandoned**: ${plain(abandoned.reason)}.`);
  return section('Outcome', '**This run is still open.** The record ends with its last entry.');
}

function facts(entries: readonly Entry[]): string {
  const closed = findLast(entries, 'run.closed')?.body;
  if (closed === undefined || closed.summary.length === 0) return 'None.';
  return table(
    ['Fact', 'Value'],
    closed.summary.map(({ label, value, unit }) => [plain(label), plain(formatValue(value, unit))]),
  );
}

function decisions(entries: readonly Entry[]): string {
  const answers = findAll(entries, 'answer');
  if (answers.length === 0) return 'None.';
  return table(
    ['Time', 'Who', 'Decision', 'Reason'],
    answers.map(({ entry, body }) => [
      time(entry.at),
      plain(entry.by, 60),
      plain(body.label ?? body.event),
      plain(body.reason ?? ''),
    ]),
  );
}

function deviations(entries: readonly Entry[]): string {
  const closed = findLast(entries, 'run.closed')?.body;
  if (closed === undefined || closed.deviations.length === 0) return 'None.';
  return closed.deviations.map(({ step, reason }) => `- ${plain(step)}: ${plain(reason)}`).join('\n');
}

/**
 * Everything that changed something: calls that may happen only once (when armed, how the send ended, what was found out later) and
 * steps that may be repeated, such as setting a key, with the answer they got.
 */
function changes(entries: readonly Entry[]): string {
  const rows = [...onceRows(entries), ...repeatableRows(entries)].sort((a, b) => a.seq - b.seq);
  if (rows.length === 0) return 'None.';
  return table(
    ['Begun', 'Step', 'Intent', 'Answer', 'Found at the service'],
    rows.map(({ cells }) => cells),
  );
}

interface ChangeRow {
  readonly seq: number;
  readonly cells: readonly string[];
}

function onceRows(entries: readonly Entry[]): ChangeRow[] {
  return findAll(entries, 'intent.armed').map(({ entry, body: { intent, verb } }) => {
    const sent = findAll(entries, 'intent.outcome').findLast(({ body }) => body.intent === intent)?.body;
    const judged = findAll(entries, 'intent.judged').findLast(({ body }) => body.intent === intent)?.body;
    const answer = plain(sent?.sent ?? 'never written');
    const found = judged === undefined ? '' : plain(judged.verdict);
    return { seq: entry.seq, cells: [time(entry.at), plain(verb), code(intent, 60), answer, found] };
  });
}

function repeatableRows(entries: readonly Entry[]): ChangeRow[] {
  return findAll(entries, 'activity.begun')
    .filter(({ body }) => body.kind === 'repeatable')
    .map(({ entry, body: { activity, verb } }) => ({
      seq: entry.seq,
      cells: [time(entry.at), plain(verb), '', plain(answerOf(entries, entry.seq, activity)), ''],
    }));
}

/** How an activity that began at `seq` ended: its own word for it, the failure, or nothing on record. */
function answerOf(entries: readonly Entry[], seq: number, activity: string): string {
  const ended = findAll(entries, 'event').find(
    ({ entry, body }) => entry.seq > seq && body.event.type.endsWith(`.actor.${activity}`),
  )?.body.event;
  if (ended === undefined) return 'never written';
  const result = ended['output'] ?? ended['error'];
  const fields = typeof result === 'object' && result !== null && !Array.isArray(result) ? result : {};
  const word = fields['answer'] ?? fields['shortMessage'];
  return typeof word === 'string' ? word : 'done';
}

function timeline(entries: readonly Entry[]): string {
  return table(
    ['Time', 'No', 'Who', 'What'],
    entries.map((entry) => [
      time(entry.at),
      String(entry.seq),
      plain(entry.by, 60),
      plain(sentenceOf(entry).text),
    ]),
  );
}

function evidence(entries: readonly Entry[], options: ReportOptions): string {
  const last = entries.at(-1);
  const files = options.files ?? [];
  const head =
    last === undefined
      ? 'There are no entries.'
      : `${last.seq} entries, chain head ${code(last.hash)} (write its first digits into the ticket: they pin this record).`;
  const parts = [
    head,
    files.length === 0
      ? ''
      : table(
          ['File', 'SHA-256'],
          files.map(({ name, sha256 }) => [plain(name), code(sha256)]),
        ),
    options.note === undefined ? 'The head is not signed.' : `Signed head:\n\n${fenced(options.note)}`,
    `To verify: ${code(`lifeboat audit verify ${last?.stream.replace(/^run\//u, '') ?? ''}`.trim())}. Each entry's hash is the SHA-256 over the hash before it, a line feed and the canonical JSON (RFC 8785) of [stream, seq, at, by, type, body].`,
    `Written ${options.generatedAt.toISOString()}.`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function fenced(note: string): string {
  return note
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}

function tool({ name, version, node }: RunEntryBody<'run.started'>['tool']): string {
  return `${plain(name)} ${plain(version)}, Node ${plain(node)}`;
}

function section(title: string, text: string): string {
  return `## ${title}\n\n${text}`;
}

/** `YYYY-MM-DD HH:MM:SS` of a stored time. */
function time(at: string): string {
  return plain(at.replace('T', ' ').replace(/\.\d+Z$/u, ''), 24);
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

interface Found<T extends RunEntryType> {
  readonly entry: Entry;
  readonly body: RunEntryBody<T>;
}

function findAll<T extends RunEntryType>(entries: readonly Entry[], type: T): Found<T>[] {
  return entries.flatMap((entry) => {
    const known = entry.type === type ? readRunEntry(entry) : undefined;
    return known === undefined ? [] : [{ entry, body: known.body as RunEntryBody<T> }];
  });
}

function find<T extends RunEntryType>(entries: readonly Entry[], type: T): Found<T> | undefined {
  return findAll(entries, type)[0];
}

function findLast<T extends RunEntryType>(entries: readonly Entry[], type: T): Found<T> | undefined {
  return findAll(entries, type).at(-1);
}
