import type { Failure } from '../../machines/parts/failure.ts';
import type { Entry } from '../journal/journal.ts';
import { show } from '../text.ts';
import type { Tone } from './run-view.ts';

export interface Sentence {
  readonly text: string;
  readonly tone: Tone;
}

/** Longest sentence of a log or audit view, in characters. */
const LIMIT = 240;

/** One entry of a journal as a sentence for people: lower case, no stop, printable. An unknown type names itself. */
export function sentenceOf(entry: Entry): Sentence {
  const body = fields(entry.body);
  const failure = body['failure'] as Failure | undefined;
  const because = failure === undefined ? '' : `: ${failure.shortMessage}`;
  switch (entry.type) {
    case 'run.started':
      return say(`run of ${body['runbook']} on ${body['instance']} begun by ${body['operator']}`);
    case 'run.resumed':
      return say('taken up again');
    case 'event':
      return eventSentence(body);
    case 'answer':
      return say(`operator: ${body['label'] ?? body['event']}${reason(body)}`);
    case 'activity.begun':
      return say(`begins: ${body['verb']}`, 'dim');
    case 'intent.prepared':
      return say(`${body['verb']}: the state before is on record`, 'dim');
    case 'intent.armed':
      return say(`${body['verb']}: armed, the request may leave`, 'warn');
    case 'intent.outcome':
      return say(`${body['verb']}: ${OUTCOMES[String(body['sent'])] ?? body['sent']}${because}`, toneOfOutcome(body['sent']));
    case 'intent.judged':
      return say(`${body['verb']}: the service shows that it ${JUDGED[String(body['verdict'])] ?? body['verdict']}${because}`, toneOfOutcome(body['verdict']));
    case 'run.paused':
      return say(`paused for credentials${because}`, 'warn');
    case 'run.detached':
      return say('left open, to be resumed', 'dim');
    case 'run.closed':
      return say(`closed: ${body['title'] ?? body['outcome']}`, body['proven'] === true ? 'good' : 'warn');
    case 'run.abandoned':
      return say(`given up: ${body['reason']}`, 'warn');
    default:
      return ledgerSentence(entry.type, body);
  }
}

const OUTCOMES: Readonly<Record<string, string>> = {
  landed: 'accepted by the service',
  absent: 'not carried out',
  unknown: 'the answer was lost',
};

const JUDGED: Readonly<Record<string, string>> = {
  landed: 'landed',
  absent: 'never arrived',
  ambiguous: 'cannot be told',
};

function eventSentence(body: Record<string, unknown>): Sentence {
  const event = fields(body['event']);
  const type = String(event['type']);
  const failure = event['error'] as Failure | undefined;
  const next = typeof body['title'] === 'string' ? body['title'] : String(body['to']);
  if (type.startsWith('xstate.error.')) return say(`failed: ${failure?.shortMessage ?? 'unknown reason'}`, 'bad');
  if (type.startsWith('xstate.done.')) return say(`done; next: ${next}`);
  return say(`next: ${next}`, 'dim');
}

const LEDGER: Readonly<Record<string, { readonly text: string; readonly tone: Tone }>> = {
  'key.pending': { text: 'is stored and will be set', tone: 'plain' },
  'key.set': { text: 'is set', tone: 'good' },
  'key.uncertain': { text: 'may or may not be set', tone: 'warn' },
  'key.proven': { text: 'is proven', tone: 'good' },
  'key.refuted': { text: 'is not in force', tone: 'bad' },
  'key.added': { text: 'was added by hand', tone: 'plain' },
};

function ledgerSentence(type: string, body: Record<string, unknown>): Sentence {
  const known = LEDGER[type];
  if (known === undefined) return say(type);
  const backup = fields(body['backup'])['id'];
  const where = backup === undefined ? '' : ` (backup ${String(backup)})`;
  return say(`key ${body['fingerprint']} ${known.text}${where}`, known.tone);
}

function toneOfOutcome(word: unknown): Tone {
  if (word === 'landed') return 'good';
  return word === 'absent' ? 'plain' : 'warn';
}

function reason(body: Record<string, unknown>): string {
  return typeof body['reason'] === 'string' ? ` (${body['reason']})` : '';
}

function say(text: string, tone: Tone = 'plain'): Sentence {
  return { text: show(text, LIMIT), tone };
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
