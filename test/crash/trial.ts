import type { Product } from '../bench-kit/product.ts';
import { type After, type Chances, goOn } from './after.ts';
import { type AfterLoss, goOnAfterLoss } from './after-loss.ts';
import { ledgerOf } from './ledger.ts';
import { look } from './look.ts';
import type { Point } from './points.ts';
import { codeOf, type Scene } from './scenes.ts';
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
  /** Whether a person had to accept that a part of the store is lost. */
  readonly isAccepted: boolean;
  /** What the journal said last when the first blow fell: which moments a sweep has met. */
  readonly where: string;
  readonly ms: number;
}

/**
 * One run whose process is struck at `point`, then resumed until it is over; each resume may be killed too.
 * The verdict comes from the ledgers of service and platform, from the journal and from the vault, compared
 * with the undisturbed run.
 */
export async function runTrial(
  stage: Stage,
  point: Point,
  wanted: Outcome,
  chances: Chances,
): Promise<Trial> {
  const began = performance.now();
  const { scene, words } = stage;
  const first = startToStrike(stage, scene.dress, words, point.blow);
  await first.done;
  const end = await first.started.ended;
  const seen = await look(stage);
  const problems = [...seen.problems, ...first.problems, ...rudeness(point, scene, end.code, seen)];
  const isWhole = end.code === wanted.code && seen.isClosed === (wanted.ledger.closed !== 'open');
  const accident = end.code === null ? point.accident : undefined;
  const rest = {
    ...UNDISTURBED,
    ...(isWhole ? { end } : await afterwards(stage, accident, point, chances, wanted)),
  };
  const judged = await judge(stage, isLate(point), rest.end.code, rest.end.stderr, wanted);
  const verdict = rest.isAccepted ? onlyOnce(judged) : judged;
  return {
    scene,
    point,
    hit: first.fell(),
    where: seen.where,
    kills: rest.kills + (end.code === null ? 1 : 0),
    resumes: rest.resumes,
    asked: rest.asked,
    isAccepted: rest.isAccepted,
    ms: performance.now() - began,
    ...verdict,
    problems: [...problems, ...rest.problems, ...verdict.problems],
  };
}

const UNDISTURBED = { resumes: 0, kills: 0, asked: 0, isAccepted: false, problems: [] as readonly string[] };

function afterwards(
  stage: Stage,
  accident: Point['accident'],
  point: Point,
  chances: Chances,
  wanted: Outcome,
): Promise<After | AfterLoss> {
  if (accident !== undefined) return goOnAfterLoss(stage, accident, chances, wanted);
  return goOn(stage, point.second, chances, wanted);
}

/** What is lost is lost, and was accepted; still, nothing is done twice and no key is gone. */
function onlyOnce(verdict: Verdict): Verdict {
  const kept = verdict.problems.filter((problem) =>
    /^(?:done twice|\d+ keys of the service|\d+ approvals)/u.test(problem),
  );
  return { ...verdict, lostFollowUps: 0, problems: kept };
}

/** An undisturbed run, and what is there after it. */
export async function runCalmly(
  product: Product,
  scene: Scene,
  under: readonly string[] = [],
): Promise<Outcome & { readonly spanMs: number; readonly stage: Pick<Stage, 'wires' | 'bench'> }> {
  const stage = await openStage(product, scene);
  try {
    for (const wire of stage.wires) wire.arm();
    const began = performance.now();
    const { code, stderr } = await startOn(stage, scene.dress, stage.words, under).ended;
    const spanMs = performance.now() - began;
    const ledger = await ledgerOf(stage).catch((thrown) => {
      throw new Error(`${scene.name} leaves nothing: ${code}: ${stderr}`, { cause: thrown });
    });
    if (code !== codeOf(scene)) throw new Error(`${scene.name} ends with ${code} undisturbed: ${stderr}`);
    return { code, ledger, spanMs, stage };
  } finally {
    await stage.close();
  }
}

/**
 * A process that is asked to leave does so with 130, or ends what it is about. Before it has begun a run, and
 * when that is closed, it may just die.
 */
function rudeness(
  { blow }: Point,
  scene: Scene,
  code: number | null,
  { isBegun, isClosed }: { readonly isBegun: boolean; readonly isClosed: boolean },
): string[] {
  if (blow.how === 'stop' || blow.how === 'second')
    return code === null || code === -1 ? [`it did not go on after it was stopped: ${code}`] : [];
  const { signal } = { signal: undefined, ...blow };
  const mayDie = !isBegun || isClosed || scene.errand !== undefined;
  const isWell = code === 130 || code === codeOf(scene) || (code === null && mayDie);
  if (signal === undefined || isWell) return [];
  return [`${signal} ended it with ${code}`];
}

/** Whether a request of the killed process arrives only when the next one is at work. */
function isLate({ blow, second }: Point): boolean {
  return [blow, second].some((one) => one?.how === 'wire' && one.at === 'late');
}
