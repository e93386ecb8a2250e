/** One line of the plan of the house. */
export interface Room {
  /** The files it is made of, as a glob. Where several rows match a file, the last one counts, as in `.biome.json`. */
  readonly files: string;
  /** What it may import besides itself: packages, folders, files; after `type `, only their types. */
  readonly mayImport: readonly string[];
  /** Said by the test and by the linter when somebody imports anything else. */
  readonly why: string;
}

const ERRORS = 'src/errors.ts';
const SECRET = 'src/secret.ts';
const TEXT = 'src/text.ts';
const FORMAT = 'src/format.ts';
const REDACT = 'src/redact.ts';

/** Who may import what. `src/commands` is the only place where everything meets. */
export const ROOMS: readonly Room[] = [
  {
    files: 'machines/**',
    mayImport: ['xstate', 'zod', 'machines/parts'],
    why: 'a machine is pure: it decides, the runner acts and knows the time',
  },
  {
    files: 'machines/parts/**',
    mayImport: ['type xstate', 'zod'],
    why: 'the parts of machines are words that every room may use, so they lean on nothing',
  },
  {
    files: 'src/*.ts',
    mayImport: ['node:util', 'type machines/parts/failure.ts'],
    why: 'what all rooms share leans on none of them',
  },
  {
    files: 'src/cli.ts',
    mayImport: ['node:module', 'src/commands/main.ts'],
    why: 'the way in loads only the commands, so that an old Node can still say what it needs',
  },
  {
    files: 'src/commands/**',
    mayImport: ['*'],
    why: 'the commands put the rooms together',
  },
  {
    files: 'src/config/**',
    mayImport: ['yaml', 'zod', 'node:fs', 'node:os', 'node:path', ERRORS, TEXT],
    why: 'the config says what there is; it opens nothing and calls nobody',
  },
  {
    files: 'src/service/**',
    mayImport: [
      ...['undici', 'zod', 'node:child_process', 'node:crypto', 'node:fs', 'node:perf_hooks', 'node:tls'],
      ...[
        'type node:http',
        'type node:stream',
        'type machines/parts/failure.ts',
        ERRORS,
        REDACT,
        SECRET,
        TEXT,
      ],
    ],
    why: 'the client knows the API and nothing of runs; undici is its only way to the network',
  },
  {
    files: 'src/backup/**',
    mayImport: [
      ...['node:crypto', 'node:events', 'node:fs', 'node:path', 'node:stream', 'node:zlib'],
      ...[ERRORS, 'type src/secret.ts', TEXT],
    ],
    why: 'a backup file is read from bytes and a key alone, wherever they come from',
  },
  {
    files: 'src/keys/**',
    mayImport: [
      ...['age-encryption', 'canonicalize', 'keytar', 'zod'],
      ...['node:crypto', 'node:fs', 'node:path', 'node:sqlite', 'node:timers'],
      ...['type src/journal', ERRORS, SECRET, TEXT],
    ],
    why: 'keys are kept apart from whoever sends them: the key room never reaches the network',
  },
  {
    files: 'src/activities/**',
    mayImport: [
      ...['zod', 'node:crypto', 'node:fs', 'node:path', 'type src/service', 'src/backup', 'src/keys'],
      ...['type machines/parts', 'type src/journal/journal.ts', ERRORS, 'type src/secret.ts', TEXT],
    ],
    why: 'an activity is one verb on the world; it neither decides the flow nor writes the journal',
  },
  {
    files: 'src/runner/**',
    mayImport: [
      ...['xstate', 'ulid', 'machines/parts', 'type src/journal/journal.ts'],
      ...['type src/activities/activity.ts', ERRORS, 'type src/secret.ts'],
    ],
    why: 'the runner is handed its journal and its activities, so it hosts every runbook on every store',
  },
  {
    files: 'src/journal/**',
    mayImport: [
      ...['canonicalize', 'zod', 'node:crypto', 'node:fs', 'node:os', 'node:path', 'node:sqlite'],
      ...[ERRORS, SECRET, TEXT],
    ],
    why: 'the journal outlives every machine: it knows entries, not what they mean to a flow',
  },
  {
    files: 'src/evidence/**',
    mayImport: [
      ...['write-file-atomic', 'zod', 'node:crypto', 'node:fs', 'node:path', 'node:timers'],
      ...['type node:sqlite', 'src/journal', ERRORS, FORMAT, 'type src/secret.ts', TEXT],
    ],
    why: 'evidence is computed from the journal alone, so that an auditor can do it again',
  },
  {
    files: 'src/view/**',
    mayImport: [
      ...['type xstate', 'type machines/parts', 'machines/parts/question.ts', 'type src/journal'],
      ...['src/journal/sentence.ts', FORMAT, 'type src/secret.ts', TEXT],
    ],
    why: 'the view turns a snapshot into plain data for every renderer, so it knows none of them',
  },
  {
    files: 'src/plain/**',
    mayImport: [
      ...['string-width', 'node:process', 'node:readline', 'node:stream'],
      ...['type src/view', ERRORS, FORMAT, SECRET, TEXT],
    ],
    why: 'a renderer shows the view and gives answers back; it never touches what it shows',
  },
  {
    files: 'src/tui/**',
    mayImport: [
      ...['ink', 'react', 'node:process', 'type src/view', ERRORS, FORMAT, SECRET, TEXT],
      ...['src/plain/summary.ts', 'src/plain/terminal.ts', 'src/plain/width.ts'],
    ],
    why: 'the screen shows the view and gives answers back; of the line renderer it takes only measures and the summary',
  },
  {
    files: 'src/lab/**',
    mayImport: [
      ...[
        '@hono/node-server',
        'hono',
        'pg',
        'tar-stream',
        'zod',
        'src/backup/encryptor.ts',
        ERRORS,
        SECRET,
        TEXT,
      ],
      ...[
        'node:child_process',
        'node:crypto',
        'node:events',
        'node:fs',
        'type node:http',
        'node:module',
        'node:net',
      ],
      ...['node:os', 'node:path', 'node:readline', 'node:stream', 'node:timers', 'node:zlib'],
    ],
    why: 'the lab stands in for the service; sharing code with its client would hide the same mistake twice',
  },
];
