import { randomFrom } from '../../random.ts';
import { judgeImage, judgeLoss } from './judge.ts';
import { createDisk, type Disk, type Image } from './model.ts';
import type { Recording } from './record.ts';
import type { Step } from './trace.ts';

export type Kind = 'prefix' | 'torn' | 'power cut' | 'lying disk';

export interface Figures {
  readonly images: Readonly<Record<Kind, number>>;
  /** Of the lying disk: images that lack something signed, and those of them where Lifeboat reports it. */
  readonly losses: number;
  readonly found: number;
  /** Every broken promise, with the way to reproduce it. */
  readonly problems: readonly string[];
}

export interface ImageOptions {
  readonly seed: number;
  /** How many of each kind, spread over the recording; for `prefix` and `torn`, `all` takes every one. */
  readonly counts: Readonly<Record<'power cut' | 'lying disk', number>> &
    Readonly<Record<'prefix' | 'torn', number | 'all'>>;
  readonly onImage?: (done: number) => void;
}

/** Makes the images that a recording allows, judges each, and counts. */
export async function sweepImages(recording: Recording, options: ImageOptions): Promise<Figures> {
  const { home, steps } = recording;
  const images: Record<Kind, number> = { prefix: 0, torn: 0, 'power cut': 0, 'lying disk': 0 };
  const problems: string[] = [];
  let [losses, found, acknowledged] = [0, 0, 0];
  const plan = planOf(steps, options);
  const disk = createDisk(recording.before);
  const stale: Image[] = [];

  const judge = async (kind: Kind, at: number, image: Image) => {
    images[kind] += 1;
    const broken = await judgeImage(image, recording, acknowledged);
    problems.push(...broken.map((words) => `${kind} at step ${at}, seed ${options.seed}: ${words}`));
    options.onImage?.(Object.values(images).reduce((sum, count) => sum + count, 0));
  };
  for (const [at, step] of steps.entries()) {
    for (const { kind, seed } of plan.get(at) ?? []) {
      const draw = randomFrom(seed);
      if (kind === 'prefix') await judge(kind, at, disk.seen());
      else if (kind === 'power cut') await judge(kind, at, disk.afterPowerCut(draw));
      else if (kind === 'torn' && step.do === 'write')
        for (const length of tearsOf(step.bytes.length, draw)) await judge(kind, at, disk.torn(step, length));
      else if (kind === 'lying disk') {
        const image = lied(disk, stale, draw);
        if (image === undefined) continue;
        images[kind] += 1;
        const loss = await judgeLoss(image, home);
        losses += Number(loss.lost);
        found += Number(loss.lost && loss.found);
        if (loss.lost && !loss.found) problems.push(`lying disk at step ${at}: a loss that nobody finds`);
      }
    }
    if (step.do === 'say') acknowledged += step.text.split('\n').filter((line) => line !== '').length;
    else disk.take(step);
  }
  return { images, losses, found, problems };
}

interface Planned {
  readonly kind: Kind;
  readonly seed: number;
}

/**
 * The images to take before each step. A prefix differs from the one before it only after a step that changed
 * something.
 */
function planOf(steps: readonly Step[], { seed, counts }: ImageOptions): ReadonlyMap<number, Planned[]> {
  const draw = randomFrom(seed);
  const plan = new Map<number, Planned[]>();
  const add = (at: number, kind: Kind) => {
    const planned = plan.get(at) ?? [];
    planned.push({ kind, seed: Math.floor(draw() * 2 ** 32) });
    plan.set(at, planned);
  };
  const all = steps.map((_, at) => at);
  const changing = all.filter((at) => at > 0 && !['say', 'sync'].includes(steps[at - 1]?.do ?? ''));
  const writing = all.filter((at) => steps[at]?.do === 'write');
  const some = (from: readonly number[], count: number | 'all') =>
    count === 'all' ? from : Array.from({ length: count }, () => from[Math.floor(draw() * from.length)] ?? 0);
  for (const at of some(changing, counts.prefix)) add(at, 'prefix');
  for (const at of some(writing, counts.torn)) add(at, 'torn');
  for (const at of some(all, counts['power cut'])) add(at, 'power cut');
  for (const at of some(all.slice(Math.floor(all.length / 20)), counts['lying disk'])) add(at, 'lying disk');
  return plan;
}

/** After a whole sector and a whole page, if there is one, and at a random place. */
function tearsOf(length: number, draw: () => number): number[] {
  const somewhere = 1 + Math.floor(draw() * Math.max(length - 1, 1));
  const sector = 512 * Math.floor((draw() * length) / 512);
  return [...new Set([sector, somewhere])].filter((at) => at > 0 && at < length);
}

/**
 * An earlier state of the database, or of one of its two files, beside the present checkpoints: a disk that
 * only claimed to have synced. The first call of each pair keeps the state.
 */
function lied(disk: Disk, stale: Image[], draw: () => number): Image | undefined {
  const now = disk.seen();
  const then = stale[Math.floor(draw() * stale.length)];
  if (stale.length < 8) stale.push(copyOf(now));
  else stale[Math.floor(draw() * 8)] = copyOf(now);
  if (then === undefined) return undefined;
  const parts =
    [/lifeboat\.db(?:-wal|-journal)?$/u, /lifeboat\.db$/u, /lifeboat\.db-wal$/u][Math.floor(draw() * 3)] ??
    /$/u;
  const files = new Map([...now.files].filter(([path]) => !parts.test(path)));
  for (const [path, bytes] of then.files) if (parts.test(path)) files.set(path, bytes);
  return { files, folders: now.folders };
}

function copyOf({ files, folders }: Image): Image {
  return {
    files: new Map([...files].map(([path, bytes]) => [path, Buffer.from(bytes)])),
    folders: new Set(folders),
  };
}
