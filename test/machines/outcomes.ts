import type * as verbs from '../../machines/parts/task-data.ts';

/** One way a verb can end. */
export type Outcome = { readonly output: unknown } | { readonly error: unknown };

const OLD = 'aaaaaaaaaaaa';
const NEW = 'cccccccccccc';

const failure = (code: string, evidence = {}) => ({
  error: { code, shortMessage: `it failed: ${code}`, hints: [], evidence },
});

const baseline: verbs.Baseline = {
  serviceId: '7',
  state: 'available',
  minKeyLength: 16,
  newestBackup: 3,
  runningTasks: [],
  runningRestores: [],
};

const facts: verbs.PreflightFacts = {
  service: { id: '7', name: 'orders', state: 'available' },
  baseline,
  backups: { total: 3, done: 3, downloadable: 1 },
  newest: { id: 3, status: 'done', size: 100, downloadable: true },
  keysHeld: [OLD],
  currentKey: OLD,
  keyStore: 'memory',
  warnings: [],
  blockers: [],
};

const stored: verbs.StoredKey = { fingerprint: NEW, length: 43, origin: 'generated', store: 'memory' };

const file: verbs.DownloadedFile = { path: '/b', bytes: 100, sha256: 'ff', seconds: 1 };

const verification = (opens: string): verbs.Verification => ({
  opens,
  verdict: 'readable',
  profile: 'md5',
  content: 'tar',
  cipherBytes: 100,
  cipherSha256: 'ff',
  contentBytes: 300,
  contentSha256: 'ee',
  seconds: 1,
});

const OUTCOMES: Readonly<Record<string, readonly Outcome[]>> = {
  preflight: [
    { output: facts },
    { output: { ...facts, newest: undefined } },
    { output: { ...facts, keysHeld: [] } },
    { output: { ...facts, blockers: [failure('service.task-running').error] } },
    failure('service.unreachable'),
    { output: { ...facts, escrow: { places: ['store'], recipients: ['age1ada', 'age1bo'] } } },
  ],
  recheck: [
    { output: baseline },
    { output: { ...baseline, newestBackup: 4, runningTasks: [4] } },
    failure('service.timeout'),
  ],
  downloadBackup: [{ output: file }, failure('backup.truncated')],
  verifyBackup: [
    { output: verification(NEW) },
    { output: verification(OLD) },
    { output: { ...verification(NEW), shrunkFrom: { id: 2, contentBytes: 900 } } },
    failure('backup.corrupt'),
  ],
  storeKey: [{ output: stored }, failure('keys.locked')],
  readBackKey: [{ output: stored }, failure('key.not-stored')],
  escrowKey: [
    { output: { fingerprint: NEW, places: ['store'], recipients: ['age1ada', 'age1bo'] } },
    failure('escrow.unproven'),
  ],
  setKey: [
    { output: { answer: 'accepted', status: 200 } },
    { output: { answer: 'unknown' } },
    failure('service.forbidden'),
  ],
  createBackup: [
    { output: { landed: true, id: 4, adopted: false } },
    { output: { landed: false } },
    failure('service.invalid'),
    failure('doubt.ambiguous', {
      candidates: [
        { id: 4, status: 'done' },
        { id: 5, status: 'queued' },
      ],
    }),
  ],
  waitForBackup: [
    { output: { id: 4, status: 'done', size: 100 } },
    failure('backup.failed'),
    failure('service.unreachable'),
  ],
  negativeTest: [
    { output: { tested: [OLD], opened: [] } },
    { output: { tested: [], opened: [] } },
    { output: { tested: [OLD], opened: [OLD] } },
    failure('backup.no-file'),
  ],
  recordRotation: [{ output: { fingerprint: NEW, proven: true } }, failure('journal.busy')],
};

/** Every way a verb can end that the machine tells apart. An unknown verb is a mistake in the test. */
export function outcomesOf(verb: string): readonly Outcome[] {
  const found = OUTCOMES[verb];
  if (found === undefined) throw new Error(`no outcomes are known for the verb ${verb}`);
  return found;
}
