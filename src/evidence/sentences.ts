import type { Entry } from '../journal/journal.ts';
import { type RunEntry, readRunEntry } from '../journal/run-entries.ts';
import { show } from '../text.ts';

/** One entry for a reader: every text is printable. */
export interface AuditLine {
  readonly stream: string;
  readonly seq: number;
  /** As stored: RFC 3339, UTC. */
  readonly at: string;
  readonly by: string;
  readonly type: string;
  /** One sentence without a stop. */
  readonly text: string;
  /** The first 12 hex digits. */
  readonly hash: string;
}

/** Entries as lines that a person can read: time, who, what happened. Unknown types are shown with their fields. */
export function auditShow(entries: readonly Entry[]): AuditLine[] {
  return entries.map((entry) => ({
    stream: show(entry.stream, 120),
    seq: entry.seq,
    at: show(entry.at, 30),
    by: show(entry.by, 60),
    type: show(entry.type, 64),
    text: sentenceOf(entry),
    hash: show(entry.hash.slice(0, 12)),
  }));
}

/** What an entry says, in one printable sentence without a stop. */
export function sentenceOf(entry: Pick<Entry, 'type' | 'body'>): string {
  const known = readRunEntry(entry);
  return show(known === undefined ? fieldsOf(entry) : sentence(known));
}

function sentence(entry: RunEntry): string {
  switch (entry.type) {
    case 'run.started': {
      const { runbook, version, instance, mode, operator } = entry.body;
      return `${operator} started ${runbook} ${version} on ${instance}, ${mode}`;
    }
    case 'run.resumed':
      return `resumed by process ${entry.body.pid}`;
    case 'event':
      return `now at: ${entry.body.title ?? entry.body.to}, after ${entry.body.event.type}`;
    case 'activity.begun':
      return `began ${entry.body.verb} (${entry.body.activity})`;
    case 'intent.prepared':
      return `noted the state of the service before ${entry.body.verb} (intent ${entry.body.intent})`;
    case 'intent.armed':
      return `armed ${entry.body.verb}: from here on it may have been sent (intent ${entry.body.intent})`;
    case 'intent.outcome':
      return `${entry.body.verb}: ${SENT[entry.body.sent]}${because(entry.body.failure)}`;
    case 'intent.judged':
      return `the service shows that ${entry.body.verb} ${JUDGED[entry.body.verdict]}${because(entry.body.failure)}`;
    case 'answer':
      return `decided: ${entry.body.label ?? entry.body.event}${reason(entry.body.reason)}`;
    case 'run.paused':
      return `paused for new credentials${because(entry.body.failure)}`;
    case 'run.detached':
      return `left, resumable: ${entry.body.why}`;
    case 'run.closed': {
      const { outcome, proven, deviations } = entry.body;
      const skips = deviations.map(({ step }) => `, skipped ${step}`).join('');
      return `closed: ${outcome}, ${proven ? 'proven' : 'not proven'}${skips}${because(entry.body.failure)}`;
    }
    case 'run.abandoned':
      return `abandoned: ${entry.body.reason}`;
    default:
      return entry satisfies never;
  }
}

const SENT = {
  landed: 'the service accepted it',
  absent: 'the service did not do it',
  unknown: 'sent, but the answer was lost',
} as const;

const JUDGED = { landed: 'landed', absent: 'did not happen', ambiguous: 'cannot be told apart' } as const;

function because(failure: { readonly shortMessage: string } | undefined): string {
  return failure === undefined ? '' : `: ${failure.shortMessage}`;
}

function reason(text: string | undefined): string {
  return text === undefined ? '' : `, because: ${text}`;
}

/** `key.set fingerprint 0a1b2c3d4e5f, run 01J…`: the plain fields of a body, nested ones as JSON. */
function fieldsOf({ type, body }: Pick<Entry, 'type' | 'body'>): string {
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    return `${type} ${JSON.stringify(body)}`;
  const fields = Object.entries(body).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [type, fields.join(', ')].join(' ').trim();
}
