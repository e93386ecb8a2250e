import { type Answer, optionKey, type Question } from '../../machines/parts/question.ts';
import { statePath } from '../../machines/parts/states.ts';
import { stillOpen } from '../../machines/parts/unfinished.ts';
import { questionOf } from '../../src/runner/answer.ts';
import type { Run, RunEnd } from '../../src/runner/run.ts';
import type { Peers } from './peers.ts';

/** How a person left a run: at its end, or at a question that the person has no answer to. */
export interface PersonEnd {
  readonly how: RunEnd['how'] | 'stuck';
  readonly exitCode: number;
  readonly at: string;
}

const MAX_ANSWERS = 60;
/** What a service shows for good, such as an instance that has failed, is then gone on without. */
const MAX_TRIES = 5;

/**
 * A patient person, once everything is well again: tries again what has failed, looks again at what is in
 * doubt, and if that shows nothing, asks the service's operator what became of it. Never sends again what was
 * done.
 */
export async function byPerson(run: Run, peers: Peers): Promise<PersonEnd> {
  const looked = new Map<string, number>();
  for (let answers = 0; answers < MAX_ANSWERS; answers += 1) {
    const end = await Promise.race([run.ended, untilAsked(run)]);
    const { snapshot } = run.state();
    if (end !== undefined) return { how: end.how, exitCode: end.exitCode, at: titleOf(run) };
    const question = questionOf(snapshot);
    if (question === undefined) continue;
    const answer = answerTo(question, run, peers, looked);
    if (answer === undefined) break;
    await run.answer(answer);
  }
  const at = titleOf(run);
  await run.detach();
  return { how: 'stuck', exitCode: -1, at };
}

/** Resolves at a question. */
function untilAsked(run: Run): Promise<undefined> {
  return new Promise((resolve) => {
    const look = () => {
      if (questionOf(run.state().snapshot) === undefined) return;
      unsubscribe();
      resolve(undefined);
    };
    const unsubscribe = run.subscribe(look);
    look();
  });
}

function answerTo(
  question: Question,
  run: Run,
  peers: Peers,
  looked: Map<string, number>,
): Answer | undefined {
  if (question.kind === 'followUps') {
    const followUp = stillOpen(question.followUps)[0];
    if (followUp !== undefined)
      return { event: question.close, id: followUp.id, text: 'seen with my own eyes' };
  }
  const open = question.options.filter(({ disabled }) => disabled === undefined);
  const option = (...types: string[]) =>
    types.flatMap((type) => open.filter(({ event }) => event.type === `operator.${type}`))[0];
  const { snapshot } = run.state();
  const isDoubt = snapshot.hasTag('in-doubt' as never);
  const times = (looked.get(question.prompt) ?? 0) + 1;
  looked.set(question.prompt, times);
  const first = times === 1;
  const chosen = isDoubt
    ? ((first ? option('lookAgain') : undefined) ??
      (wasDone(run, peers)
        ? option('adopt', 'hasBegun', 'goOn', 'lookAgain')
        : option('sendAgain', 'setAgain')))
    : times > MAX_TRIES
      ? (option('skip') ?? (wasDone(run, peers) ? option('markDone') : undefined) ?? option('backUp'))
      : option('retry', 'lookAgain');
  if (chosen !== undefined) return answerBy(chosen);
  if (question.kind === 'time' && question.suggested !== undefined)
    return { event: question.event, time: question.suggested };
  if (question.kind === 'typed-name') return { event: question.event, typed: question.expected };
  const recommended =
    open.find((one) => one.recommended) ?? option('goOn', 'goOnWithout', 'setAgain', 'skip');
  return recommended === undefined ? undefined : answerBy(recommended);
}

function answerBy({ event, needs }: Question['options'][number]): Answer {
  return { event: optionKey(event), ...(needs === undefined ? {} : { text: 'a person has looked' }) };
}

/** What the service's operator sees: whether the last change of this verb was carried out. */
function wasDone(run: Run, peers: Peers): boolean {
  const armed = run.state().entries.findLast(({ type }) => type === 'intent.armed');
  const verb = (armed?.body as { readonly verb?: string } | undefined)?.verb;
  const sent = peers.director.seen.filter(({ method, at }) => method !== 'GET' && at?.verb === verb);
  return sent.at(-1)?.worked === true;
}

function titleOf(run: Run): string {
  const [meta] = Object.values(run.state().snapshot.getMeta() as Record<string, { title?: string }>).slice(
    -1,
  );
  return meta?.title ?? statePath(run.state().snapshot);
}
