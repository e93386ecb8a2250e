import { counted } from '../base/format.ts';
import { type Entry, fieldsOf } from './journal.ts';
import type { PlanChild } from './run-entries.ts';

/** An event of a plan's run, without a full stop. */
export interface PlanWords {
  readonly text: string;
  readonly tone: 'plain' | 'dim' | 'good' | 'warn' | 'bad';
}

type Fields = Readonly<Record<string, unknown>>;

/** Undefined for any other event. The plan's state says less: one title while its groups run. Pure. */
export function planEventWords(type: string, event: Fields): PlanWords | undefined {
  return Object.hasOwn(WORDS, type) ? WORDS[type]?.(event) : undefined;
}

/** A person's decision about a plan that another process drives; undefined for any other entry. Pure. */
export function planWishWords({ type, body }: Pick<Entry, 'type' | 'body'>): PlanWords | undefined {
  const { label, wish, why } = fieldsOf(body);
  if (type === 'plan.wish') return plain(`asks the process that drives the plan: ${text(label)}`);
  if (type === 'wish.refused') return warn(`wish ${text(wish)} was refused: ${text(why)}`);
  return undefined;
}

export function childWords({ run, group, lane, step, attempt }: PlanChild): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  return `step ${lane === '-' ? `${group}/${step}` : `${group}/${lane}/${step}`} of the plan's run ${run}${again}`;
}

function evaluated({ lanes, from }: Fields): PlanWords {
  const all = Array.isArray(lanes) ? lanes.map(fieldsOf) : [];
  const found = all.filter(({ problem }) => problem !== undefined);
  const [first] = found;
  const more = typeof from === 'number' && from > 0 ? 'more ' : '';
  const looked = `looked at ${more}${counted(all.length, 'instance')}`;
  if (first === undefined) return plain(`${looked}: no problem was found`);
  return warn(`${looked}: ${found.length} could not be recovered, first ${text(first['problem'])}`);
}

const WORDS: Readonly<Record<string, (event: Fields) => PlanWords>> = {
  'plan.looked': evaluated,
  'plan.evaluated': evaluated,
  'plan.approved': ({ by }) =>
    plain(`the start was approved by ${Array.isArray(by) ? by.map(text).join(', ') : text(by)}`),
  'plan.expired': () => warn('the approval of the start expired'),
  'plan.recorded': () => dim('recorded what came of each group'),
  'group.begun': ({ group }) => plain(`group ${text(group)}: begins`),
  'wave.begun': ({ group, wave }) => plain(`group ${text(group)}: wave ${text(wave)} begins`),
  'group.held': ({ group, why, lanes }) => {
    const names = Array.isArray(lanes) ? lanes.map(text).join(', ') : '';
    if (why === 'promotion')
      return warn(`group ${text(group)}: waits until a person lets the next wave begin`);
    const rule = why === 'stop-rule' ? 'its stop rule holds it' : 'it waits for a person';
    return warn(`group ${text(group)}: ${rule}: ${names} failed`);
  },
  'group.stopping': ({ group }) => warn(`group ${text(group)}: stops when what is under way has ended`),
  'group.ended': ({ group, how }) => {
    if (how === 'done') return good(`group ${text(group)}: done`);
    return warn(`group ${text(group)}: ${how === 'not-run' ? 'not run' : text(how)}`);
  },
  'operator.pauseGroup': ({ group, text: why }) => warn(`group ${text(group)}: paused${because(why)}`),
  'operator.resumeGroup': ({ group }) => plain(`group ${text(group)}: goes on`),
  'operator.stopGroup': ({ group, text: why }) => warn(`group ${text(group)}: stopped${because(why)}`),
  'operator.takeOut': (event) => warn(`${place(event)}: taken out${because(event['text'])}`),
  'operator.takeUp': (event) => plain(`${place(event)}: taken up again`),
  'operator.tryAgain': (event) => plain(`${place(event)}: tried again`),
  'operator.skipStep': (event) => warn(`${place(event)}: skipped${because(event['text'])}`),
  'operator.doneOutside': (event) => warn(`${place(event)}: done outside${because(event['text'])}`),
  'operator.evaluateAgain': () => plain('the instances are looked at again'),
  'operator.leaveOut': ({ text: why }) =>
    warn(`the instances that could not be recovered are left out${because(why)}`),
  'operator.goOnRegardless': ({ text: why }) =>
    warn(`it goes on with the instances that could not be recovered${because(why)}`),
  'operator.setSource': ({ source }) =>
    plain(`the source counts as ${source === 'up' ? 'reachable' : 'lost'}`),
};

/** `data/orders/recover`, as far as known. */
function place({ group, lane, step }: Fields): string {
  return [group, lane, step]
    .filter((one) => one !== undefined)
    .map(text)
    .join('/');
}

function because(why: unknown): string {
  return typeof why === 'string' && why !== '' ? `, because: ${why}` : '';
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'unknown';
}

const plain = (words: string): PlanWords => ({ text: words, tone: 'plain' });
const dim = (words: string): PlanWords => ({ text: words, tone: 'dim' });
const good = (words: string): PlanWords => ({ text: words, tone: 'good' });
const warn = (words: string): PlanWords => ({ text: words, tone: 'warn' });
