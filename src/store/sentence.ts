import { counted, formatSeconds, readable } from '../base/format.ts';
import type { Entry } from './journal.ts';
import { recoverySentence } from './recovery-sentence.ts';
import { type RunEntry, readRunEntry } from './run-entries.ts';
import type { Sentence } from './said.ts';
import { keysWords, policyWords, whoWords } from './who-words.ts';

/** One entry as a sentence. Unknown types are shown with their fields. */
export function sentenceOf(entry: Pick<Entry, 'type' | 'body'>): Sentence {
  const known = readRunEntry(entry);
  const { text, tone, next } = known === undefined ? ledgerSentence(entry) : runSentence(known);
  return { text: readable(text), tone, ...(next === undefined ? {} : { next: readable(next) }) };
}

function runSentence(entry: RunEntry): Sentence {
  switch (entry.type) {
    case 'run.started': {
      const { runbook, version, instance, mode, operator, who, approvals } = entry.body;
      const more = `${whoWords(who)}${policyWords(approvals)}`;
      return say(`${operator} started ${runbook} ${version} on ${instance}, ${mode}${more}`);
    }
    case 'run.resumed': {
      const { pid, who, approvals, keys } = entry.body;
      return say(`resumed by process ${pid}${whoWords(who)}${policyWords(approvals)}${keysWords(keys)}`);
    }
    case 'event':
      return eventSentence(entry.body);
    case 'activity.begun':
      return say(`began ${entry.body.verb} (${entry.body.activity})`, 'dim');
    case 'intent.prepared':
      return say(
        `noted the state of the service before ${entry.body.verb} (intent ${entry.body.intent})`,
        'dim',
      );
    case 'intent.armed':
      return say(`sending ${entry.body.verb} (intent ${entry.body.intent} is on disk)`, 'warn');
    case 'intent.outcome': {
      const { verb, sent, failure, refused } = entry.body;
      if (failure?.code === 'service.no-id') return say(`${verb}: the service accepted it and named no id`);
      if (failure?.code === 'service.old-id') return say(`${verb}: ${failure.shortMessage}`, 'warn');
      if (refused === true && sent === 'unknown')
        return say(
          `${verb} was refused, and the service shows what it may have become${because(failure)}`,
          'warn',
        );
      return say(`${verb}: ${SENT[sent]}${because(failure)}`, TONES[sent]);
    }
    case 'intent.judged': {
      const { verb, verdict, failure } = entry.body;
      return say(`the service shows that ${verb} ${JUDGED[verdict]}${because(failure)}`, TONES[verdict]);
    }
    case 'answer':
      return say(`decided: ${entry.body.label ?? entry.body.event}${reason(entry.body.reason)}`);
    case 'approval.asked':
      return say(
        `needs the approval of a second person to ${entry.body.order}, until ${entry.body.expiresAt}`,
      );
    case 'approval.given': {
      const { approver, key, challenge, moment } = entry.body;
      const clock =
        moment === undefined ? '' : `; the clock of this machine differed, so it counts as at ${moment}`;
      return say(`${approver} approved it with the key ${key} (challenge ${challenge})${clock}`, 'good');
    }
    case 'approval.withdrawn':
      return say(`${entry.body.approver} withdrew the approval${reason(entry.body.reason)}`, 'warn');
    case 'approval.bypassed':
      return say(
        `BREAK-GLASS: decided to ${entry.body.order} without a second person${reason(entry.body.reason)}`,
        'bad',
      );
    case 'approval.weakened': {
      const changes = entry.body.changes.map(({ what, begun, now }) => `${what} (${begun}; now ${now})`);
      return say(
        `BREAK-GLASS: went on with less approval than at the beginning: ${changes.join(', ')}${reason(entry.body.reason)}`,
        'bad',
      );
    }
    case 'transcript.kept':
      return say(`the transcript of requests has ${counted(entry.body.lines, 'line')}`, 'dim');
    case 'transcript.elsewhere': {
      const where = entry.body.host === undefined ? 'on another machine' : `on ${entry.body.host}`;
      return say(`the transcript of what was sent until now lies ${where}`, 'warn');
    }
    case 'activity.overdue': {
      const { verb, seconds, limitSeconds, basis, detail } = entry.body;
      const limit = `${BASES[basis]} (${formatSeconds(limitSeconds)})`;
      const more = detail === undefined ? '' : `; ${detail}`;
      return say(`${spaced(verb)} has taken ${formatSeconds(seconds)}, longer than ${limit}${more}`, 'warn');
    }
    case 'run.paused':
      return say(`paused for new credentials${because(entry.body.failure)}`, 'warn');
    case 'clock.moved': {
      const { seconds } = entry.body;
      const by = formatSeconds(Math.abs(seconds));
      return say(`the clock of this machine was moved ${by} ${seconds < 0 ? 'back' : 'ahead'}`, 'warn');
    }
    case 'run.detached':
      return say(`left: ${entry.body.why}`, 'dim');
    case 'run.closed': {
      const { outcome, title, proven, deviations } = entry.body;
      const steps = deviations.map(({ step }) => step).join(', ');
      const count = steps === '' ? '' : `, with deviations: ${steps}`;
      const text = `closed, ${proven ? 'proven' : 'not proven'}: ${title ?? outcome}${count}${because(entry.body.failure)}`;
      return say(text, proven ? 'good' : 'warn');
    }
    case 'run.abandoned':
      return say(`abandoned: ${entry.body.reason}`, 'warn');
    default:
      return entry satisfies never;
  }
}

const BASES = {
  history: 'earlier ones suggest',
  objective: 'the objective allows',
  default: 'is usual',
} as const;

/**
 * What moved the machine, and where it stands now. Names of events are for programs; people get the state's
 * title.
 */
function eventSentence({ event, to, title }: Extract<RunEntry, { type: 'event' }>['body']): Sentence {
  const next = title ?? to;
  const [, activity] = /^xstate\.(?:done|error)\.actor\.(.+)$/.exec(event.type) ?? [];
  if (activity === undefined) return { ...say(`now at: ${next}`, 'dim'), next };
  if (event.type.startsWith('xstate.done'))
    return { ...say(`done: ${spaced(activity)}; now at: ${next}`), next };
  const error = event['error'];
  const message =
    typeof error === 'object' && error !== null && !Array.isArray(error) ? error['shortMessage'] : undefined;
  const why = typeof message === 'string' ? `: ${message}` : '';
  return { ...say(`failed: ${spaced(activity)}${why}; now at: ${next}`, 'bad'), next };
}

/** `fetchOld` is a name for programs; people read `fetch old`. */
export function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const SENT = {
  landed: 'the service accepted it',
  absent: 'the service did not do it',
  unknown: 'sent, but the answer was lost',
} as const;

const JUDGED = {
  landed: 'landed',
  absent: 'did not happen',
  ambiguous: 'may or may not have happened',
} as const;

const TONES = { landed: 'good', absent: 'plain', unknown: 'warn', ambiguous: 'warn' } as const;

/** Facts about keys in the ledger of an instance (bodies in keys/epochs.ts), by entry type. */
const LEDGER: Readonly<Record<string, Sentence>> = {
  'key.pending': { text: 'is stored and may be set', tone: 'plain' },
  'key.sent': { text: 'is being sent', tone: 'plain' },
  'key.refused': { text: 'was not taken', tone: 'warn' },
  'key.set': { text: 'is set', tone: 'good' },
  'key.uncertain': { text: 'may or may not be set', tone: 'warn' },
  'key.proven': { text: 'is proven', tone: 'good' },
  'key.refuted': { text: 'is not in force', tone: 'bad' },
  'key.added': { text: 'was added by hand', tone: 'plain' },
};

function ledgerSentence({ type, body }: Pick<Entry, 'type' | 'body'>): Sentence {
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    return say(`${type} ${JSON.stringify(body)}`);
  const fields = body as Readonly<Record<string, unknown>>;
  const found = callSentence(type, fields) ?? recoverySentence(type, body);
  if (found !== undefined) return found;
  const known = LEDGER[type];
  if (known !== undefined && typeof fields['fingerprint'] === 'string') {
    const backup = fields['backup'] as { readonly id?: unknown } | undefined;
    const where = typeof backup?.id === 'number' ? ` by backup ${backup.id}` : '';
    return say(`key ${fields['fingerprint']} ${known.text}${where}`, known.tone);
  }
  const texts = Object.entries(fields).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return say([type, texts.join(', ')].join(' ').trim());
}

/** Calls that were asked for outside of any run. */
function callSentence(type: string, fields: Readonly<Record<string, unknown>>): Sentence | undefined {
  const {
    verb,
    reason: why,
    who,
    how,
    failure,
    became,
  } = fields as {
    readonly verb?: string;
    readonly reason?: string;
    readonly who?: unknown;
    readonly how?: string;
    readonly became?: number | null;
    readonly failure?: { readonly shortMessage: string };
  };
  if (verb === undefined) return undefined;
  if (type === 'call.begun') return say(`asked for ${verb}${whoWords(who)}${reason(why)}`);
  if (type === 'call.decided') {
    const what = typeof became === 'number' ? `became ${became}` : 'became nothing';
    return say(`decided: ${verb} ${what}${whoWords(who)}${reason(why)}`, 'warn');
  }
  if (type !== 'call.ended') return undefined;
  return how === 'done' ? say(`${verb} is done`, 'good') : say(`${verb} ended${because(failure)}`, 'bad');
}

function because(failure: { readonly shortMessage: string } | undefined): string {
  return failure === undefined ? '' : `: ${failure.shortMessage}`;
}

function reason(text: string | undefined): string {
  return text === undefined ? '' : `, because: ${text}`;
}

function say(text: string, tone: Sentence['tone'] = 'plain'): Sentence {
  return { text, tone };
}
