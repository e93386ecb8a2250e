import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { hashOf } from '../../../src/store/canonical.ts';
import { type Head, type Journal, LOG_STREAM } from '../../../src/store/journal.ts';
import { checkLog } from '../../../src/store/log/check-log.ts';
import { parseCheckpoint } from '../../../src/store/log/checkpoint.ts';
import { EMPTY_FRONTIER, grow, rootOfFrontier } from '../../../src/store/log/merkle.ts';
import { homePlace } from '../../../src/store/log/places/folder-place.ts';
import { compareProjections, PROJECTIONS } from '../../../src/store/projected.ts';

import { openIn } from '../open-in.ts';
import type { Image } from './model.ts';
import type { Recording } from './record.ts';

/**
 * The heads of all streams except the store's own, after each append; the first is that of an empty journal.
 */
export type Heads = readonly Head[];

/**
 * Writes an image to a real disk, opens it as Lifeboat would, and returns every broken promise, in words.
 * `acknowledged` is how many lines the process had printed when the image was taken, each of them a promise.
 */
export async function judgeImage(
  image: Image,
  { home: root, states, linesPerAppend, alsoBroken }: Recording,
  acknowledged: number,
): Promise<readonly string[]> {
  return laidOut(image, root, async (home) => {
    const opened = await openIn(home).catch((error: unknown) => String(error));
    if (typeof opened === 'string') return [`it does not open: ${opened}`];
    const problems: string[] = [];
    try {
      const heads = (await opened.streams()).filter(({ stream }) => stream !== LOG_STREAM);
      const state = states.findIndex((known) => sameHeads(known, heads));
      if (state < 0) problems.push(`it holds what was never written: ${spell(heads)}`);
      else if (state < acknowledged)
        problems.push(`append ${acknowledged} was acknowledged, ${state} are there`);
      else if (state > acknowledged + linesPerAppend)
        problems.push(`append ${state} is there before it was begun`);
      problems.push(...(await troubleIn(home, opened)), ...(await goOn(opened)));
      problems.push(...((await alsoBroken?.(home, opened)) ?? []));
      return problems;
    } catch (error) {
      return [...problems, `it cannot be read: ${String(error)}`];
    } finally {
      await opened.close();
    }
  });
}

export interface Loss {
  /** The database lacks something that a checkpoint in the image signed. */
  readonly lost: boolean;
  /** Lifeboat refuses to continue, and says why. */
  readonly found: boolean;
}

/** As `judgeImage`, for a disk that lied about syncing: the checkpoints must show what is gone. */
export async function judgeLoss(image: Image, root: string): Promise<Loss> {
  return laidOut(image, root, async (home) => {
    const opened = await openIn(home).catch(() => undefined);
    if (opened === undefined) return { lost: true, found: true };
    try {
      const found = await troubleIn(home, opened).then(
        (trouble) => trouble.length > 0,
        () => true,
      );
      return { lost: await isLost(signedRoots(image, root), opened), found };
    } finally {
      await opened.close();
    }
  });
}

/**
 * Lifeboat's findings about a store and its checkpoints, about each of its entries and about its projections.
 */
async function troubleIn(home: string, journal: Journal): Promise<readonly string[]> {
  const { trouble } = await checkLog(journal, [homePlace(home)]);
  for (const { stream } of await journal.streams()) await journal.read(stream);
  const differences = await compareProjections(journal, PROJECTIONS);
  return [
    ...(trouble?.kinds ?? []).map((kind) => `the store does not fit its checkpoints: ${kind}`),
    ...differences.map(
      ({ projection, key }) => `the row ${key} of ${projection} is not what its entries give`,
    ),
  ];
}

async function laidOut<T>(image: Image, root: string, look: (home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-image-'));
  try {
    for (const folder of image.folders)
      mkdirSync(join(home, relative(root, folder)), { recursive: true, mode: 0o700 });
    for (const [path, bytes] of image.files) {
      const file = join(home, relative(root, path));
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, bytes, { mode: 0o600 });
    }
    return await look(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** A journal that can be read but not written is useless to a run. */
async function goOn(journal: Journal): Promise<string[]> {
  try {
    const [before, hold] = [await journal.head('run/a'), await journal.hold('run/a')];
    const [entry] = await journal.append([{ stream: 'run/a', type: 'note', body: 'after' }], [hold]);
    const [read] = await journal.read('run/a', before.seq + 1);
    return read !== undefined && read.hash === entry?.hash
      ? []
      : ['what is appended to it cannot be read back'];
  } catch (error) {
    return [`it cannot be appended to: ${String(error)}`];
  }
}

/**
 * What the checkpoints in an image claim, by size. A file without its final name (`.421.….tmp`) does not
 * count: nothing was armed or printed because of it.
 */
function signedRoots(image: Image, root: string): ReadonlyMap<number, string> {
  const roots = new Map<number, string>();
  for (const [path, bytes] of image.files) {
    if (!/^checkpoints\/[0-9a-f]{16}\/(?:.*\/)?[^./][^/]*$/u.test(relative(root, path))) continue;
    const note = bytes.toString('utf8');
    const claim = parseCheckpoint(note.slice(0, note.lastIndexOf('\n\n') + 1));
    if (claim !== undefined) roots.set(claim.size, claim.root);
  }
  return roots;
}

/** Whether the entries, hashed again, give another root than a signed one. */
async function isLost(signed: ReadonlyMap<number, string>, journal: Journal): Promise<boolean> {
  let frontier = EMPTY_FRONTIER;
  const left = new Map(signed);
  for (const stored of await Array.fromAsync(journal.log.stored()).catch(() => [])) {
    ({ frontier } = grow(frontier, Buffer.from(hashOf(stored), 'hex')));
    if (left.get(frontier.size) === rootOfFrontier(frontier).toString('hex')) left.delete(frontier.size);
  }
  return left.size > 0;
}

function sameHeads(one: Heads, other: Heads): boolean {
  return (
    one.length === other.length &&
    one.every((head) =>
      other.some((it) => it.stream === head.stream && it.seq === head.seq && it.hash === head.hash),
    )
  );
}

function spell(heads: Heads): string {
  return heads.map(({ stream, seq }) => `${stream} ${seq}`).join(', ') || 'nothing';
}
