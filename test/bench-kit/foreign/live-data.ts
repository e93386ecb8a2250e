import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const DATA = 'base/1259';

/**
 * What an instance holds: a folder with one file that matters, and its past when there is continuous
 * archiving.
 */
export interface LiveData {
  read(): Promise<Buffer>;
  /** What an application does. */
  write(bytes: Buffer): Promise<void>;
  /** Lets `work` read the folder while nothing changes in it. */
  hold(work: (folder: string) => Promise<void>): Promise<void>;
  /** Puts another folder in its place; the other one is gone then. */
  replaceWith(folder: string): Promise<void>;
  /** The oldest moment that is kept; undefined without archiving. */
  oldest(): Date | undefined;
  /** Brings back the bytes of a moment. Rejects when nothing is known of it. */
  rewindTo(at: Date): Promise<void>;
}

interface Options {
  readonly folder: string;
  readonly archiving: boolean;
  readonly now: () => Date;
}

/** One thing at a time happens to the data, so that no backup holds half of a change. */
export async function openLiveData(bytes: Buffer, { folder, archiving, now }: Options): Promise<LiveData> {
  const past: { readonly at: Date; readonly bytes: Buffer }[] = [];
  const path = join(folder, DATA);
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work, work);
    turn = mine.catch(() => undefined);
    return mine;
  };
  const remember = (written: Buffer) => {
    if (archiving) past.push({ at: now(), bytes: written });
  };
  const put = async (written: Buffer) => {
    await writeFile(path, written);
    remember(written);
  };

  await mkdir(join(folder, 'base'), { recursive: true });
  await writeFile(join(folder, 'PG_VERSION'), '18\n');
  await put(bytes);
  return {
    read: () => inTurn(() => readFile(path)),
    write: (written) => inTurn(() => put(written)),
    hold: (work) => inTurn(() => work(folder)),
    replaceWith: (other) =>
      inTurn(async () => {
        const restored = await readFile(join(other, DATA));
        await rm(folder, { recursive: true });
        await rename(other, folder);
        remember(restored);
      }),
    oldest: () => past[0]?.at,
    rewindTo: (at) =>
      inTurn(async () => {
        const then = past.findLast((moment) => moment.at <= at);
        if (then === undefined) throw new Error('nothing is known of that time');
        await put(then.bytes);
      }),
  };
}
