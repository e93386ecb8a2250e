import { type Check, PASS } from '../check.ts';
import { ensure } from '../expect.ts';
import { BACKUPS } from './backups.ts';
import { CONFIG } from './config.ts';
import { CREDENTIALS } from './credentials.ts';
import { DOWNLOAD } from './download.ts';
import { METRICS } from './metrics.ts';
import { OPERATIONS } from './operations.ts';
import { OVERVIEW } from './overview.ts';
import { PITR } from './pitr.ts';
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
    return PASS;
  },
};

/** Every check, in the order they run in: reading first, what takes the instance away last. */
export const CHECKS: readonly Check[] = [
  ...CREDENTIALS,
  ...UNKNOWNS,
  ...OVERVIEW,
  ...CONFIG,
  ...BACKUPS,
  ...DOWNLOAD,
  ...METRICS,
  ...V0,
  ...RESTORES,
  ...PITR,
  ...RECOVERY,
  ...OPERATIONS,
  SILENCE,
];
