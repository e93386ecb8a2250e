import type { FollowUpView, QuestionView, RunView, WayOn } from '../../src/view/run-view.ts';
import { FOLLOW_UPS, OBJECTIVES, OPEN_FOLLOW_UPS, TEXT, TIME } from './fake-recovery.ts';

/** Views of one invented run, one for each thing a screen has to show. */

export const RUN_ID = '01KAJ8V7Q2M4X9T3R5W6Y8Z0BC';

const PROSE = `The key of **orders** is replaced now. The order is fixed, so that no backup is ever without a key we hold:

1. the new key is generated and kept in the keychain,
2. it is read back and compared,
3. only then does the service get it (\`PATCH /backup_config\`).

> The old key stays where it is until the last backup made with it has expired.

What can go wrong:

- the service does not answer: the run asks it what it has before it sends anything again,
- the keychain is locked: unlock it and choose *try again*; nothing is lost.

See [the runbook](runbooks/rotate-key.md) for the details, and leave the run at any time with \`q\`.`;

const base: RunView = {
  paused: false,
  followUps: [],
  objectives: [],
  runId: RUN_ID,
  runbook: 'rotate-key',
  title: 'Rotate the encryption key',
  instance: 'orders',
  mode: 'REHEARSAL',
  clock: '2026-11-21 03:12:45',
  elapsed: 724,
  rail: [
    { id: 'preflight', title: 'look before the start', state: 'done' },
    { id: 'generate', title: 'generate the key', state: 'done' },
    { id: 'store', title: 'store the key', state: 'done', note: 'vault file' },
    { id: 'escrow', title: 'hand it to escrow', state: 'skipped', note: 'no escrow configured' },
    { id: 'set', title: 'set the key', state: 'current' },
    { id: 'backup', title: 'create a backup', state: 'ahead' },
    { id: 'download', title: 'download it', state: 'ahead' },
    { id: 'verify', title: 'open it with the new key', state: 'ahead' },
    { id: 'negative', title: 'and not with the old one', state: 'ahead' },
    { id: 'retire', title: 'plan the retirement of the old key', state: 'ahead' },
    { id: 'close', title: 'close', state: 'ahead' },
  ],
  prose: { title: 'Set the key', markdown: PROSE },
  facts: [
    { label: 'instance', value: 'orders (4a1f77e0-5c1b-4f0e-9c55-6d8a3e0f9b11)', tone: 'plain' },
    { label: 'key now', value: '3fe1b0c2d4a5 since 2026-02-01', tone: 'plain' },
    { label: 'new key', value: '77aa01bc9de2, in the keychain', tone: 'good' },
    { label: 'backups', value: '12 kept, 12 need the old key', tone: 'warn' },
    { label: 'service clock', value: '2 s behind ours', tone: 'dim' },
  ],
  log: Array.from({ length: 14 }, (_, at) => ({
    at: `03:1${Math.floor(at / 6)}:${String((at * 7) % 60).padStart(2, '0')}`,
    text: `entry ${at + 1} of the journal: something was done and written down`,
    tone: at === 12 ? 'warn' : at === 13 ? 'good' : 'plain',
  })),
};

/** What leads on where orders may be lost. */
const WAY: WayOn = {
  when: 'if orders is lost: stop the run, recover it into a target',
  command: 'lifeboat run disaster-recovery orders --target orders-dr --perform',
  leadsTo: { kind: 'recover', instance: 'orders', target: 'orders-dr' },
};

/** The question about a failure of an instance that does not answer. */
export const LOST: QuestionView & { kind: 'choice' } = {
  kind: 'choice',
  prompt: 'the service is not available',
  options: [
    {
      event: 'operator.retry',
      label: 'try again',
      hint: 'only if orders answers again (the last 3 tries got 502); it asks the service again',
      recommended: false,
    },
    { event: 'operator.stop', label: 'stop the run', hint: 'nothing more is sent', recommended: false },
  ],
  trouble: {
    facts: [{ label: 'answer', value: 'status 502', tone: 'plain' }],
    commands: [WAY, { when: 'read the record', command: `lifeboat audit show ${RUN_ID}` }],
    tries: 'the last 3 tries got 502',
  },
};

export const CHOICE: QuestionView & { kind: 'choice' } = {
  kind: 'choice',
  prompt: 'Set the new key on orders now?',
  options: [
    {
      event: 'SET',
      label: 'set it',
      hint: 'sends one PATCH; backups made from now on need the new key',
      recommended: true,
    },
    {
      event: 'SKIP',
      label: 'skip this step',
      hint: 'goes on with the old key; the reason goes into the report',
      recommended: false,
      needs: { what: 'reason', prompt: 'why' },
    },
    {
      event: 'OUTSIDE',
      label: 'it was done outside',
      recommended: false,
      disabled: 'the service says that its key has not changed',
    },
    { event: 'STOP', label: 'stop the run', hint: 'closes the run as not done', recommended: false },
  ],
};

export const TYPED_NAME: QuestionView & { kind: 'typed-name' } = {
  kind: 'typed-name',
  prompt:
    'Everything in orders-dr is replaced by backup 41 of orders, made 2026-11-21 02:00:07. There is no way back.',
  expected: 'orders-dr',
  event: 'CONFIRM',
  stakes: {
    overwritten: 'all data in orders-dr: 2 backups, 1 bound app',
    lost: 'everything written in orders after 2026-11-21 02:00:07 UTC',
    lostSince: '2026-11-21T02:00:07Z',
    wayBack: 'none for orders-dr; orders and its backups are not touched',
  },
  options: [
    { event: 'OTHER', label: 'choose another target', recommended: false },
    { event: 'STOP', label: 'stop the run', hint: 'nothing has been changed', recommended: false },
  ],
};

export const SECRET: QuestionView & { kind: 'secret' } = {
  kind: 'secret',
  prompt: 'The passphrase for the vault file',
  event: 'PASSPHRASE',
  twice: true,
  isNew: true,
  minLength: 12,
  options: [{ event: 'KEYCHAIN', label: 'look for a keychain again', recommended: false }],
};

export const VIEWS = {
  checking: {
    ...base,
    rail: [
      { id: 'preflight', title: 'look before the start', state: 'current' },
      ...base.rail.slice(1).map((step) => ({ ...step, state: 'ahead' as const })),
    ],
    activity: { title: 'reading what the service knows about orders', seconds: 3 },
    log: base.log.slice(0, 2),
  },
  time: { ...base, mode: 'LIVE', question: TIME, objectives: OBJECTIVES.slice(0, 1) },
  text: { ...base, mode: 'LIVE', question: TEXT },
  openFollowUps: {
    ...base,
    mode: 'LIVE',
    question: FOLLOW_UPS,
    followUps: [
      ...OPEN_FOLLOW_UPS,
      {
        ...(OPEN_FOLLOW_UPS[0] as FollowUpView),
        id: 'rebind-billing',
        subject: 'billing',
        closed: { tone: 'good', text: 'by the platform, job 77' },
      },
    ],
    objectives: OBJECTIVES,
  },
  restaging: {
    ...base,
    followUps: OPEN_FOLLOW_UPS,
    objectives: OBJECTIVES,
    activity: { title: 'restaging orders-api', seconds: 12 },
  },
  empty: { ...base, rail: [], facts: [], log: [], prose: { title: '', markdown: '' } },
  choice: { ...base, question: CHOICE },
  typedName: { ...base, mode: 'LIVE', question: TYPED_NAME },
  secret: { ...base, mode: 'LIVE', question: SECRET },
  bytes: {
    ...base,
    activity: {
      title: 'downloading backup 41',
      seconds: 61,
      progress: { kind: 'bytes', done: 1_234_567_890, total: 2_700_000_000, bytesPerSecond: 34_000_000 },
    },
  },
  bytesOfUnknown: {
    ...base,
    activity: {
      title: 'downloading backup 41',
      seconds: 61,
      progress: { kind: 'bytes', done: 1_234_567, total: undefined, bytesPerSecond: undefined },
    },
  },
  task: {
    ...base,
    activity: {
      title: 'waiting for restore 7',
      seconds: 4000,
      progress: { kind: 'task', status: 'running' },
    },
  },
  wait: {
    ...base,
    activity: {
      title: 'the answer was lost: waiting until a late request must have arrived',
      seconds: 30,
      progress: { kind: 'wait', secondsLeft: 845 },
    },
  },
  paused: {
    ...base,
    paused: true,
    mode: 'LIVE',
    banner: {
      tone: 'warn',
      text: 'paused: the service refuses our token (401)',
      hints: [
        'log in again with `cf login`, then press r',
        'or put a fresh token into the file that the config names',
      ],
    },
    question: CHOICE,
    activity: { title: 'waiting for a new token', seconds: 12, progress: { kind: 'wait', secondsLeft: 9 } },
  },
  lost: { ...base, banner: { tone: 'bad', text: 'the service is not available', hints: [] }, question: LOST },
  stopped: {
    ...base,
    outcome: {
      tone: 'warn',
      verdict: 'stopped',
      title: 'stopped; no card was made',
      took: '4 s, 2026-11-21 03:00:41 to 03:00:45 UTC',
      ways: [{ ...WAY, when: 'if orders is lost: recover it into a target' }],
      remarks: [],
      report: { file: `report-${RUN_ID}.html`, command: `lifeboat report ${RUN_ID}` },
      groups: [],
    },
  },
  outcome: {
    ...base,
    rail: base.rail.map((step) => ({ ...step, state: 'done' as const })),
    outcome: {
      tone: 'good',
      verdict: 'proven',
      title: 'the key of orders is rotated and proven',
      took: '12 min 4 s, 2026-11-21 03:00:41 to 03:12:45 UTC',
      remarks: [{ tone: 'plain', text: 'approved by ada@example.com' }],
      report: {
        file: `report-${RUN_ID}.html`,
        command: `lifeboat report ${RUN_ID} --format html --out report-${RUN_ID}.html`,
      },
      anchor: 'lifeboat:5b1e4c7a90d2f386:417:9c2d7f10a4e8b365:1f0c2',
      groups: [
        {
          title: 'the key',
          facts: [{ label: 'new key', value: '77aa01bc9de2, in the keychain', tone: 'plain' }],
        },
        {
          title: 'the proof',
          facts: [{ label: 'verdict', value: 'readable with key 77aa01bc9de2', tone: 'good' }],
        },
      ],
    },
  },
} as const satisfies Record<string, RunView>;

export type ViewName = keyof typeof VIEWS;
