import { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { type Candidate, probeKeys } from './probe.ts';

/** What a tool leaves at the end of a key read from a file, and its name. */
const ENDS: readonly (readonly [string, string])[] = [
  ['\r', 'a carriage return'],
  ['\n', 'a line end'],
  ['\r\n', 'a carriage return and a line end'],
];

/**
 * A sentence if a key opens a backup with a different line end: `openssl -pass file:` strips only the line
 * feed, so with Windows line ends the carriage return belongs to the key. Undefined if none does. Throws the
 * errors of `probe`. `head` must be that of an encrypted backup.
 */
export function nearMiss(head: Uint8Array, candidates: readonly Candidate[]): string | undefined {
  const variants = candidates.flatMap(({ fingerprint, key }) => {
    const text = key.reveal();
    const bare = text.replace(/[\r\n]+$/u, '');
    const named = `key ${show(fingerprint, 40)}`;
    return [
      ...(bare === text || bare === '' ? [] : [{ says: `${named} without the line end`, key: bare }]),
      ...ENDS.filter(([end]) => bare + end !== text).map(([end, words]) => ({
        says: `${named} with ${words}`,
        key: bare + end,
      })),
    ].map(({ says, key: other }) => ({ fingerprint: says, key: new Secret(other) }));
  });
  const found = probeKeys(head, variants);
  return found.result === 'fits' ? `${found.fingerprint} at its end opens it` : undefined;
}
