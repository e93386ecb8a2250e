import { approvalQuestion } from './parts/approval-question.ts';
import { NO_INSTANCE, type ResolvedGroup } from './parts/plan.ts';
import type { PlanEvent } from './parts/plan-events.ts';
import type { Question, QuestionOption } from './parts/question.ts';
import { type RunbookId, replacesData, touchesOf } from './parts/touches.ts';
import type { PlanContext } from './plan.ts';

/** Instances that a question names. */
const MAX_NAMED = 5;

export function askNotReady({ lanes }: PlanContext): Question {
  const found = lanes.flatMap(({ lane, problem }) => (problem === undefined ? [] : [`${lane}: ${problem}`]));
  const more = found.length - MAX_NAMED;
  const named = [...found.slice(0, MAX_NAMED), ...(more > 0 ? [`and ${more} more`] : [])];
  return choice(`${found.length} of ${lanes.length} could not be recovered now: ${named.join('; ')}`, [
    { event: { type: 'operator.evaluateAgain' }, label: 'look again', hint: 'nothing was changed' },
    {
      event: { type: 'operator.leaveOut' },
      label: 'leave them out',
      hint: 'the plan runs without them; they can be taken up later',
      needs: { what: 'reason', prompt: 'why are they left out?' },
    },
    {
      event: { type: 'operator.goOnRegardless' },
      label: 'go on with all of them',
      hint: 'what is wrong shows again where it matters, before anything is sent',
      needs: { what: 'reason', prompt: 'why is that right?' },
    },
    STOP,
  ]);
}

/** The request shows the plan, its hash and its targets. */
export function askApproval(context: PlanContext): Question {
  const { input, approved, source } = context;
  const { plan, approve } = input.plan;
  if (approve === undefined) throw new Error('nobody has to approve this plan');
  return approvalQuestion({
    approve,
    given: approved,
    name: plan,
    order: `start the plan ${plan}`,
    shows: [
      `plan: ${plan}`,
      `plan file: SHA-256 ${input.sha256}`,
      `source: ${source}`,
      ...input.groups.flatMap((group) => linesOf(group, context)),
    ],
    stakes: {
      overwritten: 'nothing by the approval; before data is replaced, each group is confirmed by name',
      lost: 'nothing by the approval',
      wayBack: 'until it is given, the plan waits here',
    },
    options: [STOP],
  });
}

/** Its steps, and every instance with its target. */
function linesOf({ id, steps, lanes }: ResolvedGroup, { groups }: PlanContext): readonly string[] {
  const out = groups[id]?.out ?? {};
  const shown = lanes
    .filter(({ name }) => name !== NO_INSTANCE && !Object.hasOwn(out, name))
    .map(({ name, target }) => (target === undefined ? name : `${name} into ${target}`));
  return [
    ...inLines(steps.map((step) => step.id)).map((line) => `steps of ${id}: ${line}`),
    ...inLines(shown).map((line) => `instances of ${id}: ${line}`),
  ];
}

/** Characters. A request cuts off lines longer than 400. */
const LINE_LENGTH = 300;

/** As few lines as possible, none of which is cut off. */
function inLines(names: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const name of names) {
    const joined = lines.length === 0 ? name : `${lines.at(-1)}, ${name}`;
    if (lines.length === 0 || joined.length > LINE_LENGTH) lines.push(name);
    else lines[lines.length - 1] = joined;
  }
  return lines;
}

/** Names every target of the next group whose data is replaced. */
export function askToConfirm(context: PlanContext): Question {
  const next = unconfirmed(context)[0];
  if (next === undefined) throw new Error('there is no group to confirm');
  const targets = replacedIn(next, context);
  const shown = targets.join(', ');
  return {
    kind: 'typed-name',
    prompt: `type ${next.id} to let this group replace the data of ${targets.length}: ${shown}`,
    order: `recover the group ${next.id} into ${shown}`,
    expected: next.id,
    event: 'operator.confirm',
    stakes: {
      overwritten: `everything that ${shown} ${targets.length === 1 ? 'holds' : 'hold'}`,
      lost: 'what was written after the backup of each instance',
      wayBack: 'none; the sources are not changed',
    },
    options: [STOP],
  };
}

/** Without an answer, the next group to confirm. */
export function confirmsNext(
  context: PlanContext,
  event: PlanEvent | undefined,
): { readonly group: string; readonly isLast: boolean } | undefined {
  const [next, ...more] = unconfirmed(context);
  if (next === undefined) return undefined;
  if (event !== undefined && (event.type !== 'operator.confirm' || event.typed !== next.id)) return undefined;
  return { group: next.id, isLast: more.length === 0 };
}

/** The groups whose names are typed before they begin, because they replace data; without these names. */
export function unconfirmed({
  input,
  confirmed,
  groups,
}: Pick<PlanContext, 'confirmed' | 'groups'> & {
  readonly input: Pick<PlanContext['input'], 'groups'>;
}): readonly ResolvedGroup[] {
  return input.groups.filter(
    (group) => !confirmed.includes(group.id) && replacedIn(group, { groups }).length > 0,
  );
}

function replacedIn(
  { id, steps, lanes }: ResolvedGroup,
  { groups }: Pick<PlanContext, 'groups'>,
): readonly string[] {
  const out = groups[id]?.out ?? {};
  const replaced = lanes.flatMap(({ name, target }) => {
    if (Object.hasOwn(out, name)) return [];
    const touched = steps.flatMap((step) => {
      if (step.kind !== 'runbook') return [];
      const { phase, action } = step.with;
      const touches = touchesOf(step.runbook as RunbookId, { mode: phase, action, target });
      if (!replacesData(touches)) return [];
      return [touches.target === 'replaced' ? (target ?? name) : name];
    });
    return touched.slice(0, 1);
  });
  return [...new Set(replaced)];
}

interface PlanOption {
  readonly event: { readonly type: Extract<PlanEvent, { type: `operator.${string}` }>['type'] };
  readonly label: string;
  readonly hint?: string;
  readonly disabled?: string;
  readonly needs?: QuestionOption['needs'];
}

const STOP: PlanOption = {
  event: { type: 'operator.stop' },
  label: 'stop the plan',
  hint: 'nothing more is started; what is under way ends by itself',
};

function choice(prompt: string, options: readonly PlanOption[]): Question {
  return { kind: 'choice', prompt, options };
}
