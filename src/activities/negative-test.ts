import type { NegativeTest } from '../../machines/parts/verbs.ts';
import { probe } from '../backup/probe.ts';
import type { ReadActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { readHead } from './read-head.ts';
import { because, ok } from './results.ts';

/**
 * Tries every other key held for the instance on the backup, in every key-derivation profile. None may open it: otherwise the
 * rotation rotated nothing.
 */
export function negativeTest(
  deps: ActivityDeps,
): ReadActivity<{ path: string; except: string }, NegativeTest> {
  return {
    kind: 'read',
    async run({ path, except }, { instance }) {
      try {
        const head = await readHead(path);
        const tested = (await deps.keyring.list(instance)).filter((fingerprint) => fingerprint !== except);
        const opened: string[] = [];
        for (const fingerprint of tested) {
          const key = await deps.keyring.load(instance, fingerprint);
          if (key !== undefined && probe(head, key).result === 'fits') opened.push(fingerprint);
        }
        return ok({ tested, opened });
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}
