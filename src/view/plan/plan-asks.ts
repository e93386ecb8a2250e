import { optionKey, type Question, type QuestionOption } from '../../../machines/parts/question.ts';
import { counted } from '../../base/format.ts';
import type { ShownChild } from '../../plans/conductor-port.ts';
import { pauseOrResume, stopping } from './plan-decisions.ts';
import type { AskingLane, AskOption, AskView, GroupView, LaneView } from './plan-view.ts';

/**
 * Each distinct question once: the plan's own, then failures, held groups, and the other questions, the most
 * asked first. Two lanes ask the same if the same step asks them in the same words, apart from their names,
 * with the same answers. Pure.
 */
export function asksOf(
  own: Question | undefined,
  groups: readonly GroupView[],
  children: readonly ShownChild[],
): readonly AskView[] {
  // Of many instances, most do not ask.
  const lanes = new Map<string, LaneView>();
  for (const group of groups) for (const lane of group.lanes) if (isAsking(lane)) lanes.set(lane.key, lane);
  const found = new Map<string, { ask: AskView; names: Names; lanes: AskingLane[] }>();
  const places = new Map([...lanes.keys()].map((key, at) => [key, at]));
  const placeOf = (key: string) => places.get(key) ?? 0;
  for (const child of lanes.size === 0 ? [] : children) {
    const lane = lanes.get(`${child.group}/${child.lane}`);
    if (lane === undefined || lane.runId !== child.runId) continue;
    const names = namesOf(lane);
    const ask = knownAsk(child, names);
    const asking = {
      key: lane.key,
      shown: lane.shown,
      runId: child.runId,
      prompt: child.problem ?? child.question?.prompt ?? LEFT,
    };
    const same = found.get(ask.key);
    if (same === undefined) found.set(ask.key, { ask, names, lanes: [asking] });
    else same.lanes.push(asking);
  }
  const asked = [...found.values()]
    .map(({ ask, names, lanes: all }) => {
      const inOrder = all.toSorted((one, other) => placeOf(one.key) - placeOf(other.key));
      return askedBy(ask, names, inOrder);
    })
    .toSorted((one, other) => other.lanes.length - one.lanes.length);
  return [
    ...(own === undefined ? [] : [ownAsk(own)]),
    ...asked.filter(({ tone }) => tone === 'bad'),
    ...groups.flatMap((group) => (group.state === 'held' ? [heldAsk(group)] : [])),
    ...asked.filter(({ tone }) => tone !== 'bad'),
  ];
}

/** For a run that asks nothing and has no driver. */
const LEFT = 'it was left, and waits to be taken up';

function isAsking({ is }: LaneView): boolean {
  return is === 'waiting' || is === 'failing';
}

/** One lane asks in its own words; several ask in words without their names. */
function askedBy(ask: AskView, names: Names, lanes: readonly AskingLane[]): AskView {
  const [first] = lanes;
  if (lanes.length === 1) return { ...ask, lanes, prompt: first?.prompt ?? ask.prompt };
  const isSame = lanes.every(({ prompt }) => prompt === first?.prompt);
  const options = ask.options.map((option) => ({
    ...option,
    label: nameless(option.label, names),
    hint: option.hint === undefined ? undefined : nameless(option.hint, names),
    needs: option.needs && { ...option.needs, prompt: nameless(option.needs.prompt, names) },
  }));
  return { ...ask, lanes, options, prompt: isSame ? (first?.prompt ?? ask.prompt) : ask.prompt };
}

function ownAsk(question: Question): AskView {
  return {
    key: `plan ${shapeOf(question, [])}`,
    of: { is: 'plan' },
    tone: 'warn',
    prompt: question.prompt,
    facts: factsOf(question),
    options: optionsOf(question),
    lanes: [],
  };
}

function heldAsk(group: GroupView): AskView {
  const option = (key: string, hint: string, decision: AskOption['act'] & { readonly do: 'decide' }) => ({
    key,
    label: decision.decision.order,
    hint,
    isRecommended: false,
    disabled: undefined,
    needs: decision.decision.needs,
    act: decision,
  });
  const { id, held } = group;
  return {
    key: `group ${id} ${held?.why ?? ''} ${(held?.lanes ?? []).join(',')} ${group.wave.at}`,
    of: { is: 'group', group: id },
    tone: 'warn',
    prompt: `${id}: ${group.words}`,
    facts: held?.lanes.length ? [`failed: ${held.lanes.join(', ')}`] : [],
    options: [
      option('resume', resumeHint(group), { do: 'decide', decision: pauseOrResume(group).decision }),
      option('stop', 'nothing new starts in it; what is under way ends by itself', {
        do: 'decide',
        decision: stopping(group).decision,
      }),
    ],
    lanes: [],
  };
}

function resumeHint({ held }: GroupView): string {
  if (held?.why === 'promotion') return 'the next wave begins';
  if (held?.why === 'person') return 'it goes on where it is';
  return `${counted(held?.lanes.length ?? 0, 'failed instance')} no longer ${held?.lanes.length === 1 ? 'holds' : 'hold'} it`;
}

function namesOf({ name, target }: LaneView): Names {
  return [...(target === undefined ? [] : [[target, 'TARGET'] as const]), [name, 'NAME'] as const];
}

/** A screen asks this many times a second, and most children ask the same as before. */
const known = new WeakMap<ShownChild, AskView>();

function knownAsk(child: ShownChild, names: Names): AskView {
  const before = known.get(child);
  if (before !== undefined) return before;
  const ask = askOf(child, names);
  known.set(child, ask);
  return ask;
}

function askOf(child: ShownChild, names: Names): AskView {
  const { group, step, question, problem, runId } = child;
  const of = { is: 'lanes', group, step } as const;
  const tone = child.state === 'failing' ? ('bad' as const) : ('warn' as const);
  if (problem !== undefined || question === undefined) {
    const prompt = nameless(problem ?? LEFT, names);
    const key = JSON.stringify([group, step, 'problem', child.isPaused, prompt]);
    const facts = child.isPaused ? [] : ['tried again every few seconds; o takes an instance out'];
    return { key, of, tone, prompt, facts, options: child.isPaused ? [WAKE] : [], lanes: [] };
  }
  // A typed name or a chosen key is for one target only.
  const isAlone = question.kind === 'typed-name' || question.kind === 'secret';
  const key = JSON.stringify([group, step, isAlone ? runId : '', shapeOf(question, names)]);
  return {
    key,
    of,
    tone,
    prompt: isAlone ? question.prompt : nameless(question.prompt, names),
    facts: [...(child.isLeft ? [PASSED] : []), ...factsOf(question)],
    options: optionsOf(question),
    lanes: [],
  };
}

/** For a run that has to end although its step was passed. */
const PASSED = 'the step was passed, and its run offers no end: the instance goes on when it is answered';

const WAKE: AskOption = {
  key: 'wake',
  label: 'try again',
  hint: 'with the credentials as they are now',
  isRecommended: false,
  disabled: undefined,
  needs: undefined,
  act: { do: 'wake' },
};

type Names = readonly (readonly [name: string, instead: string])[];

/** Equal for lanes that ask the same: their names are replaced. */
function shapeOf(question: Question, names: Names): string {
  const options = optionsOf(question).map(({ key, label, disabled, needs }) => [
    key,
    nameless(label, names),
    disabled !== undefined,
    needs?.what,
  ]);
  return JSON.stringify([question.kind, nameless(question.prompt, names), options]);
}

/** Replaces names that are whole words. */
function nameless(text: string, names: Names): string {
  return names.reduce((left, [name, instead]) => withoutWord(left, name, instead), text);
}

/** Part of a name is another name: `orders` is not in `orders-dr`. */
function withoutWord(text: string, word: string, instead: string): string {
  let left = '';
  let from = 0;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (at < from || isInName(text[at - 1]) || isInName(text[at + word.length])) continue;
    left += text.slice(from, at) + instead;
    from = at + word.length;
  }
  return from === 0 ? text : left + text.slice(from);
}

function isInName(sign: string | undefined): boolean {
  return sign !== undefined && /[\w-]/u.test(sign);
}

function factsOf(question: Question): readonly string[] {
  if (question.kind !== 'typed-name') return [];
  const { overwritten, lost, wayBack } = question.stakes;
  return [`overwritten: ${overwritten}`, `lost: ${lost}`, `way back: ${wayBack}`];
}

/** Includes answers that are typed. */
function optionsOf(question: Question): readonly AskOption[] {
  return [...typedOptions(question), ...question.options.map(choiceOf)];
}

function choiceOf(option: QuestionOption): AskOption {
  const { event, label, hint, recommended, disabled, needs } = option;
  return {
    key: optionKey(event),
    label,
    hint,
    isRecommended: recommended === true,
    disabled,
    needs,
    act: { do: 'answer', event: optionKey(event), id: undefined },
  };
}

function typedOptions(question: Question): readonly AskOption[] {
  const base = { hint: undefined, isRecommended: false, disabled: undefined } as const;
  const answer = (event: string, id?: string) => ({ do: 'answer', event, id }) as const;
  switch (question.kind) {
    case 'choice':
      return [];
    case 'typed-name': {
      const { event, order, expected } = question;
      const needs = { what: 'name', prompt: `type ${expected}`, expected } as const;
      return [{ ...base, key: event, label: order, needs, act: answer(event) }];
    }
    case 'secret': {
      const { event, twice, minLength, prompt } = question;
      const needs = { what: 'secret', prompt, twice, least: minLength } as const;
      return [{ ...base, key: event, label: 'enter the key', needs, act: answer(event) }];
    }
    case 'time': {
      const { event, earliest, latest } = question;
      const prompt = `a time from ${earliest} to ${latest}`;
      const needs = { what: 'time', prompt, earliest, latest } as const;
      return [{ ...base, key: event, label: 'type the time', needs, act: answer(event) }];
    }
    case 'text': {
      const { event, pattern, prompt } = question;
      const needs = { what: 'text', prompt, pattern } as const;
      return [{ ...base, key: event, label: 'type it', needs, act: answer(event) }];
    }
    case 'followUps':
      return question.followUps
        .filter(({ closed }) => closed === undefined)
        .flatMap(({ id, what }): readonly AskOption[] => [
          {
            ...base,
            key: `${question.close}:${id}`,
            label: `done: ${what}`,
            needs: { what: 'evidence', prompt: 'what shows that it was done?' },
            act: answer(question.close, id),
          },
          {
            ...base,
            key: `${question.skip}:${id}`,
            label: `skip: ${what}`,
            needs: { what: 'reason', prompt: 'why is it left undone?' },
            act: answer(question.skip, id),
          },
        ]);
  }
}
