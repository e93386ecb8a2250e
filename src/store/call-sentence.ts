import { callOf, madeBy, verbTo } from '../../machines/parts/verb-words.ts';
import type { RunEntry } from './run-entries.ts';
import { because, type Sentence, say } from './said.ts';
import { goesTo, type SaidBefore } from './said-before.ts';

type CallEntry = Extract<RunEntry, { type: 'activity.begun' | `intent.${string}` }>;

/**
 * What an entry says of a call, from its beginning to what became of it. Only what needs attention is in the
 * tone of a warning: that a call is sent does not.
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

/** That nothing came of it is concluded from what the service shows, once nothing can be under way. */
function judgedSentence(
  { verb, verdict, failure, output }: BodyOf<'intent.judged'>,
  request: string,
): Sentence {
  const why = because(failure);
  if (verdict === 'landed')
    return say(`the service shows that ${request} arrived${madeWords(verb, output)}`, 'good');
  if (verdict === 'absent') return say(`the service shows that nothing came of ${request}${why}`);
  return say(`the service does not show what became of ${request}${why}`, 'warn');
}

function madeWords(verb: string, output: unknown): string {
  const made = madeBy(verb, output);
  return made === undefined ? '' : `: ${made}`;
}
