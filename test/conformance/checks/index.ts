import { type Check, skip } from '../check.ts';
import { ensure } from '../expect.ts';
import { readConfig } from '../reads.ts';
import { BACKUPS } from './backups.ts';
import { changedFields } from './compare.ts';
import { CONFIG, FIELDS } from './config.ts';
import { CREDENTIALS, RIGHTS_TO_RESTORE } from './credentials.ts';
import { DOWNLOAD } from './download.ts';
import { METRICS } from './metrics.ts';
import { OPERATIONS } from './operations.ts';
import { OVERVIEW } from './overview.ts';
import { PITR } from './pitr.ts';
import { PROMISED } from './promised.ts';
import { RECOVERY } from './recovery.ts';
import { RESTORES } from './restores.ts';
import { UNKNOWNS } from './unknown.ts';
import { V0 } from './v0.ts';

/** Looks back on all others, so it stands at the end. */
const SILENCE: Check = {
  id: 'secrets.silence',
  section: '1, 2.3',
  title: 'no answer of the whole run carries the token or the encryption key',
  needs: { revisions: [61, 62, 'v0'] },
  run: async ({ trace }) => {
    ensure(trace.leaks.length === 0, `carried by the answers to ${[...new Set(trace.leaks)].join(', ')}`);
  },
};

/**
 * The suite's own promise. Backups stay, since no endpoint deletes one; what cannot be read cannot be put
 * back.
 */
const PUT_BACK: Check = {
  id: 'changes.put-back',
  section: '2.3',
  title: 'the configuration is as the suite found it, of the instance and of the target',
  needs: { level: 'safe' },
  run: async (subject) => {
    const { found, level, key, revision } = subject;
    const read = found.filter(({ config }) => Object.keys(config).length > 0);
    if (read.length === 0) skip('no configuration could be read at the start');
    const changes: string[] = [];
    for (const { whose, api, config } of read) {
      const { value } = await readConfig(subject, api);
      for (const field of changedFields(config, value, FIELDS)) {
        const [was, is] = [config, value].map((one) => String(Reflect.get(one, field)));
        changes.push(`${field} of ${whose} was ${was} and is ${is}`);
      }
    }
    ensure(changes.length === 0, changes.join('; '));
    const unread = [
      ...(key === undefined
        ? []
        : ['the encryption key is that of --key-file now: the one before cannot be read']),
      ...(level === 'all' && revision === 61
        ? ['maintenance updates are allowed now: what was set before cannot be read']
        : []),
    ];
    return unread;
  },
};

/** Every check, in the order they run in: reading first, what takes the instance away last. */
export const CHECKS: readonly Check[] = [
  ...CREDENTIALS,
  ...UNKNOWNS,
  ...PROMISED,
  ...OVERVIEW,
  ...CONFIG,
  ...BACKUPS,
  ...DOWNLOAD,
  ...METRICS,
  ...V0,
  ...RIGHTS_TO_RESTORE,
  ...RESTORES,
  ...PITR,
  ...RECOVERY,
  ...OPERATIONS,
  PUT_BACK,
  SILENCE,
];
