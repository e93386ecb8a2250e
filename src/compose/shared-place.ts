import { EXIT, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { CheckpointConfig } from '../config/loaded.ts';
import { type Journal, LOG_STREAM } from '../store/journal.ts';
import type { Checked } from '../store/log/check-log.ts';
import { ALONE_ACCEPTED, AloneAccepted } from '../store/log/log-entries.ts';
import { namedKey } from '../store/log/named-keys.ts';
import type { Signer } from '../store/log/signer.ts';

/*
 * A team's database can be restored or recreated by its operator. The home of the person who had a call in
 * progress shows that; a colleague's home does not. So each folder below `checkpoints` is checked before
 * anything is changed, and must take the checkpoint of a call before the call is sent.
 */

export interface Lack {
  /** In one line, lower case. */
  readonly what: string;
  readonly hints: readonly string[];
}

export const NO_FOLDER: Lack = {
  what: 'the config names none, and a team needs one outside of its database',
  hints: [
    'make a folder that all members can read and write, on a disk that they share',
    'name it in lifeboat.yaml: `checkpoints: [/PATH]`; everybody names the same one',
  ],
};

export interface LookedAt {
  readonly journal: Pick<Journal, 'read'>;
  readonly signer: Pick<Signer, 'installation'>;
  /** The folder may be empty although the log is not new: it was moved here. */
  readonly isBegun?: boolean;
}

/**
 * What a team's store lacks, of the folders that all members share; undefined if each can be read and holds a
 * checkpoint of a log that was signed before. An empty one may be an unmounted disk.
 */
export async function lackOfPlace(
  { store, places }: Pick<Checked, 'store' | 'places'>,
  { journal, signer, isBegun = false }: LookedAt,
): Promise<Lack | undefined> {
  const folders = places.filter(({ kind }) => kind === 'folder');
  if (folders.length === 0) return NO_FOLDER;
  const down = folders.find(({ result }) => result === 'down');
  if (down !== undefined)
    return {
      what: `${show(down.name, 120)} cannot be read: ${show(down.why ?? '', 120)}`,
      hints: ['mount it, or repair its permissions; if it was never there, make it once: mkdir FOLDER'],
    };
  const holdsOwn = ({ checkpoints }: (typeof places)[number]) =>
    checkpoints.some(({ origin }) => origin === store.origin);
  const empty = folders.find((place) => !holdsOwn(place));
  if (empty === undefined || isBegun || store.origin === undefined) return undefined;
  const wasSigned = places.some((place) => place.kind === 'home' && holdsOwn(place));
  if (!wasSigned && (await isOwnLog(journal, signer))) return undefined;
  return {
    what: `${show(empty.name, 120)} has no checkpoint of ${store.origin}`,
    hints: [
      'it may be another folder than that of your colleagues, or a disk that is not mounted',
      'if it is new: the first command with `--alone "first use of the folder"` fills it',
    ],
  };
}

/** What a config lacks, before anything is opened. */
export function lackOfConfig(checkpoints: readonly CheckpointConfig[]): Lack | undefined {
  return checkpoints.some((one) => 'folder' in one) ? undefined : NO_FOLDER;
}

async function isOwnLog(
  journal: Pick<Journal, 'read'>,
  { installation }: Pick<Signer, 'installation'>,
): Promise<boolean> {
  const [first] = await journal.read(LOG_STREAM);
  return first === undefined || namedKey(first)?.installation === installation;
}

/** The refusal (exit 2): nothing was changed, and no one else could see what this process sends. */
export function unshared({ what, hints }: Lack): LifeboatError {
  return new LifeboatError('store.unshared', `the checkpoint folder of this team cannot be used: ${what}`, {
    hints: [
      'nothing was changed: if the database is put back to yesterday, only this folder shows what was sent',
      ...hints,
      'to go on without it, on record: add `--alone REASON`',
    ],
    exitCode: EXIT.usage,
  });
}

/** Records that a person continues without the folder. */
export async function recordAlone(
  journal: Pick<Journal, 'append'>,
  reason: string,
  lack: Lack | undefined,
): Promise<void> {
  const body = AloneAccepted.parse({ reason: show(reason.trim(), 500), lack: lack?.what ?? '' });
  await journal.append([{ stream: LOG_STREAM, type: ALONE_ACCEPTED, body }], []);
}
