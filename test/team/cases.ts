import type { TestBench } from '../bench-kit/test-bench.ts';

/** Where a process is in a call that changes something when it is hit. */
export const STATES = [
  /** What it will send is on its way to the database, and arrives late. */
  'before prepare',
  'prepared',
  /** The arming is on its way to the database, and arrives late. */
  'arming',
  /** It is durable that it may be sent, and the process does not know it yet. */
  'armed',
  /** The checkpoint lies in the home; the connection to the service may be there. */
  'checkpoint written',
  /** There is a connection to the service, and not a byte was written. */
  'connected',
  /** The service has not read the request yet. */
  'sent',
  /** The service has done it, and the answer is not there yet. */
  'answer awaited',
  /** The outcome is on its way to the database, and arrives late. */
  'outcome',
  'outcome written',
] as const;
export type State = (typeof STATES)[number];

export const BLOWS = [
  'killed',
  /** For longer than its lease lasts, and then continued. */
  'stopped',
  'cut off',
  /** Cut off without a word: nothing comes and nothing goes. */
  'silent',
  'database restarted',
  'failed over',
] as const;
export type Blow = (typeof BLOWS)[number];

/** What Ada does, and Bob goes on with. */
export interface Work {
  readonly name: string;
  /** Her words, without the flags that answer. */
  begin(bench: TestBench): readonly string[];
  /**
   * Whether Bob resumes the run; else he types what she typed, and resumes only the run that he is told of.
   */
  readonly resumes: boolean;
  /** Of the calls that change something, which one is hit: it is the n-th that is armed. */
  readonly nth: number;
  /** Its request, as a wire knows it. */
  request(bench: TestBench): string;
  readonly taskMs?: number;
}

const WORKS: readonly Work[] = [
  {
    name: 'back-up-and-verify',
    begin: () => ['run', 'back-up-and-verify', '--instance', 'orders'],
    resumes: true,
    nth: 1,
    request: () => 'POST ~/backups',
  },
  {
    name: 'restore-backup',
    begin: ({ server }) => [
      'run',
      'restore-backup',
      '--instance',
      'orders',
      '--backup',
      `${server.backups.at(-1)?.id}`,
    ],
    resumes: true,
    // Before it, there is a backup of the present state.
    nth: 2,
    request: restoreOf,
  },
  {
    name: 'backups restore',
    begin: ({ server }) => [
      ...['backups', 'restore', `${server.backups.at(-1)?.id}`, '--instance', 'orders'],
      ...['--no-follow-ups', 'a script does them'],
    ],
    resumes: false,
    nth: 1,
    request: restoreOf,
    taskMs: 600_000,
  },
];

function restoreOf({ server }: TestBench): string {
  return `POST ~/backups/${server.backups.at(-1)?.id}/restore`;
}

export interface Case {
  readonly work: Work;
  readonly state: State;
  readonly blow: Blow;
}

/** Every case, in a fixed order. */
export const CASES: readonly Case[] = WORKS.flatMap((work) =>
  BLOWS.flatMap((blow) => STATES.map((state): Case => ({ work, state, blow }))),
);

export function nameOf({ work, state, blow }: Case): string {
  return `${work.name}, ${state}, ${blow}`;
}
