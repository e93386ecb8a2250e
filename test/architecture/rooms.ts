/**
 * One line of the plan of the bench: what a room may import besides itself. After `type `, only the types.
 */
export interface Room {
  /**
   * The files it is made of, as a glob. Where several rows match a file, the last one counts, as in
   * `.biome.json`.
   */
  readonly files: string;
  readonly packages: readonly string[];
  /** Modules of Node, without `node:`. */
  readonly node: readonly string[];
  /** Folders and files of this project; `*` is all of it, and all of the rest. */
  readonly rooms: readonly string[];
  /** Said by the test and by the linter when a file imports anything else. */
  readonly why: string;
}

const BASE = 'src/base';
/** Every room may read a time and write one. */
const TIMES = ['date', 'instant'].map((name) => `${BASE}/${name}.ts`);
const ERRORS = `${BASE}/errors.ts`;
const FORMAT = `${BASE}/format.ts`;
const SECRET = `${BASE}/secret.ts`;
const TEXT = `${BASE}/text.ts`;
const VERBS = 'machines/verbs.ts';

/** Of the base, what needs no system beneath it: machines may use it, too. */
const PURE = ['failure', 'instant', 'quantity'].map((name) => `${BASE}/${name}.ts`);

/** What every renderer says and asks alike; it needs no snapshot and no parser until a time is typed. */
const VIEW_WORDS = ['follow-up-words', 'moment-reader', 'question-words', 'run-port', 'zone'].map(
  (name) => `src/view/${name}.ts`,
);

/** Who may import what. `src/commands` is the only place where everything meets. */
export const ROOMS: readonly Room[] = [
  {
    files: 'machines/**',
    packages: ['xstate', 'zod'],
    node: [],
    rooms: ['machines/parts', VERBS, ...PURE, `${BASE}/shell-quote.ts`],
    why: 'a machine is pure: it decides, the runner acts and knows the time',
  },
  {
    files: VERBS,
    packages: [],
    node: [],
    rooms: ['type machines/parts'],
    why: 'every room may ask the table of verbs, so it leans on types alone',
  },
  {
    files: 'machines/parts/**',
    packages: ['type xstate', 'zod'],
    node: [],
    rooms: [...PURE, `${BASE}/duration.ts`, `type ${SECRET}`],
    why: 'the parts of machines are words that every room may use, so they lean on nothing',
  },
  {
    files: `${BASE}/**`,
    packages: ['fastest-levenshtein', 'zod'],
    node: ['child_process', 'fs', 'net', 'os', 'path', 'sea', 'sqlite', 'timers', 'util'],
    rooms: [],
    why: 'what all rooms share leans on none of them',
  },
  {
    files: 'src/cli.ts',
    packages: [],
    node: [],
    rooms: ['src/cli/start.ts'],
    why: 'the way in loads only what starts the rest, so that an old Node can still say what it needs',
  },
  {
    files: 'src/cli/**',
    packages: [],
    node: [],
    rooms: ['*'],
    why: 'the command line reads arguments and prints; it names every command, and loads the one that is meant',
  },
  {
    files: 'src/compose/**',
    packages: ['p-limit', 'write-file-atomic', 'zod'],
    node: ['crypto', 'fs', 'path'],
    rooms: [
      'machines',
      'type src/activities/deps.ts',
      'src/audit/transcript',
      'type src/backup/backup-file.ts',
      'src/backup/beginning.ts',
      'src/backup/probe.ts',
      'src/cli',
      'src/config',
      'src/keys',
      'src/notify',
      'src/plain/ask.ts',
      'src/plain/terminal.ts',
      'src/platform',
      'src/queue',
      'src/runner',
      'src/service',
      'src/store',
      'src/view',
      BASE,
    ],
    why: 'the parts are put together here, for every command alike',
  },
  {
    files: 'src/commands/**',
    packages: [],
    node: [],
    rooms: ['*'],
    why: 'a command puts the rooms to use; only the command line knows the commands',
  },
  {
    files: 'src/config/**',
    packages: ['yaml', 'zod'],
    node: ['crypto', 'path'],
    rooms: [BASE],
    why: 'the config says what there is; it opens nothing and calls nobody',
  },
  {
    files: 'src/service/**',
    packages: ['tough-cookie', 'undici', 'zod'],
    node: ['crypto', 'diagnostics_channel', 'type http', 'type net', 'perf_hooks', 'type stream', 'tls'],
    rooms: ['type src/base/failure.ts', 'src/backup/beginning.ts', BASE],
    why: 'the client knows the API and nothing of runs; undici is its only way to the network',
  },
  {
    files: 'src/backup/**',
    packages: [],
    node: ['crypto', 'events', 'fs', 'stream', 'zlib'],
    rooms: ['type src/base/secret.ts', BASE],
    why: 'a backup file is read from bytes and a key alone, wherever they come from',
  },
  {
    files: 'src/keys/**',
    packages: [
      '@scure/base',
      'age-encryption',
      'canonicalize',
      'keytar',
      'shamir-secret-sharing',
      'uqr',
      'write-file-atomic',
      'zod',
    ],
    node: ['child_process', 'crypto', 'fs', 'path', 'stream', 'timers'],
    rooms: ['src/store/projections/key-epochs.ts', BASE],
    why: 'keys are kept apart from whoever sends them: the key room never reaches the network',
  },
  {
    files: 'src/platform/**',
    packages: ['type undici', 'zod'],
    node: ['fs', 'os', 'path', 'timers'],
    rooms: ['src/service', 'type machines/parts', BASE],
    why: 'the platform is the world around the service: it knows applications and nothing of runs',
  },
  {
    files: 'src/activities/**',
    packages: ['zod'],
    node: ['crypto', 'fs', 'net', 'path', 'stream', 'timers'],
    rooms: [
      'type src/service',
      'src/service/metrics.ts',
      'src/service/rows.ts',
      'type src/platform',
      'src/backup',
      'src/keys',
      'type machines/parts',
      'machines/parts/recovery-data.ts',
      'machines/parts/backup-id.ts',
      `type ${VERBS}`,
      'type src/store/journal.ts',
      'src/store/projections',
      'type src/base/secret.ts',
      BASE,
    ],
    why: 'an activity is one verb on the world; it neither decides the flow nor writes the journal',
  },
  {
    files: 'src/runner/**',
    packages: ['xstate', 'ulid'],
    node: [],
    rooms: [
      'machines/parts',
      'machines/send-state.ts',
      VERBS,
      'type src/store',
      'src/store/journal.ts',
      'src/store/projections',
      'src/store/run-entries.ts',
      'type src/activities/activity.ts',
      'type src/base/secret.ts',
      BASE,
    ],
    why: 'the runner is handed its journal and its activities, so it hosts every runbook on every store',
  },
  {
    files: 'src/store/**',
    packages: ['canonicalize', 'pg', 'zod'],
    node: ['crypto', 'fs', 'os', 'path', 'sqlite', 'timers', 'type tls', 'util', 'worker_threads'],
    rooms: [
      'type src/base/failure.ts',
      'machines/parts/follow-up.ts',
      'machines/parts/recovery-data.ts',
      'machines/send-state.ts',
      'type machines/send.ts',
      'machines/parts/verb-words.ts',
      BASE,
    ],
    why: 'the journal outlives every flow: it knows entries, and of machines only what became of a send',
  },
  {
    files: 'src/queue/**',
    packages: ['cron-parser', 'pg-boss', 'zod'],
    node: ['crypto', 'os'],
    rooms: ['type src/store/journal.ts', 'src/store/canonical.ts', 'src/store/postgres', BASE],
    why: 'the queue is a wake-up and a clock: it knows the ids of runs, and nothing of what they are',
  },
  {
    files: 'src/approvals/**',
    packages: ['canonicalize', 'write-file-atomic'],
    node: ['child_process', 'crypto', 'fs', 'os', 'path'],
    rooms: [
      'src/store/projections/projection.ts',
      'src/store/run-entries.ts',
      'type src/store',
      'type src/runner',
      'type src/base/secret.ts',
      BASE,
    ],
    why: 'an approval is a text and a signature: it knows neither the service nor the screen',
  },
  {
    files: 'src/notify/**',
    packages: ['type undici'],
    node: [],
    rooms: [
      'src/service',
      'src/store/projections/outbox.ts',
      'type src/store/projections/run-summary.ts',
      'src/store/journal.ts',
      'type src/cli/print-result.ts',
      'type src/config',
      BASE,
    ],
    why: 'a notification says what the journal says: it neither drives a run nor calls the service',
  },
  {
    files: 'src/report/**',
    packages: ['hono', 'zod'],
    // The checksums of a PNG.
    node: ['zlib'],
    rooms: [
      'src/store',
      'type machines/parts',
      'type machines/parts/follow-up.ts',
      'machines/parts/unfinished.ts',
      VERBS,
      'machines/parts/states.ts',
      'machines/parts/verb-words.ts',
      BASE,
    ],
    why: 'a report is computed from the journal alone, so that an auditor can do it again',
  },
  {
    files: 'src/receipts/**',
    packages: ['zod'],
    node: ['crypto'],
    rooms: ['src/report/model', `type ${VERBS}`, 'src/store', BASE],
    why: 'a receipt says what the report says, and is made and checked without a key store or a disk',
  },
  {
    files: 'src/audit/**',
    packages: ['zod'],
    node: ['crypto', 'fs', 'path'],
    rooms: ['src/store', BASE],
    why: 'an audit believes nothing that it was not handed: it recomputes what the store says of itself',
  },
  {
    files: 'src/plans/**',
    packages: ['xstate', 'yaml', 'zod'],
    node: ['crypto'],
    rooms: [
      'machines/parts',
      'machines/plan.ts',
      'type src/approvals/approvers.ts',
      'src/config',
      'type src/store',
      'src/view/fleet/fleet-facts.ts',
      'src/view/fleet/openers.ts',
      'type src/view/fleet/status-schema.ts',
      BASE,
    ],
    why: 'plans and evaluations are computed from facts and a moment alone: they ask nobody, and know no clock',
  },
  {
    files: 'src/workers/**',
    packages: [],
    node: [],
    rooms: ['type src/store', BASE],
    why: 'which runs a worker takes follows from the record; how it takes them is handed to it',
  },
  {
    files: 'src/view/**',
    packages: [
      '@zxcvbn-ts/core',
      '@zxcvbn-ts/language-common',
      'chrono-node',
      'marked',
      'type xstate',
      'zod',
    ],
    node: [],
    rooms: [
      'type machines/parts',
      'machines/parts/follow-up.ts',
      'machines/parts/unfinished.ts',
      'machines/parts/plan.ts',
      'machines/parts/plan-events.ts',
      'machines/parts/question.ts',
      'machines/parts/states.ts',
      'machines/parts/touches.ts',
      'machines/parts/verb-words.ts',
      'type machines/plan.ts',
      'type src/plans/conductor-port.ts',
      'src/plans/evaluate.ts',
      'src/plans/evaluation-schema.ts',
      'src/plans/facts.ts',
      'src/plans/schedule.ts',
      'src/report/measure',
      ERRORS,
      'type src/store',
      'src/store/projections/custody.ts',
      'src/store/projections/rotation.ts',
      'src/store/journal.ts',
      'src/store/projections/projection.ts',
      'src/store/run-entries.ts',
      'src/store/sentence.ts',
      `type ${BASE}/check-id.ts`,
      `type ${BASE}/deep-readonly.ts`,
      `type ${BASE}/failure.ts`,
      `${BASE}/fields.ts`,
      `type ${BASE}/secret.ts`,
      ...TIMES,
      `${BASE}/shell-quote.ts`,
      FORMAT,
      TEXT,
    ],
    why: 'the view turns a snapshot into plain data for every renderer, so it knows none of them',
  },
  {
    files: 'src/plain/**',
    packages: ['string-width'],
    node: ['process', 'readline', 'stream'],
    rooms: [
      'type src/view',
      ...VIEW_WORDS,
      `${BASE}/instant.ts`,
      `${BASE}/reason.ts`,
      ERRORS,
      FORMAT,
      SECRET,
      TEXT,
    ],
    why: 'a renderer shows the view and gives answers back; it never touches what it shows',
  },
  {
    files: 'src/tui/**',
    packages: ['ink', 'marked', 'react'],
    node: ['process'],
    rooms: [
      'type src/plans',
      'type src/view',
      ...VIEW_WORDS,
      'src/view/app',
      'src/view/fleet/fleet-facts.ts',
      'src/view/fleet/workers-words.ts',
      'src/view/plan/plan-decisions.ts',
      'src/view/secret-words.ts',
      'src/plain/describe-approval.ts',
      'src/plain/graphemes.ts',
      'src/plain/summary.ts',
      'src/plain/terminal.ts',
      'src/plain/width.ts',
      ...TIMES,
      `${BASE}/reason.ts`,
      ERRORS,
      FORMAT,
      SECRET,
      TEXT,
    ],
    why: 'the screen shows the view and gives answers back; of the line renderer it takes only measures, the summary and the words of an approval',
  },
  {
    files: 'src/serve/**',
    packages: ['@hono/node-server', 'hono', 'jose', 'zod'],
    node: ['crypto', 'events', 'fs', 'http', 'net'],
    rooms: [
      'type src/view',
      'src/view/app/status-cells.ts',
      'src/view/follow-up-words.ts',
      'src/view/run-view.ts',
      'src/plans/evaluation-schema.ts',
      'src/report/drill/drill-report.ts',
      'src/report/render/markup.ts',
      'src/report/render/colours.ts',
      'src/store/projections/evaluations.ts',
      'src/store/projections/run-summary.ts',
      `type ${BASE}/deep-readonly.ts`,
      BASE,
    ],
    why: 'a page shows what it is handed: it reads no journal, asks no instance and changes nothing',
  },
  {
    files: 'src/lab/**',
    packages: ['@hono/node-server', 'hono', 'pg', 'tar-stream', 'yaml', 'zod'],
    node: [
      'child_process',
      'crypto',
      'events',
      'fs',
      'type http',
      'module',
      'net',
      'os',
      'path',
      'readline',
      'stream',
      'timers',
      'zlib',
    ],
    rooms: [
      'src/backup/encryptor.ts',
      ...['duration', 'own-program', 'run-shell', 'shell-quote', 'similar', 'trusted-path'].map(
        (name) => `${BASE}/${name}.ts`,
      ),
      ERRORS,
      SECRET,
      TEXT,
    ],
    why: 'the lab stands in for the service; sharing code with its client would hide the same mistake twice',
  },
];

/** Everything a row allows, as it is written in an import. */
export function allowancesOf(room: Room): string[] {
  return [...room.packages, ...room.node.map((name) => name.replace(/\w+$/, 'node:$&')), ...room.rooms];
}
