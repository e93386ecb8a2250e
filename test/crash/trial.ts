import type { Product } from '../e2e/product.ts';
import { entriesOf, ledgerOf, runsIn } from './ledger.ts';
import type { Point } from './points.ts';
import type { Scene } from './scenes.ts';
import { openStage, type Stage } from './stage.ts';
import { startOn } from './start.ts';
import { startToStrike } from './strike.ts';
import { judge, type Outcome, type Verdict } from './verdict.ts';

export interface Trial extends Verdict {
  readonly scene: Scene;
  readonly point: Point;
  /** False when the process was over before the point came. */
  readonly hit: boolean;
  readonly kills: number;
  readonly resumes: number;
  /** How often a person had to decide. */
  readonly asked: number;
  /** What the journal said last when the first blow fell: which moments a sweep has met. */
  readonly where: string;
  readonly ms: number;
}

export interface Chances {
  /** A number in [0, 1) each time: whether, and when, a process that resumes is killed too. */
  readonly draw: () => number;
  readonly spanMs: number;
}

const MOST_RESUMES = 12;
const MOST_QUESTIONS = 6;

/**
 * One walk whose process is struck at `point`, then resumed until it is over; each resume may be killed too. The verdict comes from the
 * ledgers of service and platform, from the journal and from the vault, compared with the walk that nobody disturbed.
 */
export async function runTrial(
  stage: Stage,
  point: Point,
  wanted: Outcome,
  chances: Chances,
): Promise<Trial> {
  const began = performance.now();
  const { scene, args } = stage;
  const first = startToStrike(stage, scene.dress, ['run', ...args], point.blow);
  await first.done;
  const end = await first.started.ended;
  const seen = await look(stage);
  const problems = [...seen.problems, ...first.problems, ...rudeness(point, end.code, seen.isBegun)];
  const isWhole = end.code === wanted.code && seen.isClosed === (wanted.ledger.closed !== 'open');
  const rest = isWhole
    ? { end, resumes: 0, kills: 0, asked: 0 }
    : await resume(stage, point.second, chances, wanted);
  const verdict = await judge(stage, rest.end.code, rest.end.stderr, wanted);
  return {
    scene,
    point,
    hit: first.fell(),
    where: seen.where,
    kills: rest.kills + (end.code === null ? 1 : 0),
    resumes: rest.resumes,
    asked: rest.asked,
    ms: performance.now() - began,
    ...verdict,
    problems: [...problems, ...verdict.problems],
  };
}

/** A walk that nobody disturbs, and what is there after it. */
export async function walkCalmly(
  product: Product,
  scene: Scene,
  under: readonly string[] = [],
): Promise<Outcome & { readonly spanMs: number; readonly stage: Pick<Stage, 'wires'> }> {
  const stage = await openStage(product, scene);
  try {
    for (const wire of stage.wires) wire.arm();
    const began = performance.now();
    const { code, stderr } = await startOn(stage, scene.dress, ['run', ...stage.args], under).ended;
    const spanMs = performance.now() - began;
    const ledger = await ledgerOf(stage).catch((thrown) => {
      throw new Error(`${scene.name} leaves nothing: ${code}: ${stderr}`, { cause: thrown });
    });
    if (code !== 0) throw new Error(`${scene.name} ends with ${code} undisturbed: ${stderr}`);
    return { code, ledger, spanMs, stage: { wires: stage.wires } };
  } finally {
    await stage.close();
  }
}

/** Does what an operator would: resumes, or begins when there is nothing to resume, and decides what no flag does. */
async function resume(stage: Stage, second: Point['blow'] | undefined, chances: Chances, wanted: Outcome) {
  let words: readonly string[] = ['resume'];
  let [kills, asked] = [0, 0];
  for (let resumes = 1; ; resumes += 1) {
    const chosen =
      resumes === 1 ? (second ?? chanceOf(chances)) : second === undefined ? chanceOf(chances) : undefined;
    const blow = asked > 0 ? undefined : chosen;
    const dress = asked > 0 ? 'lines' : 'headless';
    const struck = startToStrike(stage, dress, words, blow);
    await struck.done;
    const end = await struck.started.ended;
    if (end.code === null) kills += 1;
    const isNothingOpen = end.code === 2 && /there is no open run|there are no runs/u.test(end.stderr);
    const { isBegun, isClosed } = isNothingOpen ? await look(stage) : { isBegun: true, isClosed: false };
    // Killed after its last entry: there is nothing left to do. Killed before its first: it is begun anew.
    if (isNothingOpen && isBegun && isClosed)
      return { end: { ...end, code: wanted.code }, resumes, kills, asked };
    if (resumes >= MOST_RESUMES) return { end, resumes, kills, asked };
    if (isNothingOpen) words = ['run', ...stage.args];
    else if (end.code === null) words = ['resume'];
    else if (end.code === wanted.code || asked >= MOST_QUESTIONS || end.code < 0 || end.code === 2)
      return { end, resumes, kills, asked };
    else {
      words = ['resume'];
      asked += 1;
    }
  }
}

function chanceOf({ draw, spanMs }: Chances): Point['blow'] | undefined {
  return draw() < 0.25 ? { how: 'kill', ms: Math.round(draw() * spanMs) } : undefined;
}

/** What `lifeboat runs` and `lifeboat audit` would meet, right after a blow. */
async function look(stage: Stage) {
  try {
    const runs = runsIn(await entriesOf(stage));
    const own = runs[stage.scene.before.length] ?? [];
    const last = own.at(-1);
    const { activity, verb, to } = (last?.body ?? {}) as { activity?: string; verb?: string; to?: string };
    const where = [last?.type ?? 'nothing', activity ?? verb ?? to].filter((word) => word !== undefined);
    const isClosed = own.some(({ type }) => type === 'run.closed');
    return { where: where.join(' '), isBegun: own.length > 0, isClosed, problems: [] };
  } catch (thrown) {
    const problems = [`after the blow nothing can be read: ${String(thrown)}`];
    return { where: 'unreadable', isBegun: false, isClosed: false, problems };
  }
}

/** A process that is asked to leave does so with 130, or ends what it is about; before it has begun a run it may just die. */
function rudeness({ blow }: Point, code: number | null, isBegun: boolean): string[] {
  if (blow.how === 'stop' || blow.how === 'second')
    return code === null || code === -1 ? [`it did not go on after it was stopped: ${code}`] : [];
  if (blow.how !== 'signal' || code === 130 || code === 0 || !isBegun) return [];
  return [`${blow.signal} ended it with ${code}`];
}
