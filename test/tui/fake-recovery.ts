import type { FollowUpView, QuestionView, RunView } from '../../src/view/run-view.ts';

/** What a recovery asks and leaves, invented. */

export const TIME: QuestionView & { kind: 'time' } = {
  kind: 'time',
  prompt: 'To which moment shall orders be taken back?',
  event: 'operator.time',
  earliest: '2026-11-20T02:00:07Z',
  latest: '2026-11-21T03:10:00Z',
  suggested: '2026-11-21T03:00:00Z',
  marks: { incident: '2026-11-21T03:01:00Z', backups: ['2026-11-20T14:00:00Z', '2026-11-21T02:00:00Z'] },
  options: [{ event: 'STOP', label: 'stop the run', hint: 'nothing has been changed', recommended: false }],
};

export const TEXT: QuestionView & { kind: 'text' } = {
  kind: 'text',
  prompt: 'The backup guid of the instance that is lost',
  event: 'operator.guid',
  pattern: { source: '[0-9a-f]{8}', says: 'a backup guid has eight digits from 0 to f' },
  options: [{ event: 'STOP', label: 'stop the run', recommended: false }],
};

export const OPEN_FOLLOW_UPS: readonly FollowUpView[] = [
  {
    id: 'rebind-orders-api',
    what: 'unbind, bind and restage orders-api',
    subject: 'orders-api',
    owner: 'mira',
    age: 840,
    left: 720,
    commands: [
      'cf unbind-service orders-api orders-dr',
      'cf bind-service orders-api orders-dr -c \'{"role":  "readwrite"}\' --binding-name the-binding-that-had-a-long-name-before',
      'cf restage orders-api --strategy rolling',
    ],
    doable: 'platform',
    closed: undefined,
  },
  {
    id: 'fresh-backup',
    what: 'create a backup of the new timeline',
    subject: 'orders',
    owner: 'mira',
    age: 900,
    left: -180,
    commands: ['lifeboat run back-up-and-verify --instance orders'],
    doable: 'run',
    closed: undefined,
  },
  {
    id: 'retire-key',
    what: 'retire the key 3fe1b0c2d4a5',
    subject: '3fe1b0c2d4a5',
    owner: 'custodian',
    age: undefined,
    left: undefined,
    commands: [],
    doable: undefined,
    closed: undefined,
  },
];

export const FOLLOW_UPS: QuestionView & { kind: 'followUps' } = {
  kind: 'followUps',
  prompt: 'The data is restored. These are still open:',
  open: OPEN_FOLLOW_UPS,
  close: 'operator.reportDone',
  skip: 'operator.skip',
  doNow: 'operator.doNow',
  options: [
    {
      event: 'ALL',
      label: 'let the platform do what it can',
      hint: 'one after the other',
      recommended: false,
    },
  ],
};

export const OBJECTIVES: RunView['objectives'] = [
  {
    name: 'RTO',
    limit: 1800,
    value: 1684,
    running: true,
    tone: 'warn',
    slices: [
      { name: 'decide', seconds: 130 },
      { name: 'queue', seconds: 4 },
      { name: 'execute', seconds: 840 },
      { name: 'human', seconds: 540 },
      { name: 'rebind', seconds: 170 },
    ],
    detail: 'decide 2 min 10 s, queue 4 s, execute 14 min, human 9 min, rebind 2 min 50 s',
  },
  {
    name: 'RPO',
    limit: 3600,
    value: 720,
    running: false,
    tone: 'good',
    verdict: 'met',
    detail: 'from the data: newest order',
  },
];
