import type { RunbookId } from '../../machines/parts/touches.ts';
import { EXIT, EXIT_CODES } from '../base/errors.ts';
import type { Details } from './define.ts';

/** What lifeboat is, as its help begins. */
export const SUMMARY = 'run disaster-recovery runbooks: one safe step at a time, proven with evidence';

const DOES: Readonly<Record<RunbookId, string>> = {
  'restore-backup': 'restore a backup into its own instance',
  'restore-point-in-time': 'restore the instance as it was at a time (--to)',
  'disaster-recovery': 'recover a lost instance into another (--target)',
  'back-up-and-verify': 'create a backup now and read it to its last byte',
  'rotate-key': 'set a new encryption key and prove it by a backup',
  'change-instance': 'restart, recreate or update it (--action)',
};

/** The runbooks in the order in which a person looks for one, each with what it does. */
export const RUNBOOKS: readonly (readonly [id: string, does: string])[] = Object.entries(DOES);
export const RUNBOOK_NAMES = Object.keys(DOES);

/** What `lifeboat --help` prints after its commands. */
export const HELP: Details = {
  notes: [
    `Environment:
  LIFEBOAT_HOME             journal, checkpoints, downloads (default: XDG state)
  LIFEBOAT_CONFIG           the lifeboat.yaml to use
  LIFEBOAT_STORE            postgres://... of a team; wins over the config
  LIFEBOAT_KEYCHAIN         os or vault; wins over keyStore of the config
  LIFEBOAT_PASSPHRASE_FILE  the file with the passphrase of the vault file
  LIFEBOAT_PGBIN            the folder of another PostgreSQL for the lab
  LIFEBOAT_THEME            dark, light or contrast (default: the terminal's)
  LIFEBOAT_PRESENT          1: the screen hides names and ids
  LIFEBOAT_BELL             off: no bell and no notification of the terminal`,
    `Exit codes:
${exitCodes()}`,
  ],
  examples: [
    'lifeboat                # the app: all instances, in a terminal',
    'lifeboat drill          # rehearse all of it, on this machine',
    'lifeboat init           # write a config, and try it',
    'lifeboat doctor         # look at what a recovery needs',
    'lifeboat help run       # the runbooks, and how to run one',
  ],
};

/** The codes in two lines. */
function exitCodes(): string {
  const codes = Object.entries(EXIT_CODES).map(
    ([name, { means }]) => `${EXIT[name as keyof typeof EXIT]} ${means}`,
  );
  return [codes.slice(0, 4), codes.slice(4)].map((line) => `  ${line.join(' · ')}`).join('\n');
}
