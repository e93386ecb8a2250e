import { callOf, madeBy, verbTo } from '../../machines/parts/verb-words.ts';
import { type Entry, fieldsOf } from './journal.ts';
import type { RunEntry } from './run-entries.ts';
import { because, type Sentence, say } from './sentence-parts.ts';

type CallEntry = Extract<RunEntry, { type: 'activity.begun' | `intent.${string}` }>;

/**
 * Describes one journal entry about a call, from `activity.begun` to its outcome. Only entries that need
 * attention get the tone of a warning; sending a call does not.
 */
export function callSentence(entry: CallEntry, before: SaidBefore): Sentence {
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

/** "Nothing came of it" is concluded from what the service shows, once no request can still be under way. */
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

/** Facts from earlier entries of a stream that later entries only refer to. */
export interface SaidBefore {
  /** The verb and input of each call, by intent or activity. */
  readonly calls: Map<string, Call>;
  /** The run's instance and its target, as far as they are known. */
  instance?: string | undefined;
  target?: string | undefined;
  /** Instances reached through an older revision of the interface, whose paths differ. */
  older: ReadonlySet<string>;
}

interface Call {
  readonly verb: string;
  readonly input: unknown;
}

/** The facts known before the first entry of a stream; a ledger's stream names its instance. */
export function beginningOf(stream: string | undefined): SaidBefore {
  const [, instance] = /^instance\/(.+)$/u.exec(stream ?? '') ?? [];
  return { calls: new Map(), older: new Set(), instance };
}

/** Adds the facts of one more entry. The cost does not depend on the length of the stream. */
export function note(said: SaidBefore, { type, body }: Pick<Entry, 'type' | 'body'>): void {
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

/** The instance that a call goes to; undefined if unknown. */
function goesTo({ instance, target }: SaidBefore, input: unknown): string | undefined {
  return fieldsOf(input)['on'] === 'target' ? target : instance;
}
