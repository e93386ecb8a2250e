import type { AnyMachineSnapshot } from 'xstate';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import {
  type Answer,
  OPENSSL_KEY_BYTES,
  optionKey,
  type Question,
  type QuestionOption,
  STOP_EVENT,
} from '../../machines/parts/question.ts';
import type { StateMeta } from '../../machines/parts/runbook.ts';
import { metaAt, statePath } from '../../machines/parts/states.ts';
import { isoOf } from '../base/date.ts';
import { LifeboatError } from '../base/errors.ts';
import { msOf } from '../base/instant.ts';
import { isNoReason, noReasonWords } from '../base/reason.ts';
import type { Secret } from '../base/secret.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { show } from '../base/text.ts';
import type { MachineEvent } from './fold.ts';

/** What the machine gets, and what the record says about the decision. */
export interface Decision {
  readonly event: MachineEvent;
  readonly label: string;
  readonly text: string | undefined;
}

type AnyMeta = StateMeta<unknown, never>;

export function metaOf(snapshot: AnyMachineSnapshot): AnyMeta | undefined {
  return metaAt(snapshot.machine, statePath(snapshot));
}

/** The question that the machine waits for; undefined if it asks nothing. */
export function questionOf(snapshot: AnyMachineSnapshot): Question | undefined {
  if (snapshot.status !== 'active') return undefined;
  return metaOf(snapshot)?.question?.(snapshot.context);
}

/** The options offered while the verb of the active state runs. */
function besideOf(snapshot: AnyMachineSnapshot): readonly QuestionOption[] {
  if (snapshot.status !== 'active') return [];
  return metaOf(snapshot)?.beside?.(snapshot.context) ?? [];
}

/** Keeps a secret in memory until a verb stores it; the machine only learns its fingerprint and length. */
export type TakeSecret = (
  secret: Secret,
) => Promise<{ readonly fingerprint: string; readonly length: number }>;

/** Rejects with a usage error, changing nothing, if the answer does not fit the question. */
export async function decide(
  snapshot: AnyMachineSnapshot,
  answer: Answer,
  take: TakeSecret,
): Promise<Decision> {
  const question = questionOf(snapshot);
  // Skipping a step uses the same event: an answer about a follow-up must not skip another question's step.
  if (answer.id !== undefined && question?.kind !== 'followUps') {
    const why = question === undefined ? 'there is no question to answer now' : asksFirst(question);
    throw misfit(`nothing was done about the follow-up ${show(answer.id)}: ${why}`);
  }
  if (question === undefined) {
    const options = besideOf(snapshot);
    if (options.length === 0) throw misfit('there is no question to answer now');
    return chosen({ options }, answer);
  }
  if (question.kind === 'typed-name' && answer.event === question.event) {
    if (answer.typed !== question.expected) {
      throw new LifeboatError('confirm.mismatch', `the name does not match: type ${question.expected}`, {
        hints: ['nothing was sent'],
      });
    }
    return {
      event: { type: question.event, typed: answer.typed },
      label: 'confirmed by typed name',
      text: undefined,
    };
  }
  if (question.kind === 'secret' && answer.event === question.event) {
    if (answer.secret === undefined) throw misfit('this question takes a key');
    checkKey(answer.secret, question);
    return {
      event: { type: question.event, ...(await take(answer.secret)) },
      label: 'entered a key',
      text: undefined,
    };
  }
  if (question.kind === 'time' && answer.event === question.event) return moment(question, answer);
  if (question.kind === 'text' && answer.event === question.event) return word(question, answer);
  if (question.kind === 'followUps') {
    const closed = closure(question, answer);
    if (closed !== undefined) return closed;
  }
  return chosen(question, answer);
}

function asksFirst({ prompt }: Question): string {
  return `the run waits for another answer first: ${show(prompt)}`;
}

/** The moment in UTC, as the machine and the service expect it. */
function moment(question: Question & { kind: 'time' }, { time = '' }: Answer): Decision {
  const at = ZONED.test(time) ? msOf(time) : Number.NaN;
  if (Number.isNaN(at)) throw misfit('this question takes a date and time with a zone');
  if (at < msOf(question.earliest) || at > msOf(question.latest)) {
    throw new LifeboatError('time.out-of-range', `the time is outside the range that can be reached`, {
      hints: [`the earliest is ${question.earliest}, the latest ${question.latest}`, 'nothing was sent'],
    });
  }
  const chosenTime = isoOf(at);
  return { event: { type: question.event, time: chosenTime }, label: `chose ${chosenTime}`, text: undefined };
}

const ZONED = /T.*(?:Z|[+-]\d\d:?\d\d)$/iu;

function word(question: Question & { kind: 'text' }, answer: Answer): Decision {
  const text = answer.text?.trim() ?? '';
  const { pattern } = question;
  if (text === '') throw misfit('nothing was entered');
  if (pattern !== undefined && !new RegExp(`^(?:${pattern.source})$`).test(text)) throw misfit(pattern.says);
  return { event: { type: question.event, text }, label: `entered ${text}`, text: undefined };
}

/** The decision about one follow-up; undefined if the answer concerns all of them. */
function closure(question: Question & { kind: 'followUps' }, answer: Answer): Decision | undefined {
  const { close, skip, doNow } = question;
  if (![close, skip, doNow].includes(answer.event as never)) return undefined;
  const followUp = question.followUps.find(({ id, closed }) => id === answer.id && closed === undefined);
  if (followUp === undefined) throw misfit(`no follow-up has the id ${answer.id ?? '(none given)'}`);
  if (answer.event === doNow) {
    if (followUp.doable === undefined) throw misfit(`"${followUp.what}" can only be done by hand`);
    if (followUp.doable === 'again') return againOf(followUp, answer);
    return {
      event: { type: doNow, id: followUp.id },
      label: `do it: ${followUp.what}`,
      text: undefined,
    };
  }
  const text = answer.text?.trim();
  if (!text) throw misfit(`"${followUp.what}" needs a ${answer.event === skip ? 'reason' : 'proof'}`);
  if (answer.event === skip) assertReason(text);
  const word = answer.event === skip ? 'skipped' : 'done by hand';
  return {
    event: { type: answer.event, id: followUp.id, text },
    label: `${word}: ${followUp.what}`,
    text,
  };
}

/** Running a command that was begun before needs an explicit `again`. */
function againOf({ id, what }: FollowUp, { again = false }: Answer): Decision {
  if (again)
    return { event: { type: 'operator.runAgain', id }, label: `run again: ${what}`, text: undefined };
  throw new LifeboatError('answer.begun-before', `the command for "${show(what)}" was begun before`, {
    hints: [
      'look at what it has done, and whether it still runs; nothing was run now',
      `to run it again: lifeboat followups run ${shellQuoted(show(id))} --again`,
    ],
  });
}

function chosen(question: Pick<Question, 'options'>, answer: Answer): Decision {
  const option = question.options.find(
    ({ event }) => optionKey(event) === answer.event || event.type === answer.event,
  );
  if (option === undefined) throw misfit(`${answer.event} is not an answer to this question`);
  if (option.disabled !== undefined) throw misfit(`"${option.label}" cannot be chosen: ${option.disabled}`);
  const text = answer.text?.trim();
  if (option.needs !== undefined && !text) throw misfit(`"${option.label}" needs a ${option.needs.what}`);
  const event = option.needs === undefined ? option.event : { ...option.event, text };
  // The machine needs no reason to stop a run; the record does.
  const isStop = option.event.type === STOP_EVENT;
  const isReason = option.needs?.what === 'reason' || isStop;
  if (isReason && text) assertReason(text);
  return {
    event: event as MachineEvent,
    label: option.label,
    text: option.needs !== undefined || (isStop && text) ? text : undefined,
  };
}

function assertReason(text: string): void {
  if (isNoReason(text)) throw misfit(noReasonWords(text));
}

/** Keys pass through shells and `openssl -pass` at the service: one line of printable ASCII is safe. */
function checkKey(
  key: Secret,
  { isNew, minLength }: { readonly isNew: boolean; readonly minLength: number },
): void {
  if (key.length < minLength) {
    throw new LifeboatError(
      'key.too-short',
      `the key has ${key.length} characters, the service requires at least ${minLength}`,
      {
        hints: ['nothing was stored'],
      },
    );
  }
  // A key of old backups is taken as it is.
  if (!isNew) return;
  if (key.length > OPENSSL_KEY_BYTES) {
    throw new LifeboatError(
      'key.too-long',
      `the key has ${key.length} characters, and openssl reads only the first ${OPENSSL_KEY_BYTES}`,
      { hints: ['nothing was stored', 'a generated key has 43 characters and is as strong as a key can be'] },
    );
  }
  if (!/^[\x21-\x7e]+$/.test(key.reveal())) {
    throw new LifeboatError(
      'key.characters',
      'the key has a space, a line break or a character outside of ASCII',
      {
        hints: ['use letters, digits and punctuation only: the service passes the key through a shell'],
      },
    );
  }
}

function misfit(shortMessage: string): LifeboatError {
  return new LifeboatError('answer.misfit', shortMessage, { hints: ['the run is unchanged'] });
}
