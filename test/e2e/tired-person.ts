import { type Followed, followFallback } from '../bench-kit/follow-fallback.ts';
import { installCf } from '../bench-kit/install-cf.ts';

/** What a person has at hand who follows a fallback script. */
export interface Hands {
  /** A place of their own; nothing of the product is used any more. */
  readonly folder: string;
  readonly token: string;
  /** The key that the backups were made with. */
  readonly key: string;
  /** Address of the platform that `cf` is logged in to. */
  readonly api: string;
}

/**
 * Follows a fallback script as a tired person does who does what it says: Enter for each step, the name where
 * a name is wanted, and `yes` to a call. If the list shows that a call was made already, the answer is its
 * id. A command that fails is passed over.
 */
export function followTired(fallback: string, hands: Hands): Promise<Followed> {
  const { folder, token, api } = hands;
  const { bin } = installCf(folder, { Target: api, AccessToken: `bearer ${token}` });
  return followFallback(fallback, (asked) => answerTo(asked, hands), { folder, bin });
}

function answerTo(asked: string, { token, key }: Hands): string {
  if (asked.includes('access token for the')) return token;
  if (/the key (?:with which|of) .*\(not shown\)> $/u.test(asked)) return key;
  if (asked.includes('make: a new one')) return 'make';
  const [, name] = /Type the name (\S+) to go on/u.exec(asked) ?? [];
  if (name !== undefined) return name;
  if (asked.includes('other: this instead:')) return 'other';
  if (asked.includes('again: try once more.')) return 'on';
  if (asked.includes('yes: send ')) return seenAlready(asked) ?? 'yes';
  return '';
}

/** The id in the list that the fallback script gives as the mark of a call made already. */
function seenAlready(asked: string): string | undefined {
  const list = asked.slice(asked.lastIndexOf('LOOK FIRST'));
  const newest = Math.max(0, ...[...list.matchAll(/"id":(\d+)/gu)].map(([, id]) => Number(id)));
  const [, than] = /with a higher id than (\d+)/u.exec(list) ?? [];
  const isSaid =
    list.includes('THIS RUN MAY HAVE SENT IT ALREADY') || (than !== undefined && newest > Number(than));
  return isSaid && newest > 0 ? String(newest) : undefined;
}
