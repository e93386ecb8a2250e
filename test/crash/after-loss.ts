import type { Ended } from '../bench-kit/product.ts';
import { befall } from './accident.ts';
import { type After, type Chances, goOn } from './after.ts';
import type { Point } from './points.ts';
import type { Stage } from './stage.ts';
import { startOn } from './start.ts';
import type { Outcome } from './verdict.ts';

/** How it went on after an accident. */
export interface AfterLoss extends After {
  /**
   * Whether the loss was found, so that a person had to accept it. The record of the run is not whole then.
   */
  readonly isAccepted: boolean;
  readonly problems: readonly string[];
}

/** No process is killed any more: it shows what the product makes of a store that has changed. */
const CALM = { draw: () => 1 };

/**
 * Lets the accident happen, goes on, and when the product says what is lost, accepts it as a person would and
 * goes on again.
 */
export async function goOnAfterLoss(
  stage: Stage,
  accident: NonNullable<Point['accident']>,
  chances: Chances,
  wanted: Outcome,
): Promise<AfterLoss> {
  await befall(accident, stage.bench, stage.database);
  const words = stage.scene.errand === undefined ? ['resume'] : stage.words;
  const first = await ended(stage, words);
  if (!isRefused(first)) {
    // Nothing was lost that anybody vouched for: it goes on as after any other kill.
    const rest = await goOn(stage, undefined, { ...chances, ...CALM }, wanted);
    return { ...rest, isAccepted: false, problems: [] };
  }
  const reading = await Promise.all(READING.map((command) => stage.bench.run(...command)));
  const closed = reading.flatMap(({ code, stderr }, at) =>
    code === 0 || NO_STORE.test(stderr)
      ? []
      : [`after the loss, ${READING[at]?.join(' ')} ends with ${code}: ${stderr}`],
  );
  const accept = ['audit', 'accept-loss', '--reason', 'the disk was lost'];
  const asked = await stage.bench.run(...accept);
  const [, word = ''] = /add --confirm (\S+)/u.exec(asked.stderr) ?? [];
  const accepted = await stage.bench.run(...accept, '--confirm', word);
  const again = await ended(stage, words);
  return {
    end: again,
    resumes: 2,
    kills: 0,
    asked: 1,
    isAccepted: true,
    problems: [
      ...closed,
      ...(asked.code === 3 ? [] : [`accept-loss without a word ends with ${asked.code}: ${asked.stderr}`]),
      ...(accepted.code === 0 ? [] : [`accept-loss ends with ${accepted.code}: ${accepted.stderr}`]),
      ...(isRefused(again) ? [`the loss is accepted, and it is refused again: ${again.stderr}`] : []),
    ],
  };
}

/** There is no store that anything could be read from: its file is gone, or SQLite cannot read it. */
const NO_STORE = /is empty or gone|lifeboat\.db cannot be read: /u;

/** What goes on whatever is lost, as long as there is a store. */
const READING = [['runs'], ['keys', 'list'], ['store', 'status']] as const;

function ended(stage: Stage, words: readonly string[]): Promise<Ended> {
  for (const wire of stage.wires) wire.arm();
  return startOn(stage, 'headless', words).ended;
}

function isRefused({ code, stderr }: Ended): boolean {
  return code === 5 && stderr.includes('accept-loss');
}
