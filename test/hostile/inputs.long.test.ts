import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { describe, expect, type TestContext, test } from 'vitest';
import { withApprovals } from '../bench-kit/approval-bench.ts';
import type { TestBench } from '../bench-kit/test-bench.ts';
import { useBenches } from '../bench-kit/test-bench.ts';
import { calmIn } from './calm.ts';
import { count } from './figures.ts';

const hasProc = existsSync('/proc/self/status');

/** The one run of a bench. */
async function runIn(bench: TestBench): Promise<string> {
  const entries = await bench.entries();
  return entries.find(({ stream }) => stream.startsWith('run/'))?.stream.slice('run/'.length) ?? '';
}

type Make = (path: string, begin: Buffer, context: Pick<TestContext, 'onTestFinished'>) => void;
type Things = Readonly<Record<string, Make>>;

/**
 * What shows a reader without a limit, which grows, or one that waits inside an open. These are made wherever
 * a file is expected, since each place could have a reader of its own.
 */
const TELLING: Things = {
  'a file of 1 GB': (path, begin) => ofSize(path, begin, 10 ** 9),
  'a pipe that nobody writes to': (path) => void spawnSync('mkfifo', ['-m', '600', path]),
  'a pipe that never ends': endless,
};

/**
 * With what our readers refuse by the same look as the above, before they read: one place for each reader
 * meets these.
 */
const ALL: Things = {
  ...TELLING,
  'a file of 5 GB': (path, begin) => ofSize(path, begin, 5 * 10 ** 9),
  'a folder': (path) => mkdirSync(path),
};

/**
 * Nothing of the machine itself is put in the way, such as its own endless device: a program that errs here
 * would replace it. What fills the pipe ends with its reader, or with the test.
 */
function endless(path: string, _: Buffer, { onTestFinished }: Pick<TestContext, 'onTestFinished'>): void {
  spawnSync('mkfifo', ['-m', '600', path]);
  const work = 'while :; do cat /dev/zero > "$1" 2> /dev/null; [ -p "$1" ] || exit; done';
  const { pid } = spawn('sh', ['-c', work, 'sh', path], { stdio: 'ignore', detached: true });
  onTestFinished(() => {
    try {
      // With the program that it has started.
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  });
}

/** Sparse, so that it takes no room; it begins like what is expected. */
function ofSize(path: string, begin: Buffer, size: number): void {
  const file = openSync(path, 'w', 0o600);
  writeSync(file, begin);
  ftruncateSync(file, size);
  closeSync(file);
}

interface Place {
  /** The path, and the commands that read it; the first command is for things that it can name. */
  readonly path: (bench: TestBench) => string;
  readonly commands: (path: string, bench: TestBench) => readonly (readonly string[])[];
  /** What a proper file there begins with is kept at the beginning of the large ones. */
  readonly before?: (bench: TestBench) => Promise<void>;
  /** The commands do their work without the file. */
  readonly isOptional?: boolean;
  /** Default: what tells most. */
  readonly things?: Things;
}

const inFolder = (name: string) => (bench: TestBench) => join(bench.folder, name);
const READ = ['backups', 'list', '--instance', 'orders'] as const;

async function rotated(bench: TestBench): Promise<void> {
  const { code, stderr } = await bench.rotate();
  if (code !== 0) throw new Error(stderr);
}

/** The newest file of the checkpoints with such a path. */
function checkpointIn(home: string, path: RegExp): string {
  const folder = join(home, 'checkpoints');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  return join(folder, names.findLast((name) => path.test(name)) ?? 'none');
}

const PLACES: Readonly<Record<string, Place>> = {
  // readBounded
  'the config': { path: inFolder('lifeboat.yaml'), commands: () => [READ, ['doctor']], things: ALL },
  'a config that a flag names': {
    path: inFolder('other.yaml'),
    commands: (path) => [[...READ, '--config', path]],
  },
  'the token file': { path: inFolder('token'), commands: () => [READ, ['doctor']] },
  // readPrivateFile
  'the passphrase file': { path: inFolder('passphrase'), commands: () => [['keys', 'list']], things: ALL },
  'the vault': { path: ({ home }) => join(home, 'vault.age'), commands: () => [['keys', 'list']] },
  'a key file': {
    path: inFolder('key'),
    commands: (path) => [
      ['keys', 'add', 'orders', '--file', path],
      ['verify', path, '--key-file', path],
    ],
  },
  'certificates of an authority': {
    path: inFolder('ca.pem'),
    before: async ({ env }) => {
      const config = env['LIFEBOAT_CONFIG'] ?? '';
      writeFileSync(
        config,
        readFileSync(config, 'utf8').replaceAll('inFlight:', 'ca: ./ca.pem\n    inFlight:'),
      );
    },
    commands: () => [READ],
  },
  'a request to approve': {
    path: inFolder('request.txt'),
    commands: (path) => [['approve', path, '--confirm', 'orders']],
  },
  // readPlainFile
  'a bundle': {
    path: inFolder('bundle.tar'),
    commands: (path) => [['audit', 'verify', path]],
    things: ALL,
  },
  'a public key': {
    path: inFolder('key.pub'),
    before: rotated,
    commands: (path) => [['audit', 'verify', '--public-key', path]],
  },
  'a team’s own runbooks': {
    path: inFolder('texts/rotate-key.md'),
    before: async ({ env, folder }) => {
      mkdirSync(join(folder, 'texts'));
      appendFileSync(env['LIFEBOAT_CONFIG'] ?? '', 'runbooks: ./texts\n');
    },
    commands: () => [['run', 'rotate-key', '--dry-run', '--instance', 'orders']],
    isOptional: true,
  },
  'the transcript of a run': {
    path: ({ home }) => join(home, 'transcripts', 'RUN.jsonl'),
    before: rotated,
    commands: () => [
      ['audit', 'verify'],
      ['audit', 'export', 'RUN', '--out', 'OUT'],
      ['report', 'RUN'],
    ],
    isOptional: true,
  },
  'a signed head': {
    path: ({ home }) => checkpointIn(home, /\/x000\/\d{3}$/u),
    before: rotated,
    commands: () => [
      ['audit', 'verify'],
      ['audit', 'export', 'RUN', '--out', 'OUT'],
    ],
    isOptional: true,
  },
  'the public key beside the heads': {
    path: ({ home }) => checkpointIn(home, /lifeboat-[0-9a-f]{16}\.pub$/u),
    before: rotated,
    commands: () => [
      ['audit', 'verify'],
      ['run', 'rotate-key', '--instance', 'orders', '--yes'],
    ],
    isOptional: true,
  },
};

describe
  .skipIf(!hasProc)
  .concurrent(
    'whatever is found in place of a file, the process stays small, ends, and says what is wrong',
    () => {
      const benches = useBenches();

      test.for(Object.entries(PLACES))(
        'in the place of %s',
        { timeout: 3_000_000 },
        async ([, place], context) => {
          const bench = await benches(context);
          const calm = calmIn(bench);
          await place.before?.(bench);
          const run = place.before === rotated ? await runIn(bench) : '';
          const path = place.path(bench).replace(/\bRUN\b/u, run);
          const out = join(bench.folder, 'made.tar');
          const named: Readonly<Record<string, string>> = { RUN: run, OUT: out };
          const proper = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
          const begin = path.endsWith('.tar') ? Buffer.from('x') : proper;
          for (const [name, make] of Object.entries(place.things ?? TELLING)) {
            rmSync(path, { recursive: true, force: true });
            make(path, begin, context);
            for (const words of place.commands(path, bench)) {
              const { code, stdout, stderr } = await calm(...words.map((word) => named[word] ?? word));
              rmSync(out, { force: true });
              const about = `${words.join(' ')} with ${name}: ${stdout}${stderr}`;
              if (place.isOptional !== true && words[0] !== 'doctor') expect(code, about).not.toBe(0);
              expect(code, about).not.toBe(130);
            }
            count('sizes', { 'kinds of input': 1 });
          }
        },
      );

      test('in place of a signature, of the allowed signers and of the revoked keys', {
        timeout: 3_000_000,
      }, async (context) => {
        const bench = await withApprovals(benches, context, { more: ', revoked: ./revoked' });
        const calm = calmIn(bench);
        writeFileSync(join(bench.folder, 'revoked'), '');
        expect((await bench.rotate()).code).toBe(3);
        const { file, run, text } = await bench.request();
        const signature = bench.ada.sign(text);
        const brought = join(bench.folder, 'brought.sig');
        const resume = ['resume', run, '--yes', '--confirm', 'orders'];
        const places: [string, Buffer, string[][]][] = [
          [brought, Buffer.from(signature), [['approvals', 'accept', run, brought]]],
          [`${file}.sig`, Buffer.from(signature), [['approvals'], resume]],
          [`${file}.withdrawn`, Buffer.from('because'), [['approvals'], resume]],
          [
            join(bench.folder, 'approvers'),
            readFileSync(join(bench.folder, 'approvers')),
            [['doctor'], resume],
          ],
          [join(bench.folder, 'revoked'), Buffer.alloc(0), [['doctor'], resume]],
        ];
        for (const [path, begin, commands] of places) {
          const proper = existsSync(path) ? readFileSync(path) : undefined;
          for (const [name, make] of Object.entries(TELLING)) {
            rmSync(path, { recursive: true, force: true });
            mkdirSync(dirname(path), { recursive: true });
            make(path, begin, context);
            if (path.endsWith('approvers') || path.endsWith('revoked'))
              writeFileSync(`${file}.sig`, signature);
            for (const words of commands) {
              const { code, stderr } = await calm(...words);
              if (words !== resume) continue;
              expect(code, `${name} at ${path}: ${stderr}`).not.toBe(0);
            }
            count('sizes', { 'kinds of input': 1 });
          }
          rmSync(path, { recursive: true, force: true });
          rmSync(`${file}.sig`, { force: true });
          if (proper !== undefined) writeFileSync(path, proper, { mode: 0o600 });
        }
        expect(bench.server.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
      });
    },
  );
