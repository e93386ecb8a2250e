import { callOf, madeBy, verbDid, verbTo } from '../../machines/parts/verb-words.ts';
import { counted, formatSeconds, readable } from '../base/format.ts';
import { show } from '../base/text.ts';
import { type Entry, fieldsOf } from './journal.ts';
import { childWords, planEventWords, planWishWords } from './plan-sentence.ts';
import { UNOPENED } from './projections/ledgers.ts';
import { recoverySentence } from './recovery-facts.ts';
import { type ApprovalPolicy, type RunEntry, type RunEntryBody, readRunEntry, Who } from './run-entries.ts';

type Said = Pick<Entry, 'type' | 'body'> & { readonly stream?: string };

/**
 * Pass the entries of a stream in order: facts of earlier ones about a call, such as its target, are
 * included. Unknown types are shown with their fields.
 */
export function entrySentences(): (entry: Said) => Sentence {
  const known = new Map<string | undefined, SaidBefore>();
  return (entry) => {
    const said = known.get(entry.stream) ?? beginningOf(entry.stream);
    known.set(entry.stream, said);
    note(said, entry);
    return sentenceAfter(said, entry);
  };
}

function sentenceAfter(before: SaidBefore, entry: Said): Sentence {
  const known = readRunEntry(entry);
  const { text, tone, next } = known === undefined ? ledgerSentence(entry) : runSentence(known, before);
  return { text: readable(text), tone, ...(next === undefined ? {} : { next: readable(next) }) };
}

function runSentence(entry: RunEntry, before: SaidBefore): Sentence {
  switch (entry.type) {
    case 'run.started': {
      const { runbook, version, instance, mode, operator, who, approvals, input, plan, workers } = entry.body;
      const { reason: why } = (input ?? {}) as { readonly reason?: unknown };
      const more = `${whoWords(who)}${policyWords(approvals)}${reason(typeof why === 'string' ? why : undefined)}`;
      const part = plan === undefined ? '' : `, ${childWords(plan)}`;
      const left = workers === undefined ? '' : ', left to the workers';
      return say(`${operator} started ${runbook} ${version} on ${instance}, ${mode}${part}${left}${more}`);
    }
    case 'run.resumed': {
      const { pid, who, approvals, keys } = entry.body;
      return say(`resumed by process ${pid}${whoWords(who)}${policyWords(approvals)}${keysWords(keys)}`);
    }
    case 'event':
      return eventSentence(entry.body, before);
    case 'activity.begun':
    case 'intent.prepared':
    case 'intent.armed':
    case 'intent.outcome':
    case 'intent.judged':
      return callSentence(entry, before);
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
        'BREAK-GLASS: went on with less approval than at the beginning: ' +
          `${changes.join(', ')}${reason(entry.body.reason)}`,
        'bad',
      );
    }
    case 'transcript.kept':
      return say(`the transcript of requests has ${counted(entry.body.lines, 'line')}`, 'dim');
    case 'transcript.elsewhere': {
      const where = entry.body.host === undefined ? 'on another machine' : `on ${entry.body.host}`;
      return say(`the transcript of what was sent so far is ${where}`, 'warn');
    }
    case 'activity.overdue': {
      const { activity, verb, seconds, limitSeconds, basis, detail } = entry.body;
      const limit = `${BASES[basis]} (${formatSeconds(limitSeconds)})`;
      const more = detail === undefined ? '' : `; ${detail}`;
      const words = verbTo(verb, before.calls.get(activity)?.input);
      return say(`already ${formatSeconds(seconds)} to ${words}, longer than ${limit}${more}`, 'warn');
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
      const text =
        `closed, ${proven ? 'proven' : outcome === 'done' ? 'done' : 'not proven'}: ` +
        `${title ?? outcome}${count}${because(entry.body.failure)}`;
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

/** People see the title of the state, not the name of the event. */
function eventSentence(
  { event, to, title }: Extract<RunEntry, { type: 'event' }>['body'],
  { calls }: SaidBefore,
): Sentence {
  const next = title ?? to;
  if (event.type === 'approval.expired')
    return { ...say(`nobody approved it in time; next: ${next}`, 'warn'), next };
  const [, activity] = /^xstate\.(?:done|error)\.actor\.(.+)$/.exec(event.type) ?? [];
  const planned = planEventWords(event.type, event);
  if (planned !== undefined) return planned;
  if (activity === undefined) return { ...say(`next: ${next}`, 'dim'), next };
  const { verb, input } = calls.get(activity) ?? { verb: activity, input: undefined };
  if (event.type.startsWith('xstate.done'))
    return { ...say(`${didWords(verb, input, event['output'])}; next: ${next}`), next };
  const { shortMessage, code } = fieldsOf(event['error']);
  const why = typeof shortMessage === 'string' ? `: ${shortMessage}` : '';
  // A call in doubt may have been executed.
  if (typeof code === 'string' && code.startsWith('doubt.'))
    return {
      ...say(
        `what became of the request to ${verbTo(verb, input)} is not known${why}; next: ${next}`,
        'warn',
      ),
      next,
    };
  return { ...say(`failed to ${verbTo(verb, input)}${why}; next: ${next}`, 'bad'), next };
}

/** A request that never arrived is not over: the machine or a person decides about sending it again. */
function didWords(verb: string, input: unknown, output: unknown): string {
  const isLost = fieldsOf(output)['landed'] === false;
  return isLost ? `nothing came of the request to ${verbTo(verb, input)}` : verbDid(verb, input);
}

/** Keys in a ledger (bodies in key-epochs.ts), by entry type. */
const LEDGER: Readonly<Record<string, Sentence>> = {
  'key.pending': { text: 'is stored and may be set', tone: 'plain' },
  'key.sent': { text: 'is being sent', tone: 'plain' },
  'key.refused': { text: 'was not accepted', tone: 'warn' },
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
  const found = singleSentence(type, fields) ?? planWishWords({ type, body }) ?? recoverySentence(type, body);
  if (found !== undefined) return found;
  if (type === UNOPENED) {
    const { backup, code } = fields as {
      readonly backup?: { readonly id?: unknown };
      readonly code?: unknown;
    };
    const why = typeof code === 'string' ? ` (${code})` : '';
    return say(`backup ${String(backup?.id)} could not be proven${why}`, 'bad');
  }
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

/** In a ledger: calls that no run asks about, or that an earlier version sent without a run. */
interface SingleCall {
  readonly verb?: string;
  readonly input?: unknown;
  readonly reason?: string;
  readonly who?: unknown;
  readonly how?: string;
  readonly became?: number | null;
  readonly landed?: boolean;
  readonly failure?: { readonly shortMessage: string };
}

function singleSentence(type: string, fields: SingleCall): Sentence | undefined {
  const { verb, input, reason: why, who, how, failure, became, landed } = fields;
  if (verb === undefined) return undefined;
  const words = verbTo(verb, input);
  if (type === 'call.begun') return say(`asked to ${words}${whoWords(who)}${reason(why)}`);
  if (type === 'call.decided') {
    const made = madeBy(verb, { id: became }) ?? became;
    const what =
      typeof became === 'number' ? `became ${made}` : landed === true ? 'was done' : 'became nothing';
    return say(`decided: the request to ${words} ${what}${whoWords(who)}${reason(why)}`, 'warn');
  }
  if (type !== 'call.ended') return undefined;
  return how === 'done'
    ? say(`done: ${words}`, 'good')
    : say(`the request to ${words} ended${because(failure)}`, 'bad');
}

/** Every text is printable. */
export interface AuditLine {
  readonly stream: string;
  readonly seq: number;
  /** RFC 3339, UTC. */
  readonly at: string;
  readonly by: string;
  readonly type: string;
  /** A sentence without a full stop. */
  readonly text: string;
  /** The first 12 hex digits. */
  readonly hash: string;
}

/** Unknown types are shown with their fields. */
export function auditShow(entries: readonly Entry[]): AuditLine[] {
  const say = entrySentences();
  return entries.map((entry) => ({
    stream: show(entry.stream, 120),
    seq: entry.seq,
    at: show(entry.at, 30),
    by: show(entry.by, 60),
    type: show(entry.type, 64),
    text: say(entry).text,
    hash: show(entry.hash.slice(0, 12)),
  }));
}

type CallEntry = Extract<RunEntry, { type: 'activity.begun' | `intent.${string}` }>;

/** From `activity.begun` to the outcome. Only entries that need attention get the tone of a warning. */
function callSentence(entry: CallEntry, before: SaidBefore): Sentence {
  const { verb } = entry.body;
  if (entry.type === 'activity.begun') return say(`began to ${verbTo(verb, entry.body.input)}`, 'dim');
  const input = before.calls.get(entry.body.intent)?.input;
  const place = goesTo(before, input);
  const words = verbTo(verb, input);
  switch (entry.type) {
    case 'intent.prepared':
      return say(`noted what ${place ?? 'the instance'} shows before the request to ${words}`, 'dim');
    case 'intent.armed': {
      const isOlder = place === undefined || before.older.has(place);
      const call = callOf(verb, isOlder ? undefined : input) ?? `the request to ${words}`;
      return say(`sending ${call}${place === undefined ? '' : ` to ${place}`}`);
    }
    case 'intent.outcome':
      return outcomeSentence(entry.body, `the request to ${words}`);
    case 'intent.judged':
      return judgedSentence(entry.body, `the request to ${words}`);
    default:
      return entry satisfies never;
  }
}

type BodyOf<Type> = Extract<RunEntry, { type: Type }>['body'];

function outcomeSentence(
  { verb, sent, failure, refused, output }: BodyOf<'intent.outcome'>,
  request: string,
): Sentence {
  const why = because(failure);
  if (sent === 'landed') return say(`the service accepted ${request}${madeWords(verb, output)}`);
  if (failure?.code === 'service.no-id') return say(`the service accepted ${request} and named no id`);
  if (failure?.code === 'service.old-id') return say(failure.shortMessage, 'warn');
  if (refused === true && sent === 'unknown')
    return say(`${request} was refused, and the service shows what it may have become${why}`, 'warn');
  if (sent === 'unknown') return say(`what became of ${request} is not known${why}`, 'warn');
  return refused === true
    ? say(`${request} was refused${why}`, 'warn')
    : say(`${request} was never sent${why}`, 'warn');
}

/** "Nothing came of it" is concluded from the service once no request can still be under way. */
function judgedSentence(
  { verb, verdict, failure, output }: BodyOf<'intent.judged'>,
  request: string,
): Sentence {
  const why = because(failure);
  if (verdict === 'landed')
    return say(`the service shows that ${request} arrived${madeWords(verb, output)}`, 'good');
  if (verdict === 'nothing') return say(`the service shows nothing that ${request} may have become`, 'dim');
  if (verdict === 'absent') return say(`the service shows that nothing came of ${request}${why}`);
  return say(`the service does not show what became of ${request}${why}`, 'warn');
}

function madeWords(verb: string, output: unknown): string {
  const made = madeBy(verb, output);
  return made === undefined ? '' : `: ${made}`;
}

/** Facts of earlier entries that later ones only refer to. */
interface SaidBefore {
  /** By intent or activity. */
  readonly calls: Map<string, Call>;
  instance?: string | undefined;
  target?: string | undefined;
  /** Reached through an older revision of the interface, whose paths differ. */
  older: ReadonlySet<string>;
}

interface Call {
  readonly verb: string;
  readonly input: unknown;
}

/** A ledger's stream names its instance. */
function beginningOf(stream: string | undefined): SaidBefore {
  const [, instance] = /^instance\/(.+)$/u.exec(stream ?? '') ?? [];
  return { calls: new Map(), older: new Set(), instance };
}

/** The cost does not depend on the length of the stream. */
function note(said: SaidBefore, { type, body }: Pick<Entry, 'type' | 'body'>): void {
  const fields = fieldsOf(body);
  if (type === 'run.started') {
    const { instance, target, services } = fields;
    said.instance = textIn(instance) ?? said.instance;
    said.target = textIn(target) ?? said.target;
    const older = (Array.isArray(services) ? services : []).flatMap((one) => {
      const { instance: name, revision } = fieldsOf(one);
      return revision === 'v0' && typeof name === 'string' ? [name] : [];
    });
    said.older = new Set(older);
  }
  const { verb, input, activity, key } = fields;
  if (type !== 'activity.begun' || typeof verb !== 'string') return;
  for (const id of [activity, key]) if (typeof id === 'string') said.calls.set(id, { verb, input });
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function goesTo({ instance, target }: SaidBefore, input: unknown): string | undefined {
  return fieldsOf(input)['on'] === 'target' ? target : instance;
}

/** Printable, without a full stop; `tone` tells a renderer how to emphasise it. */
export interface Sentence {
  readonly text: string;
  readonly tone: 'plain' | 'good' | 'warn' | 'bad' | 'dim';
  /** The title of the state that the entry led to, which is in the text too. */
  readonly next?: string;
}

function say(text: string, tone: Sentence['tone'] = 'plain'): Sentence {
  return { text, tone };
}

/** `: why`. */
function because(failure: { readonly shortMessage: string } | undefined): string {
  return failure === undefined ? '' : `: ${failure.shortMessage}`;
}

/** `, because: why`. */
function reason(text: string | undefined): string {
  return text === undefined ? '' : `, because: ${text}`;
}

/** `, login ada (uid 1000) on host-1, config 0a1b2c3d4e5f`; empty without `who`. */
function whoWords(value: unknown): string {
  const { data: who } = Who().safeParse(value);
  if (who === undefined) return '';
  const uid = who.uid === undefined ? '' : ` (uid ${who.uid})`;
  return `, login ${who.login}${uid} on ${who.host}, config ${who.config.slice(0, 12)}`;
}

/** The rest of a sentence; empty without a policy. */
function policyWords(approvals: ApprovalPolicy | undefined): string {
  return approvals === undefined
    ? ''
    : `; ${policyFacts(approvals)
        .map((fact) => fact.join(': '))
        .join(', ')}`;
}

export function policyFacts(approvals: ApprovalPolicy): (readonly [label: string, value: string])[] {
  const { required, expiresSeconds, signers, revoked } = approvals;
  return [
    ...Object.entries(required).map(([name, level]) => [`approval on ${name}`, LEVELS[level]] as const),
    ...(expiresSeconds === undefined ? [] : [['a request lasts', formatSeconds(expiresSeconds)] as const]),
    ...(signers === undefined ? [] : [['allowed signers', fileWords(signers)] as const]),
    ...(signers === undefined
      ? []
      : [['revoked keys', revoked === undefined ? 'no list' : fileWords(revoked)] as const]),
  ];
}

/** The rest of a sentence. */
function keysWords(keys: RunEntryBody<'run.resumed'>['keys']): string {
  const { entered = [], without = [] } = keys ?? {};
  return [
    ...(entered.length === 0 ? [] : [`; entered key ${entered.join(', ')}`]),
    ...(without.length === 0 ? [] : [`; goes on without key ${without.join(', ')}`]),
  ].join('');
}

const LEVELS = {
  none: 'not needed',
  overwrites: 'for what overwrites data',
  destructive: 'for every destructive step',
} as const;

function fileWords({ sha256, lines, problem }: NonNullable<ApprovalPolicy['revoked']>): string {
  if (problem !== undefined) return `not read: ${problem}`;
  return `${counted(lines.length, 'line')}, SHA-256 ${sha256}`;
}
