import type { Ended } from '../bench-kit/product.ts';
import type { Errand } from './errands.ts';
import { look } from './look.ts';
import { isLeftToAnother } from './person.ts';
import type { Point } from './points.ts';
import type { Stage } from './stage.ts';
import { startToStrike } from './strike.ts';
import type { Outcome } from './verdict.ts';

/** How it went on after a blow. */
export interface After {
  /** Of the last process. */
  readonly end: Ended;
  readonly resumes: number;
  readonly kills: number;
  readonly asked: number;
}

export interface Chances {
  /** A number in [0, 1) each time: whether, and when, a process that resumes is killed too. */
  readonly draw: () => number;
  readonly spanMs: number;
}

const MAX_RESUMES = 12;
/**
 * From then on nothing is killed by chance, so that a run of bad luck is not taken for one that never ends.
 */
const CALM_FROM = 7;
const MAX_QUESTIONS = 6;
const MAX_WAITS = 20;

/**
 * Does what an operator would until it is over. The first process that goes on is struck by `second`, or like
 * all others by chance.
 */
export function goOn(
  stage: Stage,
  second: Point['blow'] | undefined,
  chances: Chances,
  wanted: Outcome,
): Promise<After> {
  return stage.scene.errand === undefined
    ? resume(stage, second, chances, wanted)
    : repeat(stage, stage.scene.errand, chances, wanted);
}

/** Resumes, or begins when there is nothing to resume, and decides what no flag does. */
async function resume(
  stage: Stage,
  second: Point['blow'] | undefined,
  chances: Chances,
  wanted: Outcome,
): Promise<After> {
  if (stage.scene.approval === 'given') stage.approver?.keepSigning();
  let words: readonly string[] = ['resume'];
  let [kills, asked, waits] = [0, 0, 0];
  let dress: 'headless' | 'lines' = 'headless';
  for (let resumes = 1; ; resumes += 1) {
    const chance = second === undefined && resumes < CALM_FROM ? chanceOf(chances) : undefined;
    const chosen = resumes === 1 ? (second ?? chance) : chance;
    const blow = asked > 0 ? undefined : chosen;
    const struck = startToStrike(stage, dress, words, blow);
    await struck.done;
    const end = await struck.started.ended;
    if (end.code === null) kills += 1;
    // On a team's database the one who was killed has the run until its lease ends.
    if (isHeld(end) && waits < MAX_WAITS) {
      waits += 1;
      resumes -= 1;
      continue;
    }
    const isNothingOpen = saysNothingOpen(end);
    const { isBegun, isClosed } = isNothingOpen ? await look(stage) : { isBegun: true, isClosed: false };
    // Killed after its last entry: there is nothing left to do. Killed before its first: it begins again.
    if (isNothingOpen && isBegun && isClosed)
      return { end: { ...end, code: wanted.code }, resumes, kills, asked };
    if (resumes >= MAX_RESUMES) return { end, resumes, kills, asked };
    if (isNothingOpen) words = stage.words;
    else if (end.code === null) words = ['resume'];
    else if ((await isWanted(stage, end, wanted)) || asked >= MAX_QUESTIONS || end.code < 0 || end.code === 2)
      return { end, resumes, kills, asked };
    else {
      words = ['resume'];
      asked += 1;
      dress = isLeftToAnother(end) ? 'headless' : 'lines';
    }
  }
}

/** A run that waits with a failure ends with the same code as one that is closed without proof. */
async function isWanted(stage: Stage, { code }: Ended, wanted: Outcome): Promise<boolean> {
  if (code !== wanted.code) return false;
  return code !== 1 || (await look(stage)).isClosed;
}

/** Types the same again, or what its answer asks for. */
async function repeat(stage: Stage, errand: Errand, chances: Chances, wanted: Outcome): Promise<After> {
  let { words } = stage;
  let [kills, asked, waits] = [0, 0, 0];
  for (let resumes = 1; ; resumes += 1) {
    const blow = resumes > 3 ? undefined : chanceOf(chances);
    const struck = startToStrike(stage, 'headless', words, blow);
    await struck.done;
    const end = await struck.started.ended;
    if (isHeld(end) && waits < MAX_WAITS) {
      waits += 1;
      resumes -= 1;
      continue;
    }
    const soFar = { resumes, kills, asked };
    if (end.code === wanted.code || resumes >= MAX_RESUMES) return { end, ...soFar };
    // The process that resumed the run was killed after its last entry.
    if (words[0] === 'resume' && saysNothingOpen(end))
      return { end: { ...end, code: wanted.code }, ...soFar };
    if (end.code === null) kills += 1;
    else {
      const next = errand.next(end, words);
      if (next === 'done') return { end: { ...end, code: wanted.code }, ...soFar };
      if (next === undefined) return { end, ...soFar };
      words = next;
      asked += 1;
    }
  }
}

function saysNothingOpen({ code, stderr }: Ended): boolean {
  return code === 2 && /there is no open run|there are no runs/u.test(stderr);
}

function isHeld({ code, stderr }: Ended): boolean {
  return code === 3 && stderr.includes(' is held by ');
}

function chanceOf({ draw, spanMs }: Chances): Point['blow'] | undefined {
  return draw() < 0.25 ? { how: 'kill', ms: Math.round(draw() * spanMs) } : undefined;
}
