import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { show } from '../../text.ts';

/** Who else than its owner can change a file, and the command that ends it. */
export interface OpenToOthers {
  readonly says: string;
  readonly mend: string;
}

const GROUP = 0o020;
const EVERYBODY = 0o002;
const STICKY = 0o1000;

/**
 * Whether others can write a file or exchange it in its folder, also in the one that a link lies in; whoever can has the same say as the file.
 * The owner and root always can. Nothing where the system has no such rights. Rejects with what the system says.
 */
export async function openToOthers(path: string): Promise<OpenToOthers[]> {
  const uid = process.getuid?.();
  if (uid === undefined) return [];
  const real = await realpath(path);
  const folders = [...new Set([dirname(real), dirname(path)])];
  const places = [
    { what: 'it', path: real },
    ...folders.map((folder) => ({ what: 'its folder', path: folder })),
  ];
  const found = await Promise.all(
    places.map(async ({ what, path: place }): Promise<OpenToOthers[]> => {
      const { mode, uid: owner } = await stat(place);
      // Where only the owner of a file may remove it (/tmp), it cannot be exchanged either.
      const isGuarded = what === 'its folder' && (mode & STICKY) !== 0;
      const who = (mode & EVERYBODY) !== 0 ? 'everybody' : (mode & GROUP) !== 0 ? 'its group' : undefined;
      return [
        ...(who === undefined || isGuarded
          ? []
          : [{ says: `${who} can write ${what}`, mend: `chmod go-w ${show(place)}` }]),
        ...(owner === uid || owner === 0
          ? []
          : [
              {
                says: `${what} belongs to another user (${owner})`,
                mend: `chown it to root: ${show(place)}`,
              },
            ]),
      ];
    }),
  );
  return found.flat();
}
