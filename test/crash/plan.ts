import type { Product } from '../bench-kit/product.ts';
import { randomFrom } from '../random.ts';
import { ACCIDENTS } from './accident.ts';
import { seedOf, spread } from './draw.ts';
import { instantsOf, type Kind, type Point, pairsOf, withAccident } from './points.ts';
import { type Dress, SCENES, type Scene, type Store } from './scenes.ts';
import { pointsAfter, type Survey, surveyOf } from './survey.ts';
import { eachOf, type Task } from './sweep.ts';

/** What of the suite is run. */
export interface Wish {
  /** How many points in all that follow from the program alone; Infinity is every one. */
  readonly points: number;
  /** Drawn moments of a kill for each flow; of a signal, a stop, a second process fewer. */
  readonly instants: number;
  /** The maximum of drawn moments of all kinds, in all. */
  readonly drawn?: number | undefined;
  readonly seed: number;
  /** Parts of flows' names, with commas between them. */
  readonly flow?: string | undefined;
  readonly kind?: Kind | undefined;
  /** Part of what is there: `dropped POST`, `lifeboat.db-wal`. */
  readonly what?: string | undefined;
  readonly pairs: boolean;
  readonly dress: Dress | 'both';
  /** Each flow in one revision only, in turn. */
  readonly alternating: boolean;
  /** The maximum of trials of all that the rest asks for, evenly spread. */
  readonly most?: number | undefined;
  /** After this many kills, an accident befalls the store. */
  readonly accidents: number;
  readonly store: Store | 'both';
  /** The name of the one point that is tried. */
  readonly only?: string | undefined;
}

/** A fifth of what is killed is killed on a screen. */
const SCREEN_SHARE = 0.2;
const MIN_OF_A_KIND = 4;
/** Where every pair is tried when no flow is named. */
const PAIRED = ['rotate-key/62/headless', 'restore-backup/62/headless'];

/** Runs the scenes that are wished for, and gives the trials that follow from it, in a fixed order. */
export async function planOf(
  product: Product,
  wish: Wish,
  tell: (line: string) => void = () => undefined,
): Promise<Task[]> {
  const surveys = await eachOf(scenesOf(wish), async (scene) => {
    const survey = await surveyOf(product, scene);
    tell(`${scene.name}: ${survey.points.length} points`);
    return survey;
  });
  const everything = surveys.flatMap((survey) => {
    const scenes = surveys.filter(({ scene }) => flowOf(scene) === flowOf(survey.scene)).length;
    return tasksOf(survey, wish, scenes);
  });
  if (wish.only !== undefined && !wish.only.includes('/pair#')) {
    const variants = everything.flatMap((task) => [
      task,
      ...ACCIDENTS[task.scene.store].map((_, turn) => struck(task, turn)),
    ]);
    return variants.filter(({ point }) => point.name === wish.only).slice(0, 1);
  }
  const pairs = wish.pairs || wish.only !== undefined ? await pairsIn(product, surveys, wish) : [];
  if (wish.only !== undefined) return pairs.filter(({ point }) => point.name === wish.only);
  const draw = randomFrom(seedOf(wish.seed, 'which points'));
  const moments = everything.filter(({ point }) => isDrawn(point));
  const drawn = spread(moments, wish.drawn ?? moments.length, draw);
  const fixed = everything.filter(({ point }) => !isDrawn(point));
  const onScreen = wish.dress === 'screen' ? 1 : wish.dress === 'headless' ? 0 : SCREEN_SHARE;
  const share = (dress: Dress, part: number) => {
    const those = fixed.filter(({ scene }) => scene.dress === dress);
    const all = part === SCREEN_SHARE ? those.length : Number.POSITIVE_INFINITY;
    return spreadOverKinds(those, Math.round(Math.min(wish.points, all) * part), draw);
  };
  const chosen = [...share('headless', 1 - onScreen), ...share('screen', onScreen), ...drawn, ...pairs];
  const kept = spread(chosen, wish.most ?? chosen.length, draw);
  return kept.map((task, at) => (draw() < wish.accidents ? struck(task, at) : task));
}

/**
 * Evenly spread over the points of each kind, and never fewer than a few of a kind: of some there is one in
 * each flow.
 */
function spreadOverKinds(tasks: readonly Task[], count: number, draw: () => number): Task[] {
  if (count >= tasks.length) return [...tasks];
  const kinds = [...Map.groupBy(tasks, ({ point }) => point.kind).values()];
  const least = Math.min(MIN_OF_A_KIND, Math.floor(count / Math.max(1, kinds.length)));
  const rest = (count - least * kinds.length) / tasks.length;
  return kinds.flatMap((some) => spread(some, least + Math.round(some.length * rest), draw));
}

/** The same trial, with an accident after its kill. */
function struck(task: Task, turn: number): Task {
  const { store, errand } = task.scene;
  // What an export leaves is a bundle, and no store.
  if (errand?.name === 'audit-export') return task;
  return { ...task, point: withAccident(task.point, ACCIDENTS[store], turn) };
}

/** Only headless ones: what a screen adds, it adds between the points. */
function scenesOf({ flow, only, pairs, alternating, seed, points, store }: Wish): readonly Scene[] {
  const headless = SCENES.filter(
    (scene) => scene.dress === 'headless' && (store === 'both' || scene.store === store),
  );
  const name = only?.split('/').slice(0, 2).join('/');
  if (name !== undefined) return headless.filter((scene) => scene.name.startsWith(`${name}/`));
  const named = headless.filter(
    (scene) => flow === undefined || flow.split(',').some((part) => scene.name.includes(part)),
  );
  if (pairs && flow === undefined && points === 0)
    return headless.filter((scene) => PAIRED.includes(scene.name));
  if (!alternating) return named;
  // Each flow on one engine, in one revision.
  const flows = [...Map.groupBy(named, (scene) => scene.flow.replace('@postgres', '')).values()];
  return flows.flatMap((all, at) => all[(at * 5 + seed) % all.length] ?? []);
}

/** Every point of one scene, or one of this many of its flow, headless and on a screen. */
function tasksOf(survey: Survey, { instants, seed, kind, dress, what = '' }: Wish, scenes: number): Task[] {
  const { scene, points } = survey;
  const screen = SCENES.find(
    (one) => one.flow === scene.flow && one.revision === scene.revision && one.dress === 'screen',
  );
  return [scene, ...(screen === undefined ? [] : [screen])].flatMap((on) => {
    if (dress !== 'both' && on.dress !== dress) return [];
    const own = points.map((point) => ({ ...point, name: point.name.replace(scene.name, on.name) }));
    const drawn = (['instant', 'signal', 'stop', 'second'] as const).flatMap((one) => {
      const count = countOf(one, on, Math.ceil(instants / scenes));
      return instantsOf(on.name, one, count, survey.spanMs * (on.dress === 'screen' ? 2 : 1), seed);
    });
    return [...own, ...drawn]
      .filter((point) => (kind === undefined || point.kind === kind) && point.what.includes(what))
      .map((point) => ({ scene: on, point, survey }));
  });
}

/**
 * How many moments of a kind are drawn for a scene that is to have this many kills; a screen, where a person
 * takes their time, is met by kills and signals only.
 */
function countOf(kind: Kind, { dress, errand, approval }: Scene, kills: number): number {
  if (errand !== undefined && kind !== 'instant') return 0;
  // A second process that comes before the first has taken up a run has every right to it.
  if (approval === 'given' && kind === 'second') return 0;
  if (dress === 'headless') return kind === 'instant' ? kills : Math.min(kills, Math.ceil(kills / 20) + 2);
  return kind === 'instant' || kind === 'signal' ? Math.ceil(kills / 20) : 0;
}

/**
 * On the way from a change that may be lost to its reconciliation: every kill there, with every kill of the
 * process that resumes.
 */
async function pairsIn(product: Product, surveys: readonly Survey[], { flow, only }: Wish): Promise<Task[]> {
  const chosen = surveys.filter(
    ({ scene }) => flow !== undefined || only !== undefined || PAIRED.includes(scene.name),
  );
  const found = await eachOf(chosen, async (survey) => {
    const firsts = survey.points.filter(
      ({ kind, what }) => kind === 'request' && /^(?:torn|dropped|late|done|half) (?:PATCH|POST)/u.test(what),
    );
    const pairs: Task[] = [];
    for (const first of firsts) {
      const after = await pointsAfter(product, survey.scene, first);
      const seconds = after.filter(({ kind }) => kind === 'sync' || kind === 'request' || kind === 'send');
      for (const point of pairsOf(survey.scene.name, [first], seconds))
        pairs.push({ scene: survey.scene, point, survey });
    }
    return pairs;
  });
  return found.flat();
}

/** The flow without its variants: with a platform, with a second person. */
function flowOf({ flow }: Scene): string {
  return `${flow.split(/[+@]/u, 1)[0]}${flow.includes('@postgres') ? '@postgres' : ''}`;
}

function isDrawn({ kind }: Point): boolean {
  return kind === 'instant' || kind === 'signal' || kind === 'stop' || kind === 'second';
}
